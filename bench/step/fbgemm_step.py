"""FBGEMM's fused backward + optimizer on the same work.

usage: fbgemm_step.py KIND IDS B T D THREADS (dump FILE | time N)

KIND  sgd, rowwise-adagrad, adagrad; the token table alone
IDS   uint32 ids in batches of B x T; step i takes batch i, and from the first again after the last
"""

import itertools
import sys
import time

import fbgemm_gpu
import numpy
import torch
from fbgemm_gpu.split_embedding_configs import EmbOptimType
from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
    ComputeDevice,
    SplitTableBatchedEmbeddingBagsCodegen,
)
from python_step import DUMP_PLACES, LR, POOL_EXTRA, V, main, pool_offset

EPS = 1e-8
OPTIMIZERS = {
    "sgd": EmbOptimType.EXACT_SGD,
    "rowwise-adagrad": EmbOptimType.EXACT_ROWWISE_ADAGRAD,
    "adagrad": EmbOptimType.EXACT_ADAGRAD,
}

kind, ids_path, B, T, D, threads, action, argument = sys.argv[1:]
B, T, D = int(B), int(T), int(D)
torch.set_num_threads(int(threads))
torch.manual_seed(123)
weights = torch.empty(V, D).normal_(0, 0.02)
torch.empty(T, D).normal_(0, 0.01)  # the position table, which takes no part
pool = torch.empty(B * T * D + POOL_EXTRA).normal_(0, 1e-4)
layer = SplitTableBatchedEmbeddingBagsCodegen(
    [(V, D, EmbeddingLocation.HOST, ComputeDevice.CPU)],
    optimizer=OPTIMIZERS[kind],
    learning_rate=LR,
    eps=EPS,
    pooling_mode=PoolingMode.SUM,
)
table = layer.split_embedding_weights()[0]
with torch.no_grad():
    table.copy_(weights)
del weights
offsets = torch.arange(B * T + 1)  # each bag holds one id
all_ids = numpy.fromfile(ids_path, "<u4").astype(numpy.int64).reshape(-1, B * T)
batches = itertools.cycle(torch.from_numpy(all_ids))


def step(number):
    """Seconds of one step."""
    x = next(batches)
    offset = pool_offset(number)
    dout = pool[offset : offset + B * T * D].view(B * T, D)
    start = time.perf_counter()
    layer(x, offsets).backward(dout)
    return time.perf_counter() - start


def first_rows():
    places = torch.from_numpy(all_ids.reshape(-1)[:DUMP_PLACES])
    return table.detach()[places].numpy().tobytes()


main(fbgemm_gpu.__version__, step, first_rows, action, argument)
