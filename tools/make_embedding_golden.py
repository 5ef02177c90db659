#!/usr/bin/env python3
"""Writes tests/data/lookup/embedding.txt with PyTorch 2.13: what torch.nn.Embedding, EmbeddingBag, dropout and the
norms make of numbers that the tests draw again from the same seed.

Usage: tools/make_embedding_golden.py

A line is a kind of case, its settings, and results: float32 values as hexadecimal words, or their SHA-256.
"""

import hashlib
import itertools
import math
import pathlib

import numpy as np
import torch
from torch.nn import functional

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "lookup" / "embedding.txt"


def words(tensor: torch.Tensor) -> str:
    values = np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32).reshape(-1)
    return " ".join(f"{word:08x}" for word in values.view(np.uint32))


def digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.detach().contiguous().numpy().astype("<f4").tobytes()).hexdigest()


def some_ids(count: int, vocabulary: int) -> torch.Tensor:
    return torch.tensor([(i * i * 31 + 7) % vocabulary for i in range(count)])


def embedding_lines():
    """Every combination of the options: the table after a forward, which max_norm changes, and its gradient."""
    vocabulary, dim, batch, length = 11, 6, 3, 9
    norms = ((None, 2.0), (1.5, 2.0), (2.5, 1.0), (1.0, math.inf), (1.25, 3.0), (0.0, 2.0))
    for padding, (max_norm, p), by_frequency in itertools.product((None, 7, -3), norms, (False, True)):
        torch.manual_seed(21)
        layer = torch.nn.Embedding(
            vocabulary, dim, padding_idx=padding, max_norm=max_norm, norm_type=p, scale_grad_by_freq=by_frequency
        )
        dout = torch.randn(batch, length, dim)
        layer(some_ids(batch * length, vocabulary).reshape(batch, length)).backward(dout)
        settings = f"{'-' if padding is None else padding} {'-' if max_norm is None else max_norm} {p} {by_frequency:d}"
        yield f"embedding {settings} {words(layer.weight)} {words(layer.weight.grad)}"


def large_gradient_lines():
    for by_frequency in (False, True):
        torch.manual_seed(5)
        layer = torch.nn.Embedding(97, 133, padding_idx=38, scale_grad_by_freq=by_frequency)
        dout = torch.randn(8, 64, 133)
        layer(some_ids(8 * 64, 97).reshape(8, 64)).backward(dout)
        yield f"large-gradient {by_frequency:d} {digest(layer.weight.grad)}"


def renorm_lines():
    for dim in (*range(1, 41), 100, 103, 768):
        torch.manual_seed(dim)
        layer = torch.nn.Embedding(20, dim, max_norm=0.5)
        layer(some_ids(60, 20))
        yield f"renorm {dim} {digest(layer.weight)}"


def bag_lines():
    """Bags of 0, 5, 1, 14, 21 and 19 ids; the one id of the third is the padding, where there is one."""
    vocabulary, dim, count = 13, 6, 60
    offsets = [0, 0, 5, 6, 20, 41]
    for mode, padding, weighted, with_last in itertools.product(
        ("sum", "mean", "max"), (None, 2), (False, True), (False, True)
    ):
        if weighted and mode != "sum":
            continue
        torch.manual_seed(9)
        layer = torch.nn.EmbeddingBag(
            vocabulary, dim, mode=mode, padding_idx=padding, include_last_offset=with_last
        )
        weights = torch.randn(count).requires_grad_()
        out = layer(
            some_ids(count, vocabulary),
            torch.tensor(offsets + [count] * with_last),
            per_sample_weights=weights if weighted else None,
        )
        dout = torch.randn(len(offsets), dim)
        out.backward(dout)
        yield (
            f"bag {mode} {'-' if padding is None else padding} {weighted:d} {with_last:d} {words(out)}"
            f" {words(layer.weight.grad)} {words(weights.grad) if weighted else '-'}"
        )


def dropout_lines():
    """The stream goes on from line to line; its last number shows how much was drawn."""
    torch.manual_seed(3)
    for count, p in itertools.product((1, 7, 16, 1000, 100_003), (0.0, 0.1, 0.5, 1 / 3, 0.9, 1.0)):
        x = torch.randn(count).requires_grad_()
        out = functional.dropout(x, p, training=True)
        dout = torch.randn(count)
        out.backward(dout)
        yield f"dropout {count} {p!r} {digest(out)} {digest(x.grad)}"


def norm_lines():
    for dim, eps in ((1, 1e-5), (5, 1e-5), (64, 1e-5), (33, 1e-2)):
        for name in ("layer", "rms"):
            torch.manual_seed(dim)
            x = (3 * torch.randn(2, dim) + 1).requires_grad_()
            if name == "layer":
                out = functional.layer_norm(x, (dim,), eps=eps)
            else:
                out = functional.rms_norm(x, (dim,), eps=eps)
            dout = torch.randn(2, dim)
            out.backward(dout)
            yield f"norm {name} {dim} {eps!r} {words(out)} {words(x.grad)}"


def sum_lines():
    """E[ids] * scale + P[positions], then dropout, and the gradients of both tables."""
    vocabulary, context, dim, batch, length = 50, 40, 65, 3, 20
    positions = {
        "none": torch.arange(length),
        "offset": torch.arange(length) + 7,
        "ids": (torch.arange(batch * length) * 7 % context).reshape(batch, length),
    }
    for name, scale, p in itertools.product(positions, (1.0, math.sqrt(dim)), (0.0, 0.1)):
        torch.manual_seed(77)
        tokens = torch.nn.Embedding(vocabulary, dim)
        table = torch.nn.Embedding(context, dim)
        ids = some_ids(batch * length, vocabulary).reshape(batch, length)
        out = functional.dropout(tokens(ids) * scale + table(positions[name]), p, training=True)
        dout = torch.randn(batch, length, dim)
        out.backward(dout)
        gradients = f"{digest(tokens.weight.grad)} {digest(table.weight.grad)}"
        yield f"sum {name} {scale!r} {p!r} {digest(out)} {gradients}"


def main() -> None:
    torch.set_num_threads(1)
    capability = torch.backends.cpu.get_cpu_capability()
    lines = [f"# tools/make_embedding_golden.py: torch {torch.__version__}, {capability}"]
    sections = embedding_lines, large_gradient_lines, renorm_lines, bag_lines, dropout_lines, norm_lines, sum_lines
    for section in sections:
        lines += section()
    OUTPUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
