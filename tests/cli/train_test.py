"""train: a run from a text to a model, its checkpoints, and going on where it was stopped."""

import json
import os
import re
import signal
import subprocess

import pytest
from tensor_files import read_safetensors, write_safetensors

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


def page_and_report(folder):
    return (folder / "report.html").read_text(), json.loads((folder / "report.json").read_text())


def test_report(firstlayer, run, tmp_path):
    done = firstlayer(*run("--steps", "6", "--evaluate-every", "3", "--output", "model", "--report", "--json"))
    assert done.returncode == 0, done.stderr
    assert "what was learned is in model/report.html" in done.stderr.decode()
    page, report = page_and_report(tmp_path / "model")
    assert list(report) == ["run", "time", "loss", "neighbors", "variants", "word_tests", "moved_rows"]
    assert report["run"]["text"]["training_ids"] == 4631 and report["run"]["flags"]["--seed"] == "123"
    assert report["run"]["network"] == {
        "layers": 1, "heads": 2, "dim": 8, "context": 16, "vocabulary": 50257, "position": "learned", "tied": True,
        "parameters": 403072}
    assert report["time"]["steps"] == 6 and report["time"]["seconds"] > 0
    assert report["loss"]["training"] == list(losses(done.stdout).values())
    held_out = [row for row in lines(done.stdout) if "held_out_loss" in row]
    assert report["loss"]["held_out"] == [
        {"step": row["step"], "loss": row["held_out_loss"], "perplexity": row["held_out_perplexity"]}
        for row in held_out]
    words = [token["text"] for token in report["neighbors"]["tokens"]]
    assert len(words) == 12 and words[:2] == [" the", " was"]
    for token in report["neighbors"]["tokens"]:
        for found in (token["before"], token["after"]):
            scores = [one["score"] for one in found]
            assert len(found) == 8 and scores == sorted(scores, reverse=True)
            assert token["id"] not in [one["id"] for one in found]
    variants = report["variants"]
    assert variants["chance"] == 50257 / 2 and 0 < variants["families"] < variants["tokens"] <= variants["pairs"]
    assert 20000 < variants["before"]["mean"] < 30000  # noise
    assert report["word_tests"]["similarity"]["pairs"] == 353
    assert report["word_tests"]["analogies"]["questions"] == 19544
    assert sum(one["asked"] for one in report["word_tests"]["analogies"]["sections"]) == \
        report["word_tests"]["analogies"]["asked"]
    # The page has the same, in a form that cannot end its element, and asks for nothing else.
    data = re.search('<script type="application/json" id="report">(.*?)</script>', page, re.S).group(1)
    assert "<" not in data and json.loads(data) == report
    assert not re.search(r"https?:|//[a-z]|@import|\burl\(|\bsrc=", page.replace(data, ""))
    assert re.findall(r'\bhref="(.*?)"', page.replace(data, "")) == ["data:,"]
    assert "{{" not in page.replace(data, "")


def test_report_has_the_ledger_of_the_whole_verdict(firstlayer, run, tmp_path):
    flags = ("--steps", "3", "--held-out", "0", "--report")
    assert firstlayer(*run(*flags, "--output", "tied")).returncode == 0
    _, report = page_and_report(tmp_path / "tied")
    moved = report["moved_rows"]
    assert (moved["rows"], moved["met"]["rows"], moved["not_met"]["rows"]) == (50257, 1416, 48841)
    assert (moved["met"]["changed"], moved["not_met"]["changed"]) == (1416, 48841)
    assert "weight decay" in moved["reason"] and "softmax" in moved["reason"]
    assert sum(moved["histogram"]["met"]) == 1416 and sum(moved["histogram"]["not_met"]) == 48841
    assert report["loss"]["held_out"] == []
    # Without a head that is the table, and without decay, only what was looked up moves.
    flags += ("--untied", "--weight-decay", "0", "--output", "untied")
    assert firstlayer(*run(*flags)).returncode == 0
    _, report = page_and_report(tmp_path / "untied")
    moved = report["moved_rows"]
    assert moved["not_met"] == {"rows": 48841, "changed": 0, "median_distance": 0}
    assert 0 < moved["met"]["changed"] < 1416  # three batches
    assert moved["furthest"][0]["distance"] > 0 and "keep every bit" in moved["reason"]


def test_report_shows_the_tokens_that_are_asked_for(firstlayer, run, tmp_path):
    flags = ("--steps", "2", "--output", "model", "--report", "--report-token", " picture", "--report-token", "<")
    assert firstlayer(*run(*flags)).returncode == 0
    page, report = page_and_report(tmp_path / "model")
    assert [token["text"] for token in report["neighbors"]["tokens"]] == [" picture", "<"]
    assert "\\u003c" in page


def test_report_of_a_run_that_was_stopped_is_that_of_one_that_was_not(firstlayer, command, run, tmp_path):
    flags = ("--steps", "100", "--evaluate-every", "15", "--report")
    assert firstlayer(*run(*flags, "--output", "whole", "--threads", "1")).returncode == 0
    # A pipe that holds fewer lines than there are steps: the run waits and cannot end before it is stopped.
    process = subprocess.Popen([command, *run(*flags, "--output", "stopped", "--json")], cwd=tmp_path,
                               stdout=subprocess.PIPE, pipesize=4096, env={"PATH": os.environ["PATH"]})
    assert process.stdout.read(1) == b"{"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    _, part = page_and_report(tmp_path / "stopped")
    assert part["run"]["steps"] == len(part["loss"]["training"]) < 100
    assert part["loss"]["held_out"][-1]["step"] == part["run"]["steps"]
    assert firstlayer(*run(*flags, "--output", "stopped", "--resume")).returncode == 0
    # A run that has ended already makes its report again.
    assert firstlayer(*run(*flags, "--output", "whole", "--threads", "1", "--resume")).returncode == 0
    reports = [page_and_report(tmp_path / name)[1] for name in ("whole", "stopped")]
    times = [report.pop("time")["steps"] for report in reports]
    assert reports[0] == reports[1]
    assert times == [0, 100 - part["run"]["steps"]]


def test_report_begins_with_the_weights_of_a_model(firstlayer, run, tmp_path):
    assert firstlayer(*run("--steps", "2", "--output", "first")).returncode == 0
    flags = ("--steps", "2", "--weights", "first", "--lr", "0", "--output", "second", "--report")
    assert firstlayer(*run(*flags)).returncode == 0
    _, report = page_and_report(tmp_path / "second")
    assert report["moved_rows"]["reason"] == "No row has moved."
    assert all(token["before"] == token["after"] for token in report["neighbors"]["tokens"])


def test_token_table_starts_from_another(firstlayer, fails, run, tmp_path):
    numbers = [(i % 1000 - 500) / 8192 for i in range(50257 * 8)]
    write_safetensors(tmp_path / "table.safetensors", {"wte.weight": ((50257, 8), numbers)})
    flags = ("--steps", "2", "--lr", "0", "--token-table", "table.safetensors", "--output", "model", "--report")
    assert firstlayer(*run(*flags)).returncode == 0
    (table,) = read_safetensors(tmp_path / "table.safetensors").values()
    assert read_safetensors(tmp_path / "model" / "model.safetensors")["transformer.wte.weight"] == table
    assert page_and_report(tmp_path / "model")[1]["moved_rows"]["reason"] == "No row has moved."
    wide = ("train", "--file", "x.txt", "--steps", "2", "--heads", "2", "--token-table", "table.safetensors")
    (tmp_path / "x.txt").write_text("one two three " * 400)
    assert "expected a table (V, d) = (50257, 10) of F32, BF16 or F16, received F32 (50257, 8)" in fails(
        3, *wide, "--dim", "10")


def test_mistakes(firstlayer, fails, run, tmp_path):
    assert "expected fewer steps in --warmup than in --steps = 1, received 1" in fails(2, *run("--steps", "1"))
    text = ("train", "--text", "one two three", "--warmup", "0")
    assert "expected dim = 48 to be a multiple of heads, received heads = 5" in fails(2, *text, "--heads", "5")
    assert "expected ids to train on for 8 windows of T + 1 = 65, received 3" in fails(3, *text)
    assert "--resume goes on from the checkpoints in --output" in fails(2, *run("--resume"))
    assert "expected a number of at least 0, below 1" in fails(2, *run("--held-out", "1"))
    assert "--report is written to --output, which is missing" in fails(2, *run("--report"))
    assert "--report-token says what --report shows" in fails(2, *run("--output", "x", "--report-token", " the"))
    words = fails(3, *run("--output", "x", "--report", "--report-token", "elephantine"))
    assert '"elephantine" is not one token but 3: ' in words
    assert not (tmp_path / "x").exists()
    assert "two kinds of data" in fails(2, *run("--ids", "x.bin"))
    (tmp_path / "odd.bin").write_bytes(b"abc")
    assert "expected 16-bit ids, received 3 bytes" in fails(3, "train", "--ids", "odd.bin", *TINY)
    assert firstlayer(*run("--steps", "3", "--output", "model")).returncode == 0
    assert "holds a run already" in fails(2, *run("--steps", "3", "--output", "model"))
    words = fails(2, *run("--steps", "3", "--output", "model", "--resume", "--lr", "0.1"))
    assert "--lr: the run in model has 0.001, received 0.1" in words
