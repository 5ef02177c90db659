"""Ids as text has them: few of them often, most of them seldom."""

import array
import itertools
import random
from pathlib import Path

from harness import setup

VOCABULARY = 50257


def write_batches(name: str, batches: int, batch_ids: int) -> Path:
    """A file of uint32 ids whose frequency falls as 1 / rank (Zipf), with ranks in random order over the vocabulary."""
    path = setup.WORK / name
    if path.exists() and path.stat().st_size == batches * batch_ids * 4:
        return path
    draw = random.Random(0)
    ids = draw.sample(range(VOCABULARY), VOCABULARY)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    path.write_bytes(array.array("I", draw.choices(ids, cum_weights=weights, k=batches * batch_ids)).tobytes())
    return path
