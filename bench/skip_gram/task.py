"""skip-gram: word vectors from a text, by word2vec's objective."""

import re
from pathlib import Path

from harness import setup, texts
from harness.case import Case, Measure
from harness.contender import Program, file_sha256
from harness.setup import BENCH, Options

TITLE = "Skip-gram: an epoch over the words of a text, d = 100"
NOTES = """\
window 5, 5 noise words a neighbour, sample 1e-3, words that occur 5 times, learning rates from 0.025 down to 0.0001, in
both: gensim's `Word2Vec(sg=1, negative=5, window=5, sample=1e-3, vector_size=100)`. Words are the text's letters in
lower case. Nothing is timed unless the loss on the last part of the text, which is not learned from, is the same within
0.1 nats a pair after 3 epochs; gensim's own results are up to 0.08 apart. "sentences" has the words in lists in memory,
"corpus_file" reads the file itself in each epoch, as gensim recommends with several threads. firstlayer has numbered
the words before, once for all epochs; gensim looks them up in each, which is part of its epoch. gensim's threads write
to the tables at once, and its result differs from run to run; firstlayer's is the same for any number of threads. With
two threads "corpus_file" is not compared: its loss was 0.6 nats a pair from that of firstlayer."""
MEASURES = (Measure("epoch", "epoch", "Mwords/s"), Measure("peak", "peak memory", "MB"))
HELD_OUT = 0.02  # of the text
EPOCHS = 3
TOLERANCE = 0.1


def cases(options: Options) -> list[Case]:
    source = texts.head(options, "english", 5 if options.quick else 20)
    train, held_out, words = _write_words(source)
    return [_case(source, train, held_out, words, threads, options) for threads in (1, 2)]


def _write_words(source: texts.Text) -> tuple[Path, Path, int]:
    """The words of the text and of its last part, a line a sentence, and how many words the first has."""
    lines = [" ".join(re.findall("[a-z]+", line.lower())) for line in source.path.read_text().splitlines()]
    if len(lines) < 1000:  # one long line
        words = " ".join(lines).split()
        lines = [" ".join(words[i:i + 20]) for i in range(0, len(words), 20)]
    lines = [line for line in lines if line]
    kept = int(len(lines) * (1 - HELD_OUT))
    train, held_out = (setup.WORK / f"{source.path.stem}-{part}.txt" for part in ("words", "held-out"))
    train.write_text("\n".join(lines[:kept]) + "\n")
    held_out.write_text("\n".join(lines[kept:]) + "\n")
    return train, held_out, sum(len(line.split()) for line in lines[:kept])


def _case(source: texts.Text, train: Path, held_out: Path, words: int, threads: int, options: Options) -> Case:
    work = [str(train), str(held_out), str(EPOCHS), str(threads)]
    gensim = str(BENCH / "skip_gram" / "gensim_skip_gram.py")
    contenders = [Program("firstlayer", [setup.program("firstlayer_skip_gram"), *work], repeat=2)]
    for kind in ("sentences", "corpus_file"):
        checked = threads == 1 or kind == "sentences"
        command = [setup.python(), gensim, kind, *work]
        contenders.append(Program(f"gensim {kind}", command, checked=checked, tolerance=TOLERANCE, repeat=1))
    return Case(
        f"english-{threads}",
        f"{words:,} words of {source.title}, {threads} thread{'s' if threads > 1 else ''}",
        MEASURES,
        contenders,
        cores=range(threads),
        rounds=1 if options.quick else 3,
        work=words,
        sha256=file_sha256(train),
    )
