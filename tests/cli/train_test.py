"""train: a run from a text to a model, its checkpoints, and going on where it was stopped."""

import json
import os
import signal
import subprocess

import pytest
from tensor_files import read_safetensors

TINY = ("--layers", "1", "--heads", "2", "--dim", "8", "--batch-size", "4", "--context", "16", "--warmup", "1")


@pytest.fixture
def run(verdict):
    """The arguments of a run on The Verdict."""
    return lambda *flags: ("train", "--file", str(verdict), *TINY, *flags)


def lines(output):
    return [json.loads(line) for line in output.splitlines()]


def losses(output):
    return {line["step"]: line["loss"] for line in lines(output) if "loss" in line}


def test_metrics(firstlayer, run):
    done = firstlayer(*run("--steps", "6", "--evaluate-every", "3", "--sample-every", "6", "--json", "--quiet"))
    assert (done.returncode, done.stderr) == (0, b"")
    rows = lines(done.stdout)
    assert [row["step"] for row in rows if "loss" in row] == [1, 2, 3, 4, 5, 6]
    assert [row["step"] for row in rows if "held_out_loss" in row] == [3, 6]
    assert all(10.5 < row["loss"] < 11.2 for row in rows if "loss" in row)  # ln 50,257 is 10.82
    assert [row["step"] for row in rows if "sample" in row] == [6]
    assert all(row["tokens_per_second"] > 0 and row["gradient_norm"] > 0 for row in rows if "loss" in row)


def test_words(firstlayer, run):
    done = firstlayer(*run("--steps", "4", "--evaluate-every", "2"))
    assert done.returncode == 0
    first, last = done.stdout.decode().splitlines()
    assert first.startswith("step      2  loss 10.") and "  held out 10." in first and "  perplexity " in first
    assert last.startswith("step      4  loss ")
    assert "4,631 ids to train on, 514 held out; 1 layers, 2 heads, d = 8" in done.stderr.decode()


def test_resumes_to_the_bit(firstlayer, run, tmp_path):
    flags = ("--steps", "8", "--json", "--quiet", "--save-every", "3", "--evaluate-every", "4")
    whole = firstlayer(*run(*flags, "--output", "whole"))
    assert whole.returncode == 0, whole.stderr
    # The run that is stopped has only its checkpoint of step 6 left.
    stopped = firstlayer(*run(*flags, "--output", "stopped", "--keep", "3"))
    assert stopped.returncode == 0
    checkpoints = tmp_path / "stopped" / "checkpoints"
    assert sorted(entry.name for entry in checkpoints.iterdir()) == ["step-00000003", "step-00000006", "step-00000008"]
    for file in (checkpoints / "step-00000008").iterdir():
        file.unlink()
    (checkpoints / "step-00000008").rmdir()
    (tmp_path / "stopped" / "model.safetensors").unlink()
    resumed = firstlayer(*run(*flags, "--output", "stopped", "--resume"))
    assert resumed.returncode == 0, resumed.stderr
    assert losses(resumed.stdout) == {step: loss for step, loss in losses(whole.stdout).items() if step > 6}
    assert (tmp_path / "whole/model.safetensors").read_bytes() == (tmp_path / "stopped/model.safetensors").read_bytes()


def test_the_model_writes_a_text(firstlayer, ok, run):
    assert firstlayer(*run("--steps", "2", "--output", "model")).returncode == 0
    text = ok("generate", "--weights", "model", "--text", "I HAD", "--tokens", "3", "--seed", "1")
    assert text.startswith(b"I HAD")
    assert ok("generate", "--weights", "model/checkpoints", "--text", "I HAD", "--tokens", "3", "--seed", "1") == text


def test_a_signal_ends_the_run_with_a_checkpoint(command, run, tmp_path):
    process = subprocess.Popen([command, *run("--steps", "1000000", "--output", "model", "--json")], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"]})
    assert process.stdout.read(1) == b"{"  # a step was taken, so the signal will be heard
    process.send_signal(signal.SIGTERM)
    _, words = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "; --resume goes on" in words.decode()
    assert len(list((tmp_path / "model" / "checkpoints").iterdir())) == 1


def test_ids_instead_of_a_text(firstlayer, ok, run, verdict):
    for name in ("ids.bin", "ids.npy"):
        ok("encode", "--file", verdict, "--output", name, "--quiet")
        by_ids = firstlayer("train", "--ids", name, *TINY, "--steps", "2", "--json", "--quiet")
        assert losses(by_ids.stdout) == losses(firstlayer(*run("--steps", "2", "--json", "--quiet")).stdout)


def test_tables_only(firstlayer, run, tmp_path):
    for name, flags in (("start", ("--lr", "0")), ("moved", ())):
        assert firstlayer(*run("--steps", "2", "--tables-only", *flags, "--output", name)).returncode == 0
    start, moved = (read_safetensors(tmp_path / name / "model.safetensors") for name in ("start", "moved"))
    assert {name for name in start if start[name] != moved[name]} == {
        "transformer.wte.weight", "transformer.wpe.weight"}


def test_mistakes(firstlayer, fails, run, tmp_path):
    assert "expected fewer steps in --warmup than in --steps = 1, received 1" in fails(2, *run("--steps", "1"))
    text = ("train", "--text", "one two three", "--warmup", "0")
    assert "expected dim = 48 to be a multiple of heads, received heads = 5" in fails(2, *text, "--heads", "5")
    assert "expected ids to train on for 8 windows of T + 1 = 65, received 3" in fails(3, *text)
    assert "--resume goes on from the checkpoints in --output" in fails(2, *run("--resume"))
    assert "expected a number of at least 0, below 1" in fails(2, *run("--held-out", "1"))
    assert "two kinds of data" in fails(2, *run("--ids", "x.bin"))
    (tmp_path / "odd.bin").write_bytes(b"abc")
    assert "expected 16-bit ids, received 3 bytes" in fails(3, "train", "--ids", "odd.bin", *TINY)
    assert firstlayer(*run("--steps", "3", "--output", "model")).returncode == 0
    assert "holds a run already" in fails(2, *run("--steps", "3", "--output", "model"))
    words = fails(2, *run("--steps", "3", "--output", "model", "--resume", "--lr", "0.1"))
    assert "--lr: the run in model has 0.001, received 0.1" in words
