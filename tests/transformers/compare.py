"""Loads a folder that save_gpt() wrote with transformers, and prints what came of it as a line of JSON.

usage: compare.py FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, GPT2LMHeadModel, GPT2Tokenizer

TEXT = "Every effort moves you, naïve 漢字 🙂\n\n  don't<|endoftext|>"


def compare(folder):
    model, loading = GPT2LMHeadModel.from_pretrained(folder, output_loading_info=True)
    expected = load_file(folder / "logits.safetensors")
    with torch.no_grad():
        logits = model.eval()(expected["ids"]).logits
    result = {"difference": (logits - expected["logits"]).abs().max().item(),
              "largest": expected["logits"].abs().max().item(),
              "dtype": str(model.dtype),
              "loading": {key: sorted(map(str, value)) for key, value in loading.items() if value}}
    if (folder / "vocab.json").exists():
        result["ids"] = GPT2Tokenizer.from_pretrained(folder).encode(TEXT)
    return result


def main():
    folder = Path(sys.argv[1])
    results = {}
    for path in sorted(folder.iterdir()):
        try:
            AutoConfig.from_pretrained(path)
        except ValueError as error:
            results[path.name] = {"refused": str(error)}
        else:
            results[path.name] = compare(path)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
