#!/usr/bin/env python3
"""Writes tests/data/lookup/position.safetensors with PyTorch 2.13 and transformers 5.24: what tests/lookup/position
compares the position schemes with.

Usage: tools/make_position_golden.py

sinusoidal.LAYOUT.D.double   every 93rd of 1,024 rows, computed in float64 and rounded; .float: computed in float32
theta.CASE                   transformers' inverse frequencies (float32), behind them its attention factor
rotary.CASE.*                queries x (B, heads, T, head_dim) at positions (B, T), y = rotated, dx = gradient for dy
alibi.N, alibi.bias          transformers' slopes of N heads (Bloom); its bias of a row of 6 keys
t5.DIRECTIONS.N.MAX          transformers' bucket of the distances -300 .. 300
t5.dbias, t5.dtable          the gradient of T5's bias (heads, queries, keys), and what its table gets
mask, mask.positions         attention masks, and the positions that generate() makes of them
"""

import math
import pathlib

import numpy as np
import torch
from safetensors.numpy import save_file
from transformers import GenerationMixin, LlamaConfig, T5Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom import modeling_bloom
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama
from transformers.models.t5.modeling_t5 import T5Attention

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
ROWS = torch.arange(0, 1024, 93)


def sinusoidal(layout: str, dim: int, dtype: torch.dtype) -> torch.Tensor:
    """The two published formulas, for the rows ROWS."""
    positions = ROWS.to(dtype)[:, None]
    if layout == "interleaved":
        columns = torch.arange(dim, dtype=dtype)[None]
        angles = positions / torch.pow(torch.tensor(10000.0, dtype=dtype), 2 * (columns // 2) / dim)
        return torch.where(columns % 2 == 0, angles.sin(), angles.cos())
    half = dim // 2
    frequencies = torch.exp(torch.arange(half, dtype=dtype)[None] * -(math.log(10000.0) / max(half - 1, 1)))
    parts = [torch.sin(positions * frequencies), torch.cos(positions * frequencies)]
    return torch.cat([*parts, torch.zeros(len(ROWS), dim % 2, dtype=dtype)], dim=1)


def sinusoidal_tensors():
    for layout, dim in (("interleaved", 48), ("interleaved", 7), ("interleaved", 1), ("halves", 48), ("halves", 7),
                        ("halves", 2), ("halves", 1)):
        for name, dtype in (("double", torch.float64), ("float", torch.float32)):
            yield f"sinusoidal.{layout}.{dim}.{name}", sinusoidal(layout, dim, dtype).to(torch.float32)


def llama(width: int, base: float, **rope) -> LlamaConfig:
    return LlamaConfig(
        hidden_size=width, num_attention_heads=1, max_position_embeddings=rope.pop("context", 2**20),
        rope_parameters={"rope_theta": base, **rope})


def theta_tensors():
    long = [1 + i / 2 for i in range(32)]
    short = [1 + i / 64 for i in range(32)]
    longrope = {"rope_type": "longrope", "factor": 32.0, "original_max_position_embeddings": 4096,
                "short_factor": short, "long_factor": long}
    yarn = {"rope_type": "yarn", "original_max_position_embeddings": 4096}
    cases = {
        "linear": (llama(64, 10000.0, rope_type="linear", factor=4.0), None),
        "dynamic.short": (llama(64, 10000.0, rope_type="dynamic", factor=2.0, context=2048), 1000),
        "dynamic.long": (llama(64, 10000.0, rope_type="dynamic", factor=2.0, context=2048), 5000),
        "yarn": (llama(128, 10000.0, factor=16.0, **yarn), None),
        "yarn.options": (llama(96, 500000.0, factor=40.0, beta_fast=24.0, beta_slow=2.0, truncate=False,
                               attention_factor=0.75, **yarn), None),
        # a ramp of no width at the first index, and one that ends behind the last
        "yarn.step": (llama(16, 10000.0, rope_type="yarn", factor=4.0, original_max_position_embeddings=6), None),
        "yarn.low_base": (llama(8, 10.0, rope_type="yarn", factor=4.0, original_max_position_embeddings=1000), None),
        "llama3": (llama(128, 500000.0, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                         original_max_position_embeddings=8192), None),
        "longrope.short": (llama(64, 10000.0, **longrope), 4096),
        "longrope.long": (llama(64, 10000.0, **longrope), 4097),
    }
    for name, (config, length) in cases.items():
        theta, factor = ROPE_INIT_FUNCTIONS[config.rope_parameters["rope_type"]](config, seq_len=length)
        yield f"theta.{name}", torch.cat([theta, torch.tensor([factor], dtype=torch.float32)])
    default, factor = modeling_llama.LlamaRotaryEmbedding.compute_default_rope_parameters(
        llama(128, 10000.0, rope_type="default"))
    yield "theta.none", torch.cat([default, torch.tensor([factor])])


def rotary_tensors():
    """Cosines and sines computed in float64 and rounded, as the library does; then transformers' rotations."""
    torch.manual_seed(11)
    positions = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 7, 500, 1023]])
    for name, head_dim, rotary_dim, factor in (("halves", 16, 16, 1.0), ("interleaved", 16, 16, 1.0),
                                               ("halves.partial", 20, 6, 1.0), ("interleaved.partial", 20, 6, 1.0),
                                               ("halves.factor", 16, 16, 1.25)):
        x = torch.randn(2, 3, 5, head_dim, requires_grad=True)
        dy = torch.randn(2, 3, 5, head_dim)
        theta = 10000.0 ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)
        angles = positions[..., None] * theta
        cos, sin = ((wave * factor).to(torch.float32) for wave in (angles.cos(), angles.sin()))
        turned, rest = x[..., :rotary_dim], x[..., rotary_dim:]
        if name.startswith("halves"):
            cos, sin = (torch.cat([wave, wave], dim=-1) for wave in (cos, sin))
            turned, _ = modeling_llama.apply_rotary_pos_emb(turned, turned, cos, sin)
        else:  # GPT-J turns (B, T, heads, head_dim)
            turned = modeling_gptj.apply_rotary_pos_emb(turned.transpose(1, 2), sin, cos).transpose(1, 2)
        y = torch.cat([turned, rest], dim=-1)
        y.backward(dy)
        for part, value in (("x", x), ("y", y), ("dy", dy), ("dx", x.grad)):
            yield f"rotary.{name}.{part}", value
    yield "rotary.positions", positions


def bias_tensors():
    for heads in (1, 2, 3, 6, 8, 12, 25, 32, 71):
        yield f"alibi.{heads}", modeling_bloom._get_alibi_slopes(heads, torch.device("cpu"))
    yield "alibi.bias", modeling_bloom.build_alibi_tensor(torch.ones(1, 6), 12, torch.float32).reshape(12, 6)
    distances = torch.arange(-300, 301)
    for both, count, most in ((True, 32, 128), (False, 32, 128), (True, 32, 256), (False, 16, 64), (True, 4, 3),
                              (False, 10, 160), (False, 20, 320), (False, 2, 2), (False, 12, 100)):
        buckets = T5Attention._relative_position_bucket(distances, both, count, most)
        yield f"t5.{'both' if both else 'back'}.{count}.{most}", buckets.to(torch.int32)
    attention = T5Attention(T5Config(num_heads=3), has_relative_attention_bias=True)
    torch.manual_seed(12)
    dbias = torch.randn(3, 40, 60)
    attention.compute_bias(40, 60, past_seen_tokens=20).backward(dbias[None])
    yield "t5.dbias", dbias
    yield "t5.dtable", attention.relative_attention_bias.weight.grad


def mask_tensors():
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1], [1, 1, 0, 1, 0, 0], [0] * 6])
    made = GenerationMixin._prepare_position_ids_for_generation(None, torch.zeros(5, 6), {"attention_mask": mask})
    yield "mask", mask.to(torch.uint8)
    yield "mask.positions", made


def main() -> None:
    tensors = {}
    for part in (sinusoidal_tensors, theta_tensors, rotary_tensors, bias_tensors, mask_tensors):
        for name, value in part():
            array = value.detach().contiguous().numpy()
            tensors[name] = array.astype(np.int32) if array.dtype == np.int64 else array
    save_file(tensors, DATA / "lookup" / "position.safetensors")
    for name, value in tensors.items():
        if name.endswith(".double"):
            other = tensors[name.replace(".double", ".float")]
            print(f"{name}: float32 differs by {np.abs(value - other).max():.2g}")


if __name__ == "__main__":
    main()
