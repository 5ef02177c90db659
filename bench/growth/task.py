"""growth: what lookup, gradient and steps cost as the table and the batch grow."""

from harness import setup
from harness.case import Case, Measure
from harness.contender import Program
from harness.setup import Options

TITLE = "How cost grows with V, d, the places of a batch and its different ids"
NOTES = """\
firstlayer alone, one size at a time changed from V = 50,257, d = 768 and 8,192 places of 4,096 different ids, which are
spread at random over the table and others at each call. Forward is the lookup, backward the compact gradient; SGD and
AdamW are steps fused with the backward pass, AdamW's with its dense semantics: the mean of 100 steps, what they put off
counted in. Quotients are to the first row."""
MEASURES = (
    Measure("forward", "forward", "ms"),
    Measure("backward", "backward", "ms"),
    Measure("sgd", "SGD", "ms"),
    Measure("adamw", "AdamW", "ms"),
)
BASE = {"V": 50257, "d": 768, "places": 8192, "different ids": 4096}
CHANGES = (
    {},
    {"V": 12500},
    {"V": 200000},
    {"d": 192},
    {"d": 3072},
    {"places": 4096},
    {"places": 32768},
    {"different ids": 64},
    {"different ids": 1024},
    {"different ids": 8192},
)


def cases(options: Options) -> list[Case]:
    return [
        Case(
            "sizes",
            "one thread",
            MEASURES,
            [_sizes(change, 20 if options.quick else 100) for change in CHANGES],
            cores=[0],
            rounds=1 if options.quick else 2,
        )
    ]


def _sizes(change: dict[str, int], repeat: int) -> Program:
    name = ", ".join(f"{what} = {value:,}" for what, value in (change or BASE).items())
    sizes = [str(value) for value in (BASE | change).values()]
    return Program(name, [setup.program("firstlayer_growth"), *sizes, "1"], checked=False, repeat=repeat)
