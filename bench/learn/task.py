"""learn: a whole training run, its loss on held-out text beside PyTorch's."""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

from harness import process, setup, texts
from harness.case import Case, Measure
from harness.contender import Contender, Sample
from harness.setup import BENCH, Options

TITLE = "A training run: `firstlayer train --preset micro`"
NOTES = """\
Start, order of the batches, rates, clipping and AdamW are the same in both, for three seeds: 8 x 64 ids a step, a
learning rate that rises to 1e-3 and falls in half a cosine, the last tenth of the text held out. The losses on it,
four points of each run, must be equal to 0.1 nats; "held out" is the last of them. Runs drift apart in float32, for
AdamW's first steps go by the signs of gradients near 0, and no two libraries round alike. The time is that of the whole
process, reading and encoding the text included for firstlayer, which PyTorch gets as ids."""
MEASURES = (Measure("wall", "time", "s"), Measure("loss", "held out", "nats"))
PRESET, CONTEXT, BATCH, POINTS, THREADS = "micro", 64, 8, 4, 2
CLOSE = 0.1


@dataclass
class Run(Contender):
    """A run that prints its held-out losses as JSON lines. It is taken once, for the comparison and for the time."""

    losses: list[float] = field(default_factory=list)
    seconds: float = 0

    def digest(self) -> str:
        return self.output().hex()

    def output(self) -> bytes:
        if not self.losses:
            done = process.run(self.command, self.env)
            lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
            self.losses = [line["held_out_loss"] for line in lines if "held_out_loss" in line]
            self.seconds = done.seconds
        return struct.pack(f"{len(self.losses)}f", *self.losses)

    def sample(self) -> Sample:
        self.output()
        return {"wall": [self.seconds], "loss": self.losses[-1:]}


def cases(options: Options) -> list[Case]:
    steps = 60 if options.quick else 300
    text = texts.corpus(options, "tinyshakespeare")
    path, title = (text.path, text.title) if text else (texts.PROSE, texts.PROSE.name)
    ids = setup.WORK / "learn.npy"
    process.run([setup.command(), "encode", "--quiet", "--file", str(path), "--output", str(ids)])
    return [_case(path, title, ids, seed, steps) for seed in ((1,) if options.quick else (1, 2, 3))]


def _case(text: Path, title: str, ids: Path, seed: int, steps: int) -> Case:
    every = steps // POINTS
    sizes = ["--preset", PRESET, "--context", str(CONTEXT), "--batch-size", str(BATCH), "--steps", str(steps)]
    ours = [setup.command(), "train", "--quiet", "--json", "--file", str(text), *sizes, "--evaluate-every", str(every),
            "--seed", str(seed), "--threads", str(THREADS)]
    script = str(BENCH / "learn" / "torch_learn.py")
    numbers = map(str, (CONTEXT, BATCH, steps, every, seed, THREADS))
    torch = [setup.python(), script, str(ids), PRESET, *numbers]
    return Case(
        f"seed-{seed}",
        f"{steps} steps on {title}, seed {seed}, {THREADS} threads",
        MEASURES,
        [
            Run("firstlayer", ours, version=setup.command_version()),
            Run("torch fused", torch, version=setup.pinned_version("torch"), tolerance=CLOSE),
        ],
        cores=range(THREADS),
        rounds=1,
        sha256=texts.file_sha256(text),
    )
