"""PyTorch, eager, on the same work.  usage: torch_train.py PRESET IDS B T THREADS (free | clip) (dump FILE | time N)

PRESET  nano, micro or gpt2
IDS     uint32 ids in batches of B x (T + 1); step i takes batch i, and from the first again after the last
"""

import itertools
import json
import re
import sys
import time
from pathlib import Path

import numpy
import torch
from torch import nn
from torch_gpt import Gpt

CONTEXT = 1024
LR, WEIGHT_DECAY = 3e-4, 0.1
WARM_UP_STEPS, DUMP_STEPS = 2, 5

preset, ids_path, B, T, threads, clip, action, argument = sys.argv[1:]
B, T = int(B), int(T)
torch.set_num_threads(int(threads))

model = Gpt(preset, CONTEXT, seed=123)
optimizer = torch.optim.AdamW(model.groups(WEIGHT_DECAY), lr=LR, fused=True)
batches = itertools.cycle(torch.from_numpy(numpy.fromfile(ids_path, "<u4").astype(numpy.int64).reshape(-1, B, T + 1)))


def step():
    batch = next(batches)
    ids, targets = batch[:, :-1].contiguous(), batch[:, 1:].contiguous()
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = model(ids, targets)
    loss.backward()
    if clip == "clip":
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item(), time.perf_counter() - start


if action == "dump":
    losses = numpy.array([step()[0] for _ in range(DUMP_STEPS)], dtype=numpy.float32)
    Path(argument).write_bytes(losses.tobytes())
else:
    for _ in range(WARM_UP_STEPS):
        step()
    seconds = [step()[1] for _ in range(int(argument))]
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    print(json.dumps({"version": torch.__version__, "step": seconds, "rate": seconds, "peak": [peak]}))
