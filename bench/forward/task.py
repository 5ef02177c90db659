"""forward: ids -> token row + position row, at GPT-2's size."""

from pathlib import Path

from harness import setup
from harness.case import Case, Measure
from harness.contender import Contender, Program, file_sha256
from harness.ids import write_batches
from harness.setup import BENCH, Options

TITLE = "Ids to the input tensor: token + position at (8, 1024) ids, V = 50,257, float32"
NOTES = """\
The tables are drawn from seed 123, so that the bits of every contender's output are compared. "same ids" repeats one
batch, whose rows then lie in the caches; "new ids" takes another batch each call. Ids follow a Zipf distribution.
"copy" shows what the memory allows: it moves as many bytes as the output has, in the fastest way found (named as its
version), from one place with the same ids and from ever other parts of memory as large as the token table with new
ids. "huge pages" means that the allocator asks for them, as firstlayer does for itself. "eager" and "allocated" make
a new output each call, the others write into one. fbgemm looks the tokens up and adds no positions, into a new
output each call: less work, whose bits are therefore not compared."""
MEASURES = (Measure("call", "time", "ms"),)
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
BATCH_IDS = 8 * 1024
BATCHES = 32  # of new ids: their rows exceed the caches


def cases(options: Options) -> list[Case]:
    same = write_batches("forward-same.u32", 1, BATCH_IDS)
    new = write_batches("forward-new.u32", BATCHES, BATCH_IDS)
    gpt2 = [
        _case(kind, ids, 768, threads, options) for kind, ids in (("same", same), ("new", new)) for threads in (1, 2)
    ]
    return gpt2 + [_case("new", new, dim, 1, options) for dim in (256, 12288)]


def _case(kind: str, ids: Path, dim: int, threads: int, options: Options) -> Case:
    repeat = (60 if options.quick else 200) if dim < 4096 else 10
    work = [str(ids), str(dim), str(threads)]
    contenders = [
        Program("firstlayer", [setup.program("firstlayer_forward"), "reused", *work], repeat=repeat),
        Program(
            "copy", [setup.program("streaming_copy"), kind, str(dim), str(threads)], checked=False, repeat=repeat
        ),
        _torch("reused", work, repeat, HUGE_PAGES),
        _fbgemm(work, repeat),
    ]
    if dim == 768:
        contenders[2:2] = [
            Program("firstlayer allocated", [setup.program("firstlayer_forward"), "allocated", *work], repeat=repeat)
        ]
        contenders += [
            _torch("compiled", work, repeat, HUGE_PAGES),
            _torch("eager", work, repeat, HUGE_PAGES),
            _torch("eager", work, repeat, {}),
        ]
    width = "" if dim == 768 else f"-{dim}"
    return Case(
        f"{kind}-ids{width}-{threads}",
        f"{kind} ids each call, d = {dim:,}, {threads} thread{'s' if threads > 1 else ''}",
        MEASURES,
        contenders,
        cores=range(threads),
        rounds=2 if options.quick or dim > 4096 else 5,
        sha256=file_sha256(ids),
    )


def _torch(kind: str, work: list[str], repeat: int, env: dict[str, str]) -> Contender:
    name = f"torch {kind}" + (", huge pages" if env else "")
    script = str(BENCH / "forward" / "torch_forward.py")
    return Program(name, [setup.python(), script, kind, *work], env=env, repeat=repeat)


def _fbgemm(work: list[str], repeat: int) -> Contender:
    script = str(BENCH / "forward" / "fbgemm_forward.py")
    return Program(
        "fbgemm, token only, huge pages", [setup.python(), script, *work], env=HUGE_PAGES, checked=False, repeat=repeat
    )
