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
import torch.nn.functional as F
from torch import nn

V, CONTEXT = 50257, 1024
SIZES = {"nano": (3, 3, 48), "micro": (4, 4, 128), "gpt2": (12, 12, 768)}
LR, WEIGHT_DECAY = 3e-4, 0.1
WARM_UP_STEPS, DUMP_STEPS = 2, 5

preset, ids_path, B, T, threads, clip, action, argument = sys.argv[1:]
B, T = int(B), int(T)
LAYERS, HEADS, D = SIZES[preset]
torch.set_num_threads(int(threads))
torch.manual_seed(123)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attention, self.attention_out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.hidden, self.out = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x):
        heads = [part.view(B, T, HEADS, D // HEADS).transpose(1, 2)
                 for part in self.attention(self.norm1(x)).split(D, dim=2)]
        y = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(B, T, D)
        x = x + self.attention_out(y)
        return x + self.out(F.gelu(self.hidden(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D), nn.Embedding(CONTEXT, D)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions.weight[:T]
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(F.linear(self.norm(x), self.tokens.weight).flatten(0, 1), targets.flatten())


@torch.no_grad()
def draw(model):
    """The numbers of random_gpt_parameters(config, 123), which lays a layer's matrix out as (inputs, outputs)."""
    torch.manual_seed(123)
    model.tokens.weight.normal_(0, 0.02)
    model.positions.weight.normal_(0, 0.01)
    for block in model.blocks:
        for layer, std in ((block.attention, 0.02), (block.attention_out, 0.02 / (2 * LAYERS) ** 0.5),
                           (block.hidden, 0.02), (block.out, 0.02 / (2 * LAYERS) ** 0.5)):
            layer.weight.copy_(torch.empty(layer.in_features, layer.out_features).normal_(0, std).T)
            layer.bias.zero_()


model = Gpt()
draw(model)
groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": WEIGHT_DECAY},
          {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=LR, fused=True)
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
