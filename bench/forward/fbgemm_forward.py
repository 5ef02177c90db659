"""FBGEMM's lookup of the token table, without positions.  usage: fbgemm_forward.py IDS D THREADS time N

IDS   uint32 ids in batches of 8 x 1024; call i takes batch i, and from the first again after the last
"""

import itertools
import json
import sys
import time

import fbgemm_gpu
import numpy
import torch
from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
    ComputeDevice,
    SplitTableBatchedEmbeddingBagsCodegen,
)

V, B, T = 50257, 8, 1024
WARM_UP_CALLS = 20

ids_path, D, threads, _, repeat = sys.argv[1:]
torch.set_num_threads(int(threads))
layer = SplitTableBatchedEmbeddingBagsCodegen(
    [(V, int(D), EmbeddingLocation.HOST, ComputeDevice.CPU)], pooling_mode=PoolingMode.SUM
)
offsets = torch.arange(B * T + 1)  # each bag holds one id
batches = itertools.cycle(torch.from_numpy(numpy.fromfile(ids_path, "<u4").astype(numpy.int64)).view(-1, B * T))
seconds = []
with torch.no_grad():
    layer.split_embedding_weights()[0].normal_()
    for _ in range(WARM_UP_CALLS + int(repeat)):
        x = next(batches)
        start = time.perf_counter()
        result = layer(x, offsets)
        seconds.append(time.perf_counter() - start)
        del result
print(json.dumps({"version": fbgemm_gpu.__version__, "call": seconds[WARM_UP_CALLS:]}))
