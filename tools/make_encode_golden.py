#!/usr/bin/env python3
"""Writes tests/data/encode/gpt2.json: what tiktoken gives for tricky texts, and hashes for texts too large to keep.

usage: tools/make_encode_golden.py CASES.json > tests/data/encode/gpt2.json

CASES.json is a list of objects with "name" and "text". Needs tiktoken, whose Unicode version must be the one named in
firstlayer/encode/unicode_class_tables.cpp (tiktoken 0.14: 16.0).
"""

import hashlib
import json
import sys

import tiktoken

ENCODING = tiktoken.get_encoding("gpt2")

# Every code point stands in each of these places; a class that is wrong moves a cut in one of them.
CONTEXTS = ["x{}'s y\n", " {}1\n", "1{}a\n", "!{}!\n", "{0} {0}\n"]

SNIPPETS = [
    " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", "'", "'s", "'ll", "'re", "'S", "’s", "a", "the",
    " the", "Hello", "é", "ß", "1", "23", "456", "²", "٣", "Ⅷ", "!", "--", "...", "$", "\u200b", "\ufeff", "日本語",
    "。", "中文", "한국어", "ไทย", "हिन्दी", "👩\u200d👧", "\U0001f600", "x", "_", "\0", "<|endoftext|>", "<|", "|>",
]


def random_text(seed: int, count: int) -> str:
    """`count` snippets picked by Knuth's 64-bit linear congruential generator; the test builds the same text."""
    state, picked = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        picked.append(SNIPPETS[(state >> 33) % len(SNIPPETS)])
    return "".join(picked)


def code_points(context: str) -> str:
    return "".join(context.format(chr(c)) for c in range(0x110000) if not 0xD800 <= c < 0xE000)


def summary(text: str) -> dict:
    ids = ENCODING.encode_ordinary(text)
    digest = hashlib.sha256(b"".join(i.to_bytes(4, "little") for i in ids)).hexdigest()
    return {"ids": len(ids), "sha256": digest}


def case(name: str, text: str) -> dict:
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # as tiktoken does
    return {"name": name, "text": text, "ids": ENCODING.encode_ordinary(text)}


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        cases = [case(entry["name"], entry["text"]) for entry in json.load(file)]
    golden = {
        "origin": f"tiktoken {tiktoken.__version__}, encode_ordinary; made by tools/make_encode_golden.py",
        "cases": cases,
        "code_points": [{"context": context, **summary(code_points(context))} for context in CONTEXTS],
        "snippets": SNIPPETS,
        "random": [{"seed": seed, "count": 50_000, **summary(random_text(seed, 50_000))} for seed in (1, 2, 3)],
        "runs": [{"unit": u, "count": n, **summary(u * n)} for u, n in (("a", 1_000_000), ("世界", 50_000), (" ", 9_999),
                                                                        ("^", 100_000), ("ab ", 100_000))],
    }
    json.dump(golden, sys.stdout, ensure_ascii=True, indent=None, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
