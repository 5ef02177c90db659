"""Starts a program on chosen cores and says how long it took and how much memory it held."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finished:
    stdout: bytes
    seconds: float  # from just before the start to the exit
    peak_rss: int  # bytes; no smaller than the harness's own, which the kernel counts until the exec


@contextlib.contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Keeps this process, and those it starts, on `cores`."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run(command: Sequence[str], env: Mapping[str, str] | None = None) -> Finished:
    """Runs `command` with `env` on top of this process's environment; raises RuntimeError with its stderr if it fails.

    posix_spawn and wait4, since subprocess adds about a millisecond to a program that takes a few.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        streams = [(os.POSIX_SPAWN_DUP2, stdout.fileno(), 1), (os.POSIX_SPAWN_DUP2, stderr.fileno(), 2)]
        start = time.perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ | dict(env or {}), file_actions=streams)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            stderr.seek(0)
            text = stderr.read().decode(errors="replace")
            code = os.waitstatus_to_exitcode(status)
            raise RuntimeError(f"expected exit code 0 from {' '.join(command)}, received {code}:\n{text}")
        stdout.seek(0)
        return Finished(stdout.read(), seconds, usage.ru_maxrss * 1024)
