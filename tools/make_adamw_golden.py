#!/usr/bin/env python3
"""Writes tests/data/lookup/adamw.txt: what PyTorch 2.13's fused AdamW and Adam make of an nn.Embedding.

Usage: tools/make_adamw_golden.py

The inputs can be made again anywhere: the table and then each step's gradient come from torch.randn after
manual_seed(5), ids and rates from whole numbers. A line has the setting, the width d, the steps taken, and the SHA-256
of the parameters, exp_avg and exp_avg_sq.
"""

import hashlib
import pathlib

import torch

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "lookup" / "adamw.txt"
V, PLACES, STEPS = 50, 24, 100
SETTINGS = {  # those of tests/lookup/optimizer/lazy_adamw_test.cpp
    "adamw": (torch.optim.AdamW, dict(weight_decay=0.1)),
    "adamw_no_decay": (torch.optim.AdamW, dict(weight_decay=0.0)),
    "adam": (torch.optim.Adam, dict(weight_decay=0.0)),
    "gpt3_betas": (torch.optim.AdamW, dict(betas=(0.9, 0.95), weight_decay=0.1)),
    "tiny_eps": (torch.optim.AdamW, dict(eps=1e-12, weight_decay=0.01)),
}


def ids_of(step: int) -> torch.Tensor:
    """Low ids often, high ones seldom."""
    places = [(step * 31 + i * 17) % 97 for i in range(PLACES)]
    return torch.tensor([[x * x * V // (97 * 97) for x in places]])


def rate_of(step: int) -> float:
    """A warm-up, then a linear descent."""
    return 1e-3 * min(step / 10, 1.0) * (1 - step / 200)


def sha(values: torch.Tensor) -> str:
    return hashlib.sha256(values.detach().numpy().tobytes()).hexdigest()


def lines(name: str, dim: int):
    kind, options = SETTINGS[name]
    torch.manual_seed(5)
    embedding = torch.nn.Embedding(V, dim, _weight=torch.randn(V, dim) * 0.0625)
    optimizer = kind(embedding.parameters(), fused=True, **options)
    for step in range(1, STEPS + 1):
        dout = torch.randn(1, PLACES, dim) * 0.0009765625
        optimizer.param_groups[0]["lr"] = rate_of(step)
        optimizer.zero_grad()
        embedding(ids_of(step)).backward(dout)
        optimizer.step()
        if step in (1, 10, 100):
            state = optimizer.state[embedding.weight]
            hashes = (sha(embedding.weight), sha(state["exp_avg"]), sha(state["exp_avg_sq"]))
            yield " ".join((name, str(dim), str(step), *hashes))


def main():
    torch.set_num_threads(1)
    text = [line for name in SETTINGS for dim in (20, 192) for line in lines(name, dim)]
    OUT.write_text("\n".join(text) + "\n", encoding="utf-8")
    print(torch.__version__, torch.backends.cpu.get_cpu_capability(), OUT, len(text), "lines")


if __name__ == "__main__":
    main()
