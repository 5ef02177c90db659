"""embed: a text file -> a file with its input embeddings, by the command."""

import hashlib
import json
import struct
from pathlib import Path

from harness import setup, texts
from harness.case import Case, Measure
from harness.contender import Command
from harness.setup import BENCH, Options
from harness.texts import Text
from harness.vocabulary import write_ranks

TITLE = "A text file to a file of input embeddings: `firstlayer embed`"
NOTES = """\
Timed from outside the process, writing to the disk included; memory is the most that was resident. The output holds
`input_embeddings`, `inputs` and `targets`, batch 8, stride equal to the context, tables from seed 123. "torch" is the
lessons' way: tiktoken, Dataset, DataLoader, two nn.Embedding. It keeps everything in memory, so it gets a smaller
text."""
MEASURES = (Measure("wall", "time", "s"), Measure("peak", "memory", "MB"))
THREADS = 2


def cases(options: Options) -> list[Case]:
    small = texts.head(options, "english", 1)
    middle = texts.head(options, "english", 4 if options.quick else 20)
    whole = None if options.quick else texts.corpus(options, "english")
    return [
        _case("lesson", small, options, dim=256, context=4, with_torch=True),
        _case("long-windows", middle, options, dim=8, context=256, with_torch=True),
        *([_case("whole-corpus", whole, options, dim=8, context=256, with_torch=False)] if whole else []),
    ]


def _case(name: str, text: Text, options: Options, *, dim: int, context: int, with_torch: bool) -> Case:
    output = setup.WORK / "embed.safetensors"

    def digest(_: bytes) -> str:
        return _tensor_sha256(output, "input_embeddings")

    sizes = ["--dim", str(dim), "--context", str(context), "--stride", str(context), "--batch-size", "8"]
    files = ["--file", str(text.path), "--output", str(output)]
    ours = Command(
        "firstlayer",
        [setup.command(), "embed", "--quiet", *sizes, "--seed", "123", *files],
        version=setup.command_version(),
        output_digest=digest,
    )
    script = str(BENCH / "embed" / "torch_lesson.py")
    torch = Command(
        "torch",
        [setup.python(), script, str(write_ranks()), str(text.path), str(dim), str(context), str(THREADS), str(output)],
        env={"PYTHONPATH": str(BENCH)},
        version=setup.pinned_version("torch"),
        output_digest=digest,
    )
    return Case(
        name,
        f"{text.title} ({text.bytes / 1e6:.1f} MB) at d = {dim}, context {context}, {THREADS} threads",
        MEASURES,
        [ours, torch] if with_torch else [ours],
        cores=range(THREADS),
        rounds=2 if options.quick else 3,
        work=text.bytes,
        sha256=text.sha256,
        output=output,
    )


def _tensor_sha256(path: Path, name: str) -> str:
    """Of one tensor's bytes in a safetensors file, read in pieces."""
    with open(path, "rb") as file:
        (header_bytes,) = struct.unpack("<Q", file.read(8))
        begin, end = json.loads(file.read(header_bytes))[name]["data_offsets"]
        file.seek(8 + header_bytes + begin)
        sha256 = hashlib.sha256()
        while begin < end and (piece := file.read(min(end - begin, 1 << 20))):
            begin += len(piece)
            sha256.update(piece)
        return sha256.hexdigest()
