#!/usr/bin/env python3
"""Writes data/NAME.merges, a byte-pair vocabulary in its shortest form, from a .tiktoken file.

usage: tools/make_vocabulary_data.py r50k_base.tiktoken data/gpt2.merges

Layout: 256 bytes, the byte of each of the ids 0 .. 255; then for each further id the two ids it is merged from, two
little-endian unsigned 16-bit numbers. A token's pair is found by merging its bytes with the lower ranks only.
"""

import base64
import struct
import sys


def merged_pair(token: bytes, rank: int, ranks: dict) -> tuple:
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        candidates = [ranks.get(parts[i] + parts[i + 1], rank) for i in range(len(parts) - 1)]
        best = min(candidates)
        assert best < rank, f"token {rank} cannot be reached by merges"
        at = candidates.index(best)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    left, right = parts
    return ranks[left], ranks[right]


def main(source: str, target: str) -> None:
    with open(source, "rb") as file:
        rows = [line.split() for line in file if line.strip()]
    ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
    tokens = sorted(ranks, key=ranks.get)
    assert [ranks[token] for token in tokens] == list(range(len(tokens))), "ids are not 0, 1, 2, …"
    assert sorted(tokens[:256]) == [bytes([value]) for value in range(256)], "the first 256 tokens are not the bytes"
    assert len(tokens) <= 0x10000, "ids need more than 16 bits"
    with open(target, "wb") as file:
        file.write(b"".join(tokens[:256]))
        for rank in range(256, len(tokens)):
            file.write(struct.pack("<HH", *merged_pair(tokens[rank], rank, ranks)))


if __name__ == "__main__":
    main(*sys.argv[1:])
