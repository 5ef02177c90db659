"""train: a step of GPT-2's network, forward, backward and AdamW, at three sizes."""

from harness import setup
from harness.case import Case, Measure
from harness.contender import Contender, Program, file_sha256
from harness.ids import write_batches
from harness.setup import BENCH, Options

TITLE = "A training step of GPT-2, V = 50,257, context 1,024, tied head, float32"
NOTES = """\
A step goes forward, backward and moves every parameter by AdamW, matrices with a weight decay of 0.1. Parameters are
drawn from seed 123, ids follow a Zipf distribution and are new at each step. nano has 3 layers, 3 heads and d = 48,
micro 4, 4 and 128, gpt2 12, 12 and 768 (124 million parameters). "clip" clips the gradient to a global norm of 1, for
which all of it must be there before anything moves. The time is that of a step, after two to warm up; memory is the
most that the process held, for PyTorch with about 220 MB of its own code. "torch fused" is eager PyTorch with
AdamW(fused=True). "products" is no step: it is the time that the matrix products alone would need if all ran as fast as
firstlayer's kernel does in the first-level cache. Before anything is timed, the losses of five steps must be equal to
1e-4."""
MEASURES = (
    Measure("step", "time of a step", "ms"),
    Measure("rate", "rate", "tokens/s", compared=False),
    Measure("peak", "memory", "MB"),
)
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
SIZES = {"nano": (8, 64), "micro": (8, 64), "gpt2": (2, 64)}
BATCHES = 64
CLOSE = 1e-4


def cases(options: Options) -> list[Case]:
    return [
        _case(preset, threads, clip, options)
        for preset in SIZES
        for threads in (1, 2)
        for clip in (False, True)
    ]


def _case(preset: str, threads: int, clip: bool, options: Options) -> Case:
    batch, length = SIZES[preset]
    ids = write_batches(f"train-{batch * (length + 1)}.u32", BATCHES, batch * (length + 1))
    work = [preset, str(ids), str(batch), str(length), str(threads), "clip" if clip else "free"]
    repeat = {"nano": 30, "micro": 15, "gpt2": 5}[preset] // (2 if options.quick else 1)
    contenders: list[Contender] = [Program("firstlayer", [setup.program("firstlayer_train"), *work], repeat=repeat)]
    script = [setup.python(), str(BENCH / "train" / "torch_train.py")]
    contenders.append(Program("torch fused", [*script, *work], env=HUGE_PAGES, repeat=repeat, tolerance=CLOSE))
    if not clip:
        products = [setup.program("firstlayer_train"), f"products-{preset}", *work[1:]]
        contenders.append(Program("products", products, checked=False, repeat=repeat))
    return Case(
        "-".join([preset, *(["clip"] if clip else []), str(threads)]),
        f"{preset}, {batch} x {length} ids{', clipped' if clip else ''}, {threads} thread{'s' if threads > 1 else ''}",
        MEASURES,
        contenders,
        cores=range(threads),
        rounds=1 if options.quick else 3,
        work=batch * length,
        sha256=file_sha256(ids),
    )
