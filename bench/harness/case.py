"""A case: contenders that do the same work, checked for equality, then run in turn."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import process
from harness.contender import Contender, Measurement, farthest


@dataclass(frozen=True)
class Measure:
    """A column of the table. `unit` is "MB/s", "Mwords/s" or "tokens/s" (of the case's `work`), "ms", "s", "MB" or
    "nats"."""

    key: str
    title: str
    unit: str
    compared: bool = True  # show how many times firstlayer's it is

    def in_unit(self, value: float, work: int) -> float:
        """From seconds, bytes or nats to the unit."""
        if self.unit in ("MB/s", "Mwords/s", "tokens/s"):
            return work / value * (1 if self.unit == "tokens/s" else 1e-6)
        return value * {"ms": 1e3, "s": 1, "MB": 1e-6, "nats": 1}[self.unit]


@dataclass
class Case:
    name: str
    title: str  # what is measured, on what input
    measures: Sequence[Measure]
    contenders: Sequence[Contender]  # the first is firstlayer, which the others are compared with
    cores: Sequence[int]
    rounds: int
    work: int = 0  # bytes or words that one call handles, for rates
    sha256: str = ""  # of the input
    output: Path | None = None  # the file that contenders write, removed at the end
    results: dict[str, dict[str, Measurement]] = field(default_factory=dict)

    def run(self) -> None:
        """Refuses to time anything unless the outputs are equal; then every contender in turn, `rounds` times."""
        with process.pinned(self.cores):
            self._check_equal()
            samples = {contender.name: [] for contender in self.contenders}
            for number in range(self.rounds):
                for contender in self.contenders:
                    progress(f"{self.name}: round {number + 1} of {self.rounds}, {contender.name}")
                    samples[contender.name].append(contender.sample())
        progress("")
        if self.output:
            self.output.unlink()
        self.results = {
            name: {measure.key: Measurement.of([run[measure.key] for run in runs]) for measure in self.measures}
            for name, runs in samples.items()
        }

    def _check_equal(self) -> None:
        checked = [contender for contender in self.contenders if contender.checked]
        if not checked:
            return
        reference, *others = checked
        progress(f"{self.name}: output of {reference.name}")
        expected = reference.digest()
        for contender in others:
            progress(f"{self.name}: output of {contender.name}")
            if contender.tolerance:
                self._check_close(reference, contender)
                continue
            received = contender.digest()
            if received != expected:
                raise RuntimeError(
                    f"[{self.name}] expected the output of {contender.name} to equal that of {reference.name} "
                    f"(SHA-256 {expected[:16]}), received {received[:16]}: nothing was timed"
                )

    def _check_close(self, reference: Contender, contender: Contender) -> None:
        distance = farthest(reference.output(), contender.output())
        if not distance <= contender.tolerance:
            raise RuntimeError(
                f"[{self.name}] expected the output of {contender.name} within {contender.tolerance:g} of that of "
                f"{reference.name}, received {distance:g} at the farthest: nothing was timed"
            )

    def to_json(self) -> dict:
        """What is kept in bench/results: seconds and bytes, as harness.table shows them."""
        ours = self.results[self.contenders[0].name]
        return {
            "name": self.name,
            "title": self.title,
            "cores": list(self.cores),
            "work": self.work,
            "sha256": self.sha256,
            "measures": [vars(measure) for measure in self.measures],
            "contenders": [
                {
                    "name": contender.name,
                    "version": contender.version,
                    "measured": {
                        key: {
                            "median": measured.median,
                            "least": measured.least,
                            "times_ours": measured.times(ours[key]),
                            "rounds": measured.rounds,
                        }
                        for key, measured in self.results[contender.name].items()
                    },
                }
                for contender in self.contenders
            ],
        }


def progress(text: str) -> None:
    """One line on a terminal's standard error, each over the last."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
