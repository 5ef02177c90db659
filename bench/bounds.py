"""The speed and memory that firstlayer promises. bench/run exits with 1 when a measurement misses one of them."""

from dataclasses import dataclass

from harness.case import Case
from harness.contender import Measurement


@dataclass(frozen=True)
class Bound:
    task: str
    case: str
    measure: str
    limit: float
    against: str | None = None  # a contender: the limit is then a quotient, otherwise it is in the measure's unit
    more_is_better: bool = False
    against_case: str | None = None  # a case: the quotient is then with firstlayer's own measurement there

    def check(self, cases: dict[str, Case]) -> "Verdict":
        case = cases[self.case]
        measure = next(measure for measure in case.measures if measure.key == self.measure)
        ours = _ours(case)[self.measure]
        what = f"{self.task} {self.case}, {measure.title}"
        if self.against_case is not None:
            value = ours.times(_ours(cases[self.against_case])[self.measure])
            unit = f"times that of {self.against_case}"
        elif self.against is None:
            value, unit = measure.in_unit(ours.median, case.work), measure.unit
        else:
            theirs = case.results[self.against][self.measure]
            value = theirs.times(ours) if self.more_is_better else ours.times(theirs)
            that = "the time" if measure.unit in ("ms", "s") else "that"
            unit = f"times {'as fast as' if self.more_is_better else f'{that} of'} {self.against}"
        kept = value >= self.limit if self.more_is_better else value <= self.limit
        sign = "at least" if self.more_is_better else "at most"
        return Verdict(kept, f"{what}: {value:.3g}, bound {sign} {self.limit:g} {unit}")


def _ours(case: Case) -> dict[str, Measurement]:
    return case.results[case.contenders[0].name]


@dataclass(frozen=True)
class Verdict:
    kept: bool
    text: str


EMBED_TABLES_MB = (50_257 + 256) * 8 * 4 / 1e6  # the case whole-corpus: V = 50,257, context 256, d = 8
# The case adamw-1: both tables and AdamW's two moments of each, the output, the gradient and those of the positions, a
# file of 1,000 batches of ids; 16 MB for the program and what it notes of each row.
ADAMW_MB = (3 * (50_257 + 1024) * 768 + (2 * 8 * 1024 + 1024) * 768 + 2**20 + 1000 * 8192) * 4 / 1e6 + 16

BOUNDS = (
    *(Bound("encode", "english", measure, 60, more_is_better=True) for measure in ("cold", "warm")),
    *(Bound("encode", "english", measure, 3, "tiktoken", more_is_better=True) for measure in ("cold", "warm")),
    Bound("start", "hello", "wall", 10),
    *(Bound("forward", f"same-ids-{n}", "call", 1 / 0.95, "copy") for n in (1, 2)),
    *(Bound("forward", f"new-ids-{n}", "call", 1 / 0.8, "copy") for n in (1, 2)),
    *(Bound("forward", f"new-ids-{dim}-1", "call", 1 / 0.8, "copy") for dim in (256, 12288)),
    *(
        Bound("forward", f"same-ids-{n}", "call", 1 / times, other)
        for n in (1, 2)
        for other, times in (
            ("torch eager, huge pages", 2.5),
            ("torch compiled, huge pages", 1.4),
            ("fbgemm, token only, huge pages", 1.4),
        )
    ),
    *(
        Bound("step", f"{case}-1", "step", 1 / times, f"{other}, huge pages")
        for case, other, times in (
            ("adamw", "torch fused", 3.3),
            ("adamw", "torch default", 9),
            ("adamw-256-ids", "torch fused", 8),
            ("adamw-tied", "torch fused", 2.2),
            ("sparse-adam", "torch SparseAdam", 4.5),
            ("sgd", "fbgemm", 1.5),
            ("rowwise-adagrad", "fbgemm", 1.3),
            ("adagrad", "fbgemm", 3),
        )
    ),
    *(
        Bound("step", f"{case}-2", "step", 1 / 1.6, against_case=f"{case}-1")
        for case in ("adamw", "adamw-tied", "sparse-adam", "sgd", "rowwise-adagrad", "adagrad")
    ),
    Bound("step", "adamw-1", "peak", ADAMW_MB),
    *(
        Bound("skip-gram", f"english-{n}", "epoch", 1 / 1.5, f"gensim {kind}")
        for n in (1, 2)
        for kind in ("sentences", "corpus_file")
    ),
    *(
        Bound("train", f"{preset}{clip}-{n}", measure, limit, "torch fused")
        for preset, times, share in (("nano", 2.7, 1 / 3), ("micro", 1.9, 1 / 3), ("gpt2", 1.4, 0.65))
        for n in (1, 2)
        for clip in ("", "-clip")
        for measure, limit in (("step", 1 / times), ("peak", share))
        if measure == "step" or (n == 1 and not clip)
    ),
    *(Bound("learn", f"seed-{seed}", "loss", 1.01, "torch fused") for seed in (1, 2, 3)),
    Bound("embed", "whole-corpus", "peak", 400 + EMBED_TABLES_MB),
    Bound("view", "one-1", "call", 1 / 3, "faiss"),
    Bound("view", "one-1", "call", 1 / 6, "numpy"),
    Bound("view", "batch-1", "call", 1, "faiss"),
    Bound("view", "open-10gb", "call", 10),
    Bound("view", "open-10gb", "touched", 8),
)


def check(task: str, cases: list[Case]) -> list[Verdict]:
    """The verdict on each bound of the task whose case was measured."""
    measured = {case.name: case for case in cases}
    return [bound.check(measured) for bound in BOUNDS if bound.task == task and bound.case in measured]
