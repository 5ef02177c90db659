"""encode: text -> ids with GPT-2's vocabulary, on one thread."""

from harness import setup, texts
from harness.case import Case, Measure
from harness.contender import Program
from harness.setup import BENCH, Options
from harness.texts import Text
from harness.vocabulary import write_ranks

TITLE = "Text to ids: GPT-2's vocabulary, one thread"
NOTES = """\
Each process encodes the text once ("cold", its first call) and then again ("warm"). "load" makes the tokenizer;
"memory" is the peak beyond the text. Every contender returns new memory, as its plain call does. Without a corpus,
only made texts are measured. Hugging Face's tokenizers takes part where the text is small."""
MEASURES = (
    Measure("load", "load", "ms", compared=False),
    Measure("cold", "cold", "MB/s"),
    Measure("warm", "warm", "MB/s"),
    Measure("peak", "memory", "MB", compared=False),
)


def cases(options: Options) -> list[Case]:
    megabytes = 8 if options.quick else 40
    heads = {name: texts.head(options, name, megabytes) for name in ("english", "code", "multilingual")}
    small = texts.head(options, "english", 1)
    ranks = str(write_ranks())
    return [
        *(_case(name, text, ranks, options) for name, text in heads.items() if text),
        _case("english-small", small, ranks, options, others=("tiktoken", "gigatoken", "tokenizers")),
        _case("letters", texts.letters(1_000_000), ranks, options),
        _case("ideographs", texts.ideographs(100_000), ranks, options),
    ]


def _case(name: str, text: Text, ranks: str, options: Options, others=("tiktoken", "gigatoken")) -> Case:
    repeat = 2 if options.quick else 3
    ours = Program("firstlayer", [setup.program("firstlayer_encode"), str(text.path)], repeat=repeat)
    theirs = [
        Program(
            other,
            [setup.python(), str(BENCH / "encode" / f"{other}_encode.py"), ranks, str(text.path)],
            env={"PYTHONPATH": str(BENCH), "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
            repeat=repeat,
        )
        for other in others
    ]
    return Case(
        name,
        f"{text.title} ({text.bytes / 1e6:.1f} MB)",
        MEASURES,
        [ours, *theirs],
        cores=[0],
        rounds=3 if options.quick else 5,
        work=text.bytes,
        sha256=text.sha256,
    )
