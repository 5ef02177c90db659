"""The run of `firstlayer train` in PyTorch, eager: the same start, batches, rates and clipping.
usage: torch_learn.py IDS PRESET CONTEXT BATCH STEPS EVERY SEED THREADS

IDS  an .npy of ids, whose last tenth is held out
Prints what `firstlayer train --json` prints of the text held out, a JSON line at every EVERY steps.
"""

import json
import math
import sys
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "train"))
from torch_gpt import Gpt  # noqa: E402

LR, BETAS, WEIGHT_DECAY, CLIP = 1e-3, (0.9, 0.95), 0.1, 1.0

ids_path, preset = sys.argv[1:3]
context, batch, steps, every, seed, threads = map(int, sys.argv[3:])
torch.set_num_threads(threads)


def windows(ids):
    starts = range(0, len(ids) - context, context)
    return torch.stack([ids[start:start + context + 1] for start in starts])


def rate(step):
    """A warm-up in a line, then half a cosine to 0."""
    warmup = min(steps // 10, 100)
    if step <= warmup:
        return LR * step / warmup
    return LR * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2


def batches():
    while True:
        for (rows,) in loader:
            yield rows


@torch.no_grad()
def held_out_loss():
    sums = [model(rows[:, :-1], rows[:, 1:]).item() * len(rows) for rows in held_out.split(batch)]
    return sum(sums) / len(held_out)


ids = torch.from_numpy(numpy.load(ids_path).astype(numpy.int64))
kept = len(ids) - int(len(ids) * 0.1)
held_out = windows(ids[kept:])
loader = DataLoader(TensorDataset(windows(ids[:kept])), batch_size=batch, shuffle=True, drop_last=True,
                    generator=torch.Generator().manual_seed(seed))
model = Gpt(preset, context, seed)
optimizer = torch.optim.AdamW(model.groups(WEIGHT_DECAY), lr=LR, betas=BETAS, fused=True)
for step, rows in zip(range(1, steps + 1), batches()):
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
    optimizer.zero_grad(set_to_none=True)
    model(rows[:, :-1], rows[:, 1:]).backward()
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    if step % every == 0 or step == steps:
        print(json.dumps({"step": step, "held_out_loss": held_out_loss()}), flush=True)
