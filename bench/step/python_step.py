"""What the contenders in Python share: the sizes of the work and the protocol of harness.contender.Program."""

import json
from collections.abc import Callable
from pathlib import Path

V = 50257
LR = 3e-4
POOL_EXTRA, POOL_STRIDE = 1 << 20, 7919 * 16  # each step's gradient begins elsewhere in a pool
DUMP_PLACES = 256
_WARM_UP_STEPS, _DUMP_STEPS = 5, 3


def pool_offset(number: int) -> int:
    """Where in the pool the gradient of step `number` begins."""
    return number * POOL_STRIDE % POOL_EXTRA


def main(
    version: str, step: Callable[[int], float], first_rows: Callable[[], bytes], action: str, argument: str
) -> None:
    """`step(number)` takes a step and returns its seconds; `first_rows()` gives the rows of the first ids as bytes."""
    if action == "dump":
        for number in range(_DUMP_STEPS):
            step(number)
        Path(argument).write_bytes(first_rows())
        return
    for number in range(_WARM_UP_STEPS):
        step(number)
    seconds = [step(number) for number in range(_WARM_UP_STEPS, _WARM_UP_STEPS + int(argument))]
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024
    print(json.dumps({"version": version, "step": [sum(seconds) / len(seconds)], "peak": [peak]}))
