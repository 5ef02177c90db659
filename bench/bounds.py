"""The speed and memory that firstlayer promises. bench/run exits with 1 when a measurement misses one of them."""

from dataclasses import dataclass

from harness.case import Case


@dataclass(frozen=True)
class Bound:
    task: str
    case: str
    measure: str
    limit: float
    against: str | None = None  # a contender: the limit is then a quotient, otherwise it is in the measure's unit
    more_is_better: bool = False

    def check(self, case: Case) -> "Verdict":
        measure = next(measure for measure in case.measures if measure.key == self.measure)
        ours = case.results[case.contenders[0].name][self.measure]
        what = f"{self.task} {self.case}, {measure.title}"
        if self.against is None:
            value, unit = measure.in_unit(ours.median, case.work), measure.unit
        else:
            theirs = case.results[self.against][self.measure]
            value = theirs.times(ours) if self.more_is_better else ours.times(theirs)
            unit = f"times {'as fast as' if self.more_is_better else 'the time of'} {self.against}"
        kept = value >= self.limit if self.more_is_better else value <= self.limit
        sign = "at least" if self.more_is_better else "at most"
        return Verdict(kept, f"{what}: {value:.3g}, bound {sign} {self.limit:g} {unit}")


@dataclass(frozen=True)
class Verdict:
    kept: bool
    text: str


EMBED_TABLES_MB = (50_257 + 256) * 8 * 4 / 1e6  # the case whole-corpus: V = 50,257, context 256, d = 8

BOUNDS = (
    *(Bound("encode", "english", measure, 60, more_is_better=True) for measure in ("cold", "warm")),
    *(Bound("encode", "english", measure, 3, "tiktoken", more_is_better=True) for measure in ("cold", "warm")),
    Bound("start", "hello", "wall", 10),
    *(Bound("forward", f"{ids}-ids-{n}", "call", 1.3, "copy") for ids in ("same", "new") for n in (1, 2)),
    Bound("embed", "whole-corpus", "peak", 400 + EMBED_TABLES_MB),
)


def check(task: str, cases: list[Case]) -> list[Verdict]:
    """The verdict on each bound of the task whose case was measured."""
    measured = {case.name: case for case in cases}
    return [bound.check(measured[bound.case]) for bound in BOUNDS if bound.task == task and bound.case in measured]
