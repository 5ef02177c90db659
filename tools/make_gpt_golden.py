#!/usr/bin/env python3
"""Writes tests/data/train/gpt.safetensors with PyTorch 2.13: what tests/train/network/gpt_network_test.cpp compares
GPT-2's network with.

Usage: tools/make_gpt_golden.py

Parameters are not stored: each tensor is drawn in the order of GptLayout from one generator, which has the same bits
here and there. Ids and targets follow from a formula. The network is written out below and runs in float64; the losses
of ten steps are those of float32 parameters under torch.optim.AdamW(fused=True) with two groups.

CASE.logits               (B, T, V) of batch 0
CASE.losses               (10,) before each step
CASE.NAME                 the gradient of a tensor for batch 0
"""

import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "train" / "gpt.safetensors"
STEPS = 10
CASES = {
    "gpt2": dict(layers=2, heads=3, d=12, V=61, context=16, B=2, T=7),
    "no_layers": dict(layers=0, heads=1, d=10, V=29, context=6, B=3, T=5),
    "untied": dict(layers=1, heads=2, d=8, V=23, context=9, B=2, T=9, tied=False),
    "rotary": dict(layers=1, heads=2, d=8, V=19, context=9, B=2, T=5, position="rotary"),
    "alibi": dict(layers=1, heads=3, d=9, V=19, context=9, B=2, T=5, position="alibi"),
    "sinusoidal": dict(layers=1, heads=1, d=7, V=19, context=9, B=2, T=5, position="sinusoidal"),
    "ignored": dict(layers=1, heads=2, d=8, V=19, context=9, B=2, T=5, position="none"),
    "long": dict(layers=1, heads=2, d=8, V=13, context=70, B=1, T=70),
}


def layout(c):
    """The names and shapes of GptLayout."""
    d = c["d"]
    yield "transformer.wte.weight", (c["V"], d)
    if c.get("position", "learned") == "learned":
        yield "transformer.wpe.weight", (c["context"], d)
    for i in range(c["layers"]):
        for name, shape in (("ln_1.weight", (d,)), ("ln_1.bias", (d,)),
                            ("attn.c_attn.weight", (d, 3 * d)), ("attn.c_attn.bias", (3 * d,)),
                            ("attn.c_proj.weight", (d, d)), ("attn.c_proj.bias", (d,)),
                            ("ln_2.weight", (d,)), ("ln_2.bias", (d,)),
                            ("mlp.c_fc.weight", (d, 4 * d)), ("mlp.c_fc.bias", (4 * d,)),
                            ("mlp.c_proj.weight", (4 * d, d)), ("mlp.c_proj.bias", (d,))):
            yield f"transformer.h.{i}.{name}", shape
    yield "transformer.ln_f.weight", (d,)
    yield "transformer.ln_f.bias", (d,)
    if not c.get("tied", True):
        yield "lm_head.weight", (c["V"], d)


def draw(c):
    """Numbers of a size at which every part of the network matters."""
    torch.manual_seed(17)
    parameters = {}
    for name, shape in layout(c):
        mean = 1.0 if "ln_" in name and name.endswith("weight") else 0.0
        parameters[name] = torch.empty(math.prod(shape)).normal_(mean, 0.2).reshape(shape)
    return parameters


def batch(name, c, step):
    i = torch.arange(c["B"] * c["T"])
    ids = (i * i * 31 + i * step * 7 + step * 3 + 1) % c["V"]
    targets = (i * i * 17 + i + step * 5 + 2) % c["V"]
    if name == "ignored":
        targets[i % 3 == step % 3] = -1
    return ids.reshape(c["B"], c["T"]), targets.reshape(c["B"], c["T"])


def sinusoids(T, d, dtype):
    t, k = torch.arange(T, dtype=torch.float64)[:, None], torch.arange(d)[None]
    angles = t / 10000.0 ** (2 * (k // 2) / d)
    return torch.where(k % 2 == 0, angles.sin(), angles.cos()).to(dtype)


def rotate(x):
    """x (B, heads, T, h): numbers i and i + h/2 turn by t / 10000^(2i/h)."""
    T, h = x.shape[-2:]
    angles = torch.arange(T, dtype=torch.float64)[:, None] / 10000.0 ** (torch.arange(0, h, 2) / h)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., : h // 2], x[..., h // 2:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def slopes(n):
    """2^(-8 (i + 1) / n); between powers of two, every second slope of the next one."""
    def power(m):
        return [2.0 ** (-8 * (i + 1) / m) for i in range(m)]
    p = 2 ** int(math.log2(n))
    return power(p) + power(2 * p)[::2][: n - p]


def attention(c, qkv):
    B, T, width = qkv.shape
    q, k, v = (x.view(B, T, c["heads"], -1).transpose(1, 2) for x in qkv.split(width // 3, dim=2))
    if c.get("position") == "rotary":
        q, k = rotate(q), rotate(k)
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    if c.get("position") == "alibi":
        t = torch.arange(T, dtype=qkv.dtype)
        scores = scores + torch.tensor(slopes(c["heads"]), dtype=qkv.dtype)[:, None, None] * (t[None] - t[:, None])
    scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -math.inf)
    return (scores.softmax(dim=3) @ v).transpose(1, 2).reshape(B, T, -1)


def network(c, p, ids):
    d, T = c["d"], ids.shape[1]
    x = p["transformer.wte.weight"][ids]
    if "transformer.wpe.weight" in p:
        x = x + p["transformer.wpe.weight"][:T]
    if c.get("position") == "sinusoidal":
        x = x + sinusoids(T, d, x.dtype)
    for i in range(c["layers"]):
        def norm(name, x):
            return F.layer_norm(x, (d,), w(f"{name}.weight"), w(f"{name}.bias"), 1e-5)

        def linear(name, x):
            return x @ w(f"{name}.weight") + w(f"{name}.bias")

        def w(name):
            return p[f"transformer.h.{i}.{name}"]
        x = x + linear("attn.c_proj", attention(c, linear("attn.c_attn", norm("ln_1", x))))
        x = x + linear("mlp.c_proj", F.gelu(linear("mlp.c_fc", norm("ln_2", x)), approximate="tanh"))
    x = F.layer_norm(x, (d,), p["transformer.ln_f.weight"], p["transformer.ln_f.bias"], 1e-5)
    return x @ p.get("lm_head.weight", p["transformer.wte.weight"]).T


def loss_of(c, p, ids, targets):
    return F.cross_entropy(network(c, p, ids).flatten(0, 1), targets.flatten(), ignore_index=-1)


def main():
    tensors = {}
    for name, c in CASES.items():
        exact = {key: value.double().requires_grad_() for key, value in draw(c).items()}
        ids, targets = batch(name, c, 0)
        loss_of(c, exact, ids, targets).backward()
        tensors[f"{name}.logits"] = network(c, exact, ids).detach().float()
        for key, value in exact.items():
            tensors[f"{name}.{key}"] = value.grad.float()

        p = {key: value.requires_grad_() for key, value in draw(c).items()}
        groups = [{"params": [v for v in p.values() if v.dim() > 1], "weight_decay": 0.1},
                  {"params": [v for v in p.values() if v.dim() == 1], "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=1e-2, fused=True)
        losses = []
        for step in range(STEPS):
            optimizer.zero_grad()
            loss = loss_of(c, p, *batch(name, c, step))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        tensors[f"{name}.losses"] = torch.tensor(losses)
        print(name, " ".join(f"{loss:.4f}" for loss in losses))
    save_file({key: value.contiguous() for key, value in tensors.items()}, OUT)
    print(OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
