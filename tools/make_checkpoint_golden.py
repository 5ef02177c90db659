#!/usr/bin/env python3
"""Writes tests/data/train/checkpoint: a small GPT-2 as transformers saves it, which load_gpt() must read, with the
logits that transformers computes from it.

    pip install torch==2.13.0 transformers==5.24.0
    tools/make_checkpoint_golden.py

whole/      config.json and model.safetensors, float32, tied; logits.safetensors: ids (B, T) int64, logits (B, T, V)
sharded/    the same network in bfloat16, in several files with an index, and its own logits
untied/     a network whose head is a table of its own, in float16
nanogpt.safetensors   the first network in nanoGPT's shape: matrices (outputs, inputs), no config.json
"""

import pathlib
import shutil

import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "train" / "checkpoint"
SIZES = dict(vocab_size=61, n_positions=10, n_embd=16, n_layer=2, n_head=4, bos_token_id=None, eos_token_id=None)


def make(**changes):
    """A network whose every number matters to the logits."""
    torch.manual_seed(11)
    model = GPT2LMHeadModel(GPT2Config(**SIZES, **changes)).eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            tensor.normal_(1.0 if ".ln_" in name and name.endswith("weight") else 0.0, 0.25)
    return model


def save(model, name, **options):
    folder = OUT / name
    model.save_pretrained(folder, **options)
    (folder / "generation_config.json").unlink(missing_ok=True)
    stored = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    ids = (torch.arange(20) ** 2 * 7 + 3).reshape(2, 10) % SIZES["vocab_size"]
    with torch.no_grad():
        logits = stored(ids).logits
    save_file({"ids": ids, "logits": logits.contiguous()}, folder / "logits.safetensors")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    save(make(), "whole")
    save(make(layer_norm_epsilon=1e-3).bfloat16(), "sharded", max_shard_size="8KB")
    save(make(tie_word_embeddings=False).half(), "untied")

    tensors = load_file(OUT / "whole" / "model.safetensors")
    turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    nano = {name: (tensor.T if name.endswith(turned) else tensor).contiguous() for name, tensor in tensors.items()}
    nano["lm_head.weight"] = tensors["transformer.wte.weight"].clone()
    save_file(nano, OUT / "nanogpt.safetensors")
    for path in sorted(OUT.rglob("*")):
        if path.is_file():
            print(path.relative_to(OUT), path.stat().st_size)


if __name__ == "__main__":
    main()
