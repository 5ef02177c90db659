"""FBGEMM's fused backward + optimizer on the same work.

usage: fbgemm_step.py KIND IDS B T D THREADS (dump FILE | time N)

KIND  sgd, rowwise-adagrad, adagrad; the token table alone
IDS   uint32 ids in batches of B x T; step i takes batch i, and from the first again after the last
"""

import itertools
import json
import sys
import time
from pathlib import Path

import fbgemm_gpu
import numpy
import torch
from fbgemm_gpu.split_embedding_configs import EmbOptimType
from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
    ComputeDevice,
    SplitTableBatchedEmbeddingBagsCodegen,
)

V = 50257
LR, EPS = 3e-4, 1e-8
POOL_EXTRA, POOL_STRIDE = 1 << 20, 7919 * 16
WARM_UP_STEPS = 5
DUMP_STEPS, DUMP_PLACES = 3, 256
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
    offset = number * POOL_STRIDE % POOL_EXTRA
    dout = pool[offset : offset + B * T * D].view(B * T, D)
    start = time.perf_counter()
    layer(x, offsets).backward(dout)
    return time.perf_counter() - start


if action == "dump":
    for number in range(DUMP_STEPS):
        step(number)
    places = torch.from_numpy(all_ids[:DUMP_STEPS].reshape(-1)[:DUMP_PLACES])
    Path(argument).write_bytes(table.detach()[places].numpy().tobytes())
    sys.exit()
for number in range(WARM_UP_STEPS):
    step(number)
seconds = [step(number) for number in range(WARM_UP_STEPS, WARM_UP_STEPS + int(argument))]
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
peak = int(status["VmHWM"].split()[0])  # kB
mean = sum(seconds) / len(seconds)
print(json.dumps({"version": fbgemm_gpu.__version__, "step": [mean], "peak": [peak * 1024]}))
