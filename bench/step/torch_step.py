"""PyTorch on the same work.  usage: torch_step.py KIND IDS B T D THREADS (dump FILE | time N)

KIND  adamw-fused, adamw  token + position table, dense gradients, torch.optim.AdamW
      adamw-compiled      the same with fused AdamW, forward and backward through torch.compile
      adamw-tied          adamw-fused where an output head has left its gradient in that of the token table
      sparse-adam         the token table alone, sparse=True, torch.optim.SparseAdam
IDS   uint32 ids in batches of B x T; step i takes batch i, and from the first again after the last
"""

import itertools
import sys
import time

import numpy
import torch
from python_step import DUMP_PLACES, LR, POOL_EXTRA, V, main, pool_offset

WEIGHT_DECAY = 0.1

kind, ids_path, B, T, D, threads, action, argument = sys.argv[1:]
B, T, D = int(B), int(T), int(D)
torch.set_num_threads(int(threads))
torch.manual_seed(123)
wte = torch.empty(V, D).normal_(0, 0.02).requires_grad_()
wpe = torch.empty(T, D).normal_(0, 0.01).requires_grad_()
pool = torch.empty(B * T * D + POOL_EXTRA).normal_(0, 1e-4)
head_gradient = torch.empty(V, D).normal_(0, 1e-4) if kind == "adamw-tied" else None
positions = torch.arange(T)
all_ids = numpy.fromfile(ids_path, "<u4").astype(numpy.int64).reshape(-1, B, T)
batches = itertools.cycle(torch.from_numpy(all_ids))


def look_up(x):
    tokens = torch.nn.functional.embedding(x, wte, sparse=kind == "sparse-adam")
    return tokens if kind == "sparse-adam" else tokens + torch.nn.functional.embedding(positions, wpe)


if kind == "sparse-adam":
    optimizer = torch.optim.SparseAdam([wte], lr=LR)
else:
    fused = True if kind != "adamw" else None
    optimizer = torch.optim.AdamW([wte, wpe], lr=LR, weight_decay=WEIGHT_DECAY, fused=fused)
forward = torch.compile(look_up) if kind == "adamw-compiled" else look_up


def step(number):
    """Seconds of one step."""
    x = next(batches)
    offset = pool_offset(number)
    dout = pool[offset : offset + B * T * D].view(B, T, D)
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    if head_gradient is not None:
        spent = time.perf_counter()
        wte.grad = head_gradient.clone()  # what the head's backward has left, not part of this work
        start += time.perf_counter() - spent
    forward(x).backward(dout)
    optimizer.step()
    return time.perf_counter() - start


def first_rows():
    places = torch.from_numpy(all_ids.reshape(-1)[:DUMP_PLACES])
    return wte.detach()[places].numpy().tobytes()


main(torch.__version__, step, first_rows, action, argument)
