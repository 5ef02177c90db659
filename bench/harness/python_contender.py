"""The protocol of harness.contender.Program for contenders in Python: `dump FILE` or `time N` as the last arguments."""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def resident_bytes(key: str) -> int:
    """"VmRSS", what this process holds, or "VmHWM", the most it held."""
    return int(re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def main(version: str, load: Callable[[], Callable[[], Any]], to_bytes: Callable[[Any], bytes]) -> None:
    """`load` returns the call that is measured; `to_bytes` gives the bytes of what the call returns.

    Reports "load", the time of load(); "cold", of the first call; "warm", of the calls after it; "peak", the most
    memory that load() and the calls took."""
    action, argument = sys.argv[-2:]
    before = resident_bytes("VmRSS")
    start = time.perf_counter()
    call = load()
    loaded = time.perf_counter() - start
    if action == "dump":
        Path(argument).write_bytes(to_bytes(call()))
        return
    cold, *warm = [_seconds(call) for _ in range(1 + int(argument))]
    peak = resident_bytes("VmHWM") - before
    print(json.dumps({"version": version, "load": [loaded], "cold": [cold], "warm": warm, "peak": [peak]}))


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result  # freed outside the time, as the caller would have kept it
    return seconds
