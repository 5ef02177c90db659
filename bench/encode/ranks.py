"""Reads the vocabulary that harness.vocabulary writes, for contenders that are built from its parts."""

import base64
from pathlib import Path


def read_ranks(path: str) -> dict[bytes, int]:
    lines = Path(path).read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}


def merges_of(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The pair that each token of two or more bytes was merged from, in order of rank."""
    return [_last_pair(token, ranks) for token in sorted(ranks, key=ranks.__getitem__) if len(token) > 1]


def _last_pair(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """Merges the bytes of `token` by rank, with only the merges that came before it, until two parts are left."""
    parts = [token[i:i + 1] for i in range(len(token))]
    while len(parts) > 2:
        pairs = [(ranks.get(left + right, len(ranks)), at) for at, (left, right) in enumerate(zip(parts, parts[1:]))]
        _, at = min(pairs)
        parts[at:at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]
