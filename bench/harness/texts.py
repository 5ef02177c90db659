"""The texts that tasks encode: heads of corpora, or prose made from what the repository ships.

Files are written piece by piece: what the harness itself has held counts in the peak memory of the programs it starts.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.contender import file_sha256
from harness.setup import ROOT, WORK, Options

PROSE = ROOT / "tests" / "data" / "text" / "the-verdict.txt"
MADE_MEGABYTES = 8  # of prose where there is no corpus
NOT_ASCII = bytes(range(0x80, 0x100))


@dataclass(frozen=True)
class Text:
    path: Path
    title: str

    @property
    def bytes(self) -> int:
        return self.path.stat().st_size

    @property
    def sha256(self) -> str:
        return file_sha256(self.path)


def corpus(options: Options, name: str) -> Text | None:
    """A whole corpus."""
    path = options.corpus / f"{name}.txt" if options.corpus else None
    return Text(path, f"{name}.txt") if path and path.exists() else None


def head(options: Options, name: str, megabytes: int) -> Text | None:
    """The first `megabytes` of a corpus, cut between two characters; None where there is no such corpus. English is
    always there: without a corpus it is made from the prose of the tests, and the title says so."""
    whole = corpus(options, name)
    if whole:
        pieces = first_bytes(whole.path, megabytes * 1_000_000)
        return _write(pieces, f"{name}-{megabytes}MB.txt", f"the first {megabytes} MB of {name}.txt")
    if name == "english":
        megabytes = min(megabytes, MADE_MEGABYTES)
        title = f"{megabytes} MB of words drawn from {PROSE.name}, one in ten misspelt (no corpus was given)"
        return _write(_misspelt_words(megabytes * 1_000_000), f"made-english-{megabytes}MB.txt", title)
    return None


def letters(count: int) -> Text:
    """One letter `count` times: a single piece for the merge."""
    return _write([b"a" * count], "letters.txt", f"{count:,} equal letters")


def ideographs(count: int) -> Text:
    """Random CJK characters without a space: a single piece, of rare tokens."""
    chosen = random.Random(0).choices(range(0x4E00, 0x9FA6), k=count)
    text = "".join(map(chr, chosen)).encode()
    return _write([text], "ideographs.txt", f"{count:,} CJK characters without a space")


def first_bytes(path: Path, count: int) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while count > 0 and (piece := file.read(min(count, 1 << 20))):
            count -= len(piece)
            if count == 0:
                piece = piece.rstrip(NOT_ASCII)  # the last character may be cut
            yield piece


def _misspelt_words(count: int) -> Iterator[bytes]:
    """Words of the prose at random, one in ten with two letters swapped, so that pieces do not merely repeat."""
    draw = random.Random(0)
    words = PROSE.read_text(encoding="utf-8").split(" ")
    while count > 0:
        word = draw.choice(words)
        if len(word) > 1 and draw.random() < 0.1:
            at = draw.randrange(len(word) - 1)
            first, second = word[at], word[at + 1]
            word = word[:at] + second + first + word[at:][2:]
        piece = f"{word} ".encode()
        count -= len(piece)
        yield piece


def _write(pieces: Iterable[bytes], name: str, title: str) -> Text:
    path = WORK / name
    with open(path, "wb") as file:
        file.writelines(pieces)
    return Text(path, title)
