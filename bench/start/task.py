"""start: a word encoded by a program that has just started."""

from harness import setup
from harness.case import Case, Measure
from harness.contender import Command
from harness.setup import BENCH, Options
from harness.vocabulary import write_ranks

TITLE = "One word from the shell: start to exit"
NOTES = "Timed from outside the process. tiktoken reads its vocabulary from a file, as it does from its cache."
MEASURES = (Measure("wall", "time", "ms"),)


def cases(options: Options) -> list[Case]:
    command = [setup.command(), "encode", "--text", "hi"]
    ours = Command("firstlayer", command, version=setup.command_version(), repeat=50)
    theirs = Command(
        "tiktoken",
        [setup.python(), str(BENCH / "start" / "tiktoken_start.py"), str(write_ranks()), "hi"],
        env={"PYTHONPATH": str(BENCH)},
        version=setup.pinned_version("tiktoken"),
        repeat=5,
    )
    rounds = 3 if options.quick else 5
    return [Case("hello", "`firstlayer encode --text hi`", MEASURES, [ours, theirs], cores=[0], rounds=rounds)]
