"""What the contenders in Python share: their arguments and the protocol of harness.contender.Program."""

import itertools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy

COUNT = 10
_WARM_UP_CALLS = 3


def main(version: str, prepare: Callable[[numpy.ndarray, int], Callable[[numpy.ndarray], numpy.ndarray]]) -> None:
    """KIND TABLE QUERIES THREADS (dump FILE | time N). `prepare(table, threads)` gives search(queries (Q, d)), which
    gives the ids (Q, COUNT) of the nearest rows."""
    kind, table, queries, threads, action, argument = sys.argv[1:]
    queries = numpy.load(queries)
    search = prepare(numpy.load(table), int(threads))
    parts = [queries[i:i + 1] for i in range(len(queries))] if kind == "one" else [queries]
    if action == "dump":
        Path(argument).write_bytes(numpy.concatenate([search(part) for part in parts]).astype("<u4").tobytes())
        return
    seconds = []
    for part in itertools.islice(itertools.cycle(parts), _WARM_UP_CALLS + int(argument)):
        start = time.perf_counter()
        search(part)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"version": version, "call": seconds[_WARM_UP_CALLS:]}))
