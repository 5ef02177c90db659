"""forward: ids -> token row + position row, at GPT-2's size."""

import array
import itertools
import random
from pathlib import Path

from harness import setup
from harness.case import Case, Measure
from harness.contender import Contender, Program, file_sha256
from harness.setup import BENCH, Options

TITLE = "Ids to the input tensor: token + position at (8, 1024) ids, V = 50,257, d = 768, float32"
NOTES = """\
The tables are drawn from seed 123, so that the bits of every contender's output are compared. "same ids" repeats one
batch, whose rows then lie in the caches; "new ids" takes another batch each call. Ids follow a Zipf distribution.
"copy" shows what the memory allows: it moves as many bytes as the output has, in the fastest way found (named as its
version), from one place with the same ids and from ever other parts of memory as large as the token table with new
ids. "huge pages" means that the allocator asks for them, as firstlayer does for itself. "eager" and "allocated" make
a new output each call, the others write into one."""
MEASURES = (Measure("call", "time", "ms"),)
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
VOCABULARY, BATCH_IDS = 50257, 8 * 1024
BATCHES = 32  # of new ids: their rows exceed the caches


def cases(options: Options) -> list[Case]:
    ids = {"same": _write_ids("forward-same.u32", 1), "new": _write_ids("forward-new.u32", BATCHES)}
    return [_case(kind, path, threads, options) for kind, path in ids.items() for threads in (1, 2)]


def _case(kind: str, ids: Path, threads: int, options: Options) -> Case:
    repeat = 60 if options.quick else 200
    return Case(
        f"{kind}-ids-{threads}",
        f"{kind} ids each call, {threads} thread{'s' if threads > 1 else ''}",
        MEASURES,
        [
            _firstlayer("reused", ids, threads, repeat),
            Program("copy", [setup.program("streaming_copy"), kind, str(threads)], checked=False, repeat=repeat),
            _firstlayer("allocated", ids, threads, repeat),
            _torch("reused", ids, threads, repeat, HUGE_PAGES),
            _torch("compiled", ids, threads, repeat, HUGE_PAGES),
            _torch("eager", ids, threads, repeat, HUGE_PAGES),
            _torch("eager", ids, threads, repeat, {}),
        ],
        cores=range(threads),
        rounds=2 if options.quick else 5,
        sha256=file_sha256(ids),
    )


def _firstlayer(kind: str, ids: Path, threads: int, repeat: int) -> Contender:
    name = "firstlayer" if kind == "reused" else f"firstlayer {kind}"
    return Program(name, [setup.program("firstlayer_forward"), kind, str(ids), str(threads)], repeat=repeat)


def _torch(kind: str, ids: Path, threads: int, repeat: int, env: dict[str, str]) -> Contender:
    name = f"torch {kind}" + (", huge pages" if env else "")
    script = str(BENCH / "forward" / "torch_forward.py")
    return Program(name, [setup.python(), script, kind, str(ids), str(threads)], env=env, repeat=repeat)


def _write_ids(name: str, batches: int) -> Path:
    """Ids whose frequency falls as 1 / rank, with ranks in random order over the vocabulary."""
    draw = random.Random(0)
    ids = draw.sample(range(VOCABULARY), VOCABULARY)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    path = setup.WORK / name
    path.write_bytes(array.array("I", draw.choices(ids, cum_weights=weights, k=batches * BATCH_IDS)).tobytes())
    return path
