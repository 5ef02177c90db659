"""step: forward, backward and the optimizer's step of the tables, at GPT-2's size."""

from pathlib import Path

from harness import setup
from harness.case import Case, Measure
from harness.contender import Contender, Program, file_sha256
from harness.ids import write_batches
from harness.setup import BENCH, Options

TITLE = "Tables that learn: forward, backward and step, V = 50,257, float32"
NOTES = """\
A step looks the ids up, takes the gradient of what it gave (B, T, d) and moves the tables. Ids follow a Zipf
distribution and are new at each step, over 1,000 batches. The time is the mean over all steps of a process: for
firstlayer 1,000, with what is put off until the end counted in (60 of the sparse and dense cases, where nothing is),
for the others 40, whose steps all cost the same. Memory is the most that the process held: firstlayer's tables, state,
ids and the fixed gradient it is fed. "huge pages" means that the allocator asks for them, as firstlayer does for
itself. Before anything is timed, the rows of the first 256 ids must be equal after three steps: to the bit for fused
AdamW, to 1e-5 for the others, which add up or take roots in another way.

adamw is torch.optim.AdamW on the token and the position table, weight decay 0.1, with its dense semantics: every row
decays and moves at each step. In adamw-tied an output head has left its own gradient in every row of the token table's.
The others move the rows of the ids alone; they have the token table and no positions, as FBGEMM has."""
MEASURES = (Measure("step", "time of a step", "ms"), Measure("peak", "memory", "MB"))
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
BATCHES = 1000
CLOSE = 1e-5  # a step moves a row by up to 3e-4
FUSED, DEFAULT, COMPILED = "torch fused", "torch default", "torch fused, compiled"


def cases(options: Options) -> list[Case]:
    large = write_batches("step-8192.u32", BATCHES, 8 * 1024)
    small = write_batches("step-256.u32", BATCHES, 8 * 32)
    return [
        *(_adamw("adamw", large, (8, 1024, 768), threads, options) for threads in (1, 2)),
        _adamw("adamw", large, (8, 1024, 256), 1, options),
        _adamw("adamw", small, (8, 32, 768), 1, options),
        *(_adamw("adamw-tied", large, (8, 1024, 768), threads, options) for threads in (1, 2)),
        *(
            _sparse(kind, large, (8, 1024, 768), threads, options)
            for kind in ("sparse-adam", "sgd", "rowwise-adagrad", "adagrad")
            for threads in (1, 2)
        ),
        _sparse("sgd", large, (8, 1024, 256), 1, options),
    ]


def _adamw(kind: str, ids: Path, shape: tuple[int, int, int], threads: int, options: Options) -> Case:
    tied = kind == "adamw-tied"
    contenders = [
        _firstlayer(kind, ids, shape, threads, 60 if tied else 200 if options.quick else BATCHES),
        _torch(FUSED, "adamw-tied" if tied else "adamw-fused", ids, shape, threads),
    ]
    if not tied:
        contenders.append(_torch(DEFAULT, "adamw", ids, shape, threads, tolerance=CLOSE))
        if shape == (8, 1024, 768) and threads == 1:
            contenders.append(_torch(COMPILED, "adamw-compiled", ids, shape, threads, tolerance=CLOSE))
    return _case(kind, ids, shape, threads, contenders, options)


def _sparse(kind: str, ids: Path, shape: tuple[int, int, int], threads: int, options: Options) -> Case:
    theirs = (
        _torch("torch SparseAdam", kind, ids, shape, threads, tolerance=CLOSE)
        if kind == "sparse-adam"
        else _program("fbgemm", "fbgemm_step.py", kind, ids, shape, threads, tolerance=CLOSE)
    )
    return _case(kind, ids, shape, threads, [_firstlayer(kind, ids, shape, threads, 60), theirs], options)


def _case(
    kind: str, ids: Path, shape: tuple[int, int, int], threads: int, contenders: list[Contender], options: Options
) -> Case:
    batch, length, dim = shape
    names = [kind, *([] if dim == 768 else [str(dim)]), *([] if length == 1024 else [f"{batch * length}-ids"])]
    return Case(
        "-".join([*names, str(threads)]),
        f"{kind}, {batch} x {length:,} ids, d = {dim}, {threads} thread{'s' if threads > 1 else ''}",
        MEASURES,
        contenders,
        cores=range(threads),
        rounds=1 if options.quick else 3,
        sha256=file_sha256(ids),
    )


def _firstlayer(kind: str, ids: Path, shape: tuple[int, int, int], threads: int, steps: int) -> Contender:
    work = [kind, str(ids), *map(str, shape), str(threads)]
    return Program("firstlayer", [setup.program("firstlayer_step"), *work], repeat=steps)


def _torch(name: str, kind: str, ids: Path, shape, threads: int, tolerance: float = 0) -> Contender:
    return _program(name, "torch_step.py", kind, ids, shape, threads, tolerance)


def _program(name: str, script: str, kind: str, ids: Path, shape, threads: int, tolerance: float) -> Contender:
    command = [setup.python(), str(BENCH / "step" / script), kind, str(ids), *map(str, shape), str(threads)]
    return Program(f"{name}, huge pages", command, env=HUGE_PAGES, repeat=40, tolerance=tolerance)
