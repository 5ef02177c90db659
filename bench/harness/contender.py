"""A contender: one implementation of a task's work, measured in a process of its own."""

import array
import hashlib
import json
import math
import statistics
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import process

# What one process of a contender measured: seconds or bytes under the name of each measure; less is better.
Sample = Mapping[str, Sequence[float]]


@dataclass
class Contender(ABC):
    """`command` starts it; `env` is set on top of the environment; `checked` is False for one that computes no output
    to compare, such as a plain copy that only shows what the memory allows. `tolerance` is how far its output, which is
    then float32 numbers, may lie from firstlayer's; 0 asks for the same bytes."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    checked: bool = True
    tolerance: float = 0

    @abstractmethod
    def digest(self) -> str:
        """The SHA-256 of its output: contenders with equal digests did equal work."""

    @abstractmethod
    def sample(self) -> Sample:
        """Runs it once."""


@dataclass
class Program(Contender):
    """Times itself. `command dump FILE` writes its output as bytes; `command time N` prints one JSON object with its
    "version" and, for each measure, a list of seconds or bytes, where N says how often the warm call is made."""

    repeat: int = 5

    def digest(self) -> str:
        return hashlib.sha256(self.output()).hexdigest()

    def output(self) -> bytes:
        with tempfile.NamedTemporaryFile() as output:
            process.run([*self.command, "dump", output.name], self.env)
            return Path(output.name).read_bytes()

    def sample(self) -> Sample:
        measured = json.loads(process.run([*self.command, "time", str(self.repeat)], self.env).stdout)
        self.version = measured.pop("version")
        return measured


@dataclass
class Command(Contender):
    """Timed from outside, start to exit: "wall" in seconds and "peak" in bytes. `output_digest` names what its standard
    output, or the file that it wrote, holds. Each round runs it `repeat` times."""

    output_digest: Callable[[bytes], str] = lambda stdout: hashlib.sha256(stdout.strip()).hexdigest()
    repeat: int = 1

    def digest(self) -> str:
        return self.output_digest(process.run(self.command, self.env).stdout)

    def sample(self) -> Sample:
        runs = [process.run(self.command, self.env) for _ in range(self.repeat)]
        return {"wall": [run.seconds for run in runs], "peak": [run.peak_rss for run in runs]}


def farthest(one: bytes, other: bytes) -> float:
    """The largest distance between two float32 numbers at the same place; infinite if there are not as many, none, or
    one is not a number."""
    if len(one) != len(other) or not one:
        return math.inf
    distances = [abs(a - b) for a, b in zip(array.array("f", one), array.array("f", other), strict=True)]
    return math.inf if any(map(math.isnan, distances)) else max(distances)


def file_sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Measurement:
    """One measure of one contender: the least value of all, and of every round the median."""

    least: float
    rounds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @staticmethod
    def of(rounds: Sequence[Sequence[float]]) -> "Measurement":
        return Measurement(min(min(values) for values in rounds), [statistics.median(values) for values in rounds])

    def times(self, other: "Measurement") -> float:
        """How many times `other` this is: the median over the rounds of their quotients, so that what slows a round
        slows both."""
        return statistics.median(mine / theirs for mine, theirs in zip(self.rounds, other.rounds, strict=True))
