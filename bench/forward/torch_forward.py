"""PyTorch on the same work.  usage: torch_forward.py KIND IDS D THREADS (dump FILE | time N)

KIND  eager     wte(x) + wpe(positions), as the lessons write it
      reused    index_select and add_ into one output tensor
      compiled  torch.compile of the sum
IDS   uint32 ids in batches of 8 x 1024; call i takes batch i, and from the first again after the last
"""

import itertools
import json
import sys
import time
from pathlib import Path

import numpy
import torch

V, B, T = 50257, 8, 1024
WARM_UP_CALLS = 20

kind, ids_path, D, threads, action, argument = sys.argv[1:]
D = int(D)
torch.set_num_threads(int(threads))
torch.manual_seed(123)
wte = torch.nn.Embedding(V, D)
wpe = torch.nn.Embedding(T, D)
positions = torch.arange(T)
batches = itertools.cycle(torch.from_numpy(numpy.fromfile(ids_path, "<u4").astype(numpy.int64)).view(-1, B, T))


def eager(x):
    return wte(x) + wpe(positions)


def reused(x, out=torch.empty(B * T, D)):
    torch.index_select(wte.weight, 0, x.reshape(-1), out=out)
    return out.view(B, T, D).add_(wpe.weight)


def compiled(x, forward=torch.compile(lambda x: torch.nn.functional.embedding(x, wte.weight) + wpe.weight)):
    return forward(x)


call = {"eager": eager, "reused": reused, "compiled": compiled}[kind]
with torch.no_grad():
    if action == "dump":
        Path(argument).write_bytes(call(next(batches)).numpy().tobytes())
        sys.exit()
    seconds = []
    for _ in range(WARM_UP_CALLS + int(argument)):
        start = time.perf_counter()
        result = call(next(batches))
        seconds.append(time.perf_counter() - start)
        del result
print(json.dumps({"version": torch.__version__, "call": seconds[WARM_UP_CALLS:]}))
