#!/usr/bin/env python3
"""Writes the golden values of tests/data/{random,feed,lookup} with PyTorch 2.13 on x86-64 with AVX2 or AVX-512.

Usage: tools/make_torch_golden.py random | feed | lookup --tinygpt DIR | gradient | large-permutation

random             tests/data/random/torch.txt, read by tests/base/random_test.cpp
feed               tests/data/feed/torch.txt and verdict_ids.txt; the second needs tiktoken and --text the-verdict.txt
lookup             tests/data/lookup/tinygpt.safetensors from the files of llm-viz in DIR (see NOTICE)
gradient           prints the hashes in tests/lookup/gradient_test.cpp
large-permutation  prints the hash of randperm(214,748,364), where PyTorch changes its algorithm; needs 4 GB and
                   half a minute
"""

import argparse
import base64
import hashlib
import json
import pathlib

import numpy as np
import torch

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
SEEDS = (0, 1, 42, 123, -1, -(2**63), 2**32 + 5, 2**63 - 1)


def words(array: np.ndarray) -> str:
    """The bits of float32 values in hexadecimal, or one hash when there are many."""
    array = np.ascontiguousarray(array, dtype=np.float32)
    if array.size > 18:
        return "sha256 " + hashlib.sha256(array.tobytes()).hexdigest()
    return " ".join(f"{word:08x}" for word in array.view(np.uint32))


def random_lines():
    """One script of draws for each seed; every line continues the stream of the line before."""
    for seed in SEEDS:
        torch.manual_seed(seed)
        yield f"seed {seed}"
        for count in (*range(1, 19), 31, 32, 33, 100_003, 3):
            for mean, std in ((0.0, 1.0), (0.0, 0.02), (0.5, 0.3)):
                values = torch.empty(count).normal_(mean, std)
                yield f"normal {count} {mean!r} {std!r} {words(values.numpy())}"
        yield f"normal 4 0.0 0.0 {words(torch.empty(4).normal_(0.0, 0.0).numpy())}"
        for low, high in ((0.0, 1.0), (-1.0, 1.0), (-0.1, 0.3), (1e-3, 7.5), (1.0, 1.0000001192092896), (2.0, 2.0)):
            for count in (1, 8, 1009):
                values = torch.empty(count).uniform_(low, high)
                yield f"uniform {count} {low!r} {high!r} {words(values.numpy())}"
        for count in (0, 1, 2, 10, 1000):
            order = torch.randperm(count).numpy()
            yield f"permutation {count} sha256 {hashlib.sha256(order.astype('<u8').tobytes()).hexdigest()}"
        draws = torch.empty(5, dtype=torch.int64).random_(-(2**63), None).numpy().view(np.uint64)
        yield "u64 " + " ".join(f"{draw:016x}" for draw in draws)


def feed_lines():
    """The batches of DataLoader over several epochs after one torch.manual_seed."""
    for windows, batch_size, drop_last, seed in (
        (10, 3, True, 123),
        (10, 3, False, 123),
        (12, 3, False, 7),
        (5, 8, False, 0),
        (39, 4, True, -5),
        (1286, 8, True, 123),
        (1286, 8, False, 2**40 + 1),
    ):
        for shuffle in (False, True):
            torch.manual_seed(seed)
            loader = torch.utils.data.DataLoader(
                range(windows), batch_size=batch_size, shuffle=shuffle, drop_last=drop_last
            )
            yield f"loader {windows} {batch_size} {int(drop_last)} {int(shuffle)} {seed}"
            for _ in range(3):
                batches = [batch.tolist() for batch in loader]
                order = np.array([window for batch in batches for window in batch], dtype="<u8")
                first = " ".join(map(str, batches[0]))
                yield f"epoch {len(batches)} {hashlib.sha256(order.tobytes()).hexdigest()} {first}"


def verdict_ids(text: pathlib.Path) -> str:
    import tiktoken

    ids = tiktoken.get_encoding("gpt2").encode(text.read_text(encoding="utf-8"))
    return " ".join(map(str, ids)) + "\n"


def write_tinygpt(folder: pathlib.Path) -> None:
    """The tables of a trained minGPT and one recorded step: ids idx (3, 11) and their input tensor x (3, 11, 48)."""
    from safetensors.numpy import save_file

    model = json.loads((folder / "gpt-nano-sort-model.json").read_text())
    partials = json.loads((folder / "gpt-nano-sort-t0-partials.json").read_text())

    def tensor(record):
        return np.frombuffer(base64.b64decode(record["data"]), dtype="<f4").reshape(record["shape"])

    names = ("transformer.wte.weight", "transformer.wpe.weight", "transformer.h.0.attn.bias")
    tensors = {name: tensor(model[name]) for name in names}
    tensors["idx"] = tensor(partials["idx"]).astype(np.int32)
    tensors["x"] = tensor(partials["x"])
    save_file(tensors, DATA / "lookup" / "tinygpt.safetensors")


def gradient_hashes() -> dict[str, str]:
    vocabulary, dim, batch, length = 97, 33, 8, 64
    torch.manual_seed(5)
    dout = torch.randn(batch, length, dim)
    ids = torch.tensor([(i * i * 31 + 7) % vocabulary for i in range(batch * length)]).reshape(batch, length)
    tokens = torch.nn.Embedding(vocabulary, dim)
    tokens(ids).backward(dout)
    hashes = {"tokens": sha256(tokens.weight.grad)}
    for batch in (1, 8, 40, 600):
        torch.manual_seed(5)
        dout = torch.randn(batch, 7, dim)
        tokens, positions = torch.nn.Embedding(vocabulary, dim), torch.nn.Embedding(7, dim)
        (tokens(torch.zeros(batch, 7, dtype=torch.long)) + positions(torch.arange(7))).backward(dout)
        hashes[f"positions, B = {batch}"] = sha256(positions.weight.grad)
    return hashes


def sha256(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.numpy().tobytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("random", "feed", "lookup", "gradient", "large-permutation"))
    parser.add_argument(
        "--tinygpt", type=pathlib.Path, help="folder with gpt-nano-sort-model.json and -t0-partials.json"
    )
    parser.add_argument("--text", type=pathlib.Path, help="the-verdict.txt")
    arguments = parser.parse_args()

    capability = torch.backends.cpu.get_cpu_capability()
    header = f"# tools/make_torch_golden.py {arguments.what}: torch {torch.__version__}, {capability}\n"
    if arguments.what == "random":
        (DATA / "random" / "torch.txt").write_text(header + "".join(line + "\n" for line in random_lines()))
    elif arguments.what == "feed":
        (DATA / "feed" / "torch.txt").write_text(header + "".join(line + "\n" for line in feed_lines()))
        if arguments.text:
            (DATA / "feed" / "verdict_ids.txt").write_text(verdict_ids(arguments.text))
    elif arguments.what == "lookup":
        write_tinygpt(arguments.tinygpt)
    elif arguments.what == "gradient":
        print("\n".join(f"{what}: {value}" for what, value in gradient_hashes().items()))
    else:
        for count in (214_748_363, 214_748_364):
            torch.manual_seed(123)
            print(count, hashlib.sha256(torch.randperm(count).numpy().tobytes()).hexdigest())


if __name__ == "__main__":
    main()
