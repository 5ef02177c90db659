"""skip-gram: from a text to word vectors or a table of tokens, and what the other commands make of them."""

import json
import os
import random
import signal
import subprocess

import pytest
from tensor_files import read_safetensors, write_safetensors

CAT = "cat runs home . the cat sleeps at home . a dog runs home . the dog sleeps at home .\n"


@pytest.fixture
def corpus(tmp_path):
    """Sentences of words of one topic: a0 .. a9, or b0 .. b9."""
    draw = random.Random(1)
    topics = [draw.choice("ab") for _ in range(4000)]
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(f"{topic}{draw.randrange(10)}" for _ in range(10)) + "\n" for topic in topics))
    return path


@pytest.fixture
def learn(firstlayer, tmp_path):
    """learn(output, *flags) gives the bytes of the output, and what was printed in `learn.printed`."""

    def run(output, *flags):
        done = firstlayer("skip-gram", "--output", output, "--quiet", *flags)
        assert (done.returncode, done.stderr) == (0, b"")
        run.printed = done.stdout.decode()
        return (tmp_path / output).read_bytes()

    return run


def nearest(ok, word, weights, *flags):
    report = json.loads(ok("neighbors", word, "--weights", weights, "--json", "--top", "9", *flags))
    return [row["text"] for row in report["queries"][0]["neighbors"]]


def test_words_of_a_topic_come_together(ok, learn, corpus):
    flags = ("--file", corpus, "--dim", "16", "--sample", "0", "--epochs", "2")
    text = learn("vectors.vec", *flags)
    assert text.startswith(b"20 16\n") and learn("vectors.txt", *flags) == text
    assert learn("vectors.bin", *flags).startswith(b"20 16\n")
    for name in ("vectors.vec", "vectors.bin"):
        assert sorted(nearest(ok, "a3", name)) == [f"a{i}" for i in range(10) if i != 3]
    first, second = learn.printed.splitlines()
    assert first.startswith("epoch 1  loss 2.06") and second.startswith("epoch 2  loss 2.01")


def test_the_threads_do_not_matter_and_the_seed_does(learn, corpus):
    flags = ("--file", corpus, "--dim", "8", "--epochs", "1")
    one = learn("v.bin", *flags, "--threads", "1")
    assert learn("v.bin", *flags, "--threads", "2") == one
    assert learn("v.bin", *flags, "--seed", "2") != one


def test_a_text_comes_in_any_way(ok, learn, corpus, tmp_path):
    flags = ("--dim", "4", "--epochs", "1")
    whole = learn("v.bin", "--file", corpus, *flags)
    ok("skip-gram", "--output", "piped.bin", *flags, "--quiet", input=corpus.read_bytes())
    assert (tmp_path / "piped.bin").read_bytes() == whole
    lines = corpus.read_text().splitlines(keepends=True)
    (tmp_path / "one.txt").write_text("".join(lines[:7]).rstrip("\n"))  # its last line ends with the file
    (tmp_path / "two.txt").write_text("".join(lines[7:]))
    assert learn("v.bin", "--file", "one.txt", "--file", "two.txt", *flags) == whole
    assert learn("v.vec", "--text", "a b a b", "--min-count", "2", "--sample", "0", *flags).startswith(b"2 4\na ")


def test_json(learn, corpus):
    learn("v.bin", "--file", corpus, "--dim", "8", "--epochs", "2", "--json")
    rows = [json.loads(line) for line in learn.printed.splitlines()]
    assert [row["epoch"] for row in rows] == [1, 1, 1, 2, 2, 2]  # of 16,384 words each, and the rest
    assert [row["words"] for row in rows if row["epoch"] == 1][-1] == 40_000 and rows[-1]["words"] == 80_000
    assert all(row["words_per_second"] > 0 and 0 < row["loss"] < 4.2 for row in rows)
    assert rows[0]["lr"] > rows[-1]["lr"] == pytest.approx(1e-4)


def test_a_table_of_tokens(ok, learn, verdict, tmp_path):
    flags = ("--tokens", "--file", verdict, "--dim", "8", "--epochs", "1")
    learn("table.safetensors", *flags)
    table = read_safetensors(tmp_path / "table.safetensors")
    assert list(table) == ["wte.weight"] and table["wte.weight"][:2] == ("F32", (50257, 8))
    assert learn("table.npy", *flags).endswith((tmp_path / "table.safetensors").read_bytes()[-50257 * 8 * 4:])
    assert nearest(ok, " picture", "table.safetensors") == nearest(ok, " picture", "table.npy")


def test_windows_do_not_reach_from_a_file_to_the_next(firstlayer, fails, tmp_path):
    for name, text in (("a", "a"), ("b", " b"), ("ab", "a b")):
        (tmp_path / name).write_text(text)
    for mode, output in (((), "v.bin"), (("--tokens",), "t.npy")):
        flags = ("skip-gram", *mode, "--output", output, "--dim", "2", "--sample", "0")
        flags += () if mode else ("--min-count", "1")
        assert "no word has a neighbour" in fails(3, *flags, "--file", "a", "--file", "b")
        assert not (tmp_path / output).exists()
        assert firstlayer(*flags, "--file", "ab").returncode == 0


def test_goes_on_from_words(firstlayer, learn, tmp_path):
    (tmp_path / "start.vec").write_text("3 2\ncat 1 2\nowl 5 6\ndog 3 4\n")
    (tmp_path / "text").write_text(CAT)
    still = ("--file", "text", "--min-count", "1", "--lr", "0", "--min-lr", "0", "--epochs", "1")
    rows = learn("still.vec", *still, "--weights", "start.vec").decode().splitlines()
    words = {row.split(" ")[0]: row.split(" ")[1:] for row in rows[1:]}
    assert rows[0].endswith(" 2") and words["cat"] == ["1", "2"] and words["dog"] == ["3", "4"] and "owl" not in words
    drawn = learn("drawn.vec", *still, "--dim", "2").decode().splitlines()
    assert words["home"] == next(row.split(" ")[1:] for row in drawn if row.startswith("home "))
    done = firstlayer("skip-gram", *still, "--weights", "start.vec", "--output", "v.vec")
    assert b"2 of 9 words start from start.vec\n" in done.stderr


def test_goes_on_from_tokens(learn, tmp_path):
    still = ("--tokens", "--text", CAT, "--lr", "0", "--min-lr", "0", "--epochs", "1")
    start = learn("start.npy", "--tokens", "--text", CAT, "--dim", "2", "--lr", "0.5")
    assert learn("still.npy", *still, "--weights", "start.npy") == start
    numbers = [float(i) for i in range(2 * 50304)]
    write_safetensors(tmp_path / "padded.safetensors", {"a": ([50304, 2], numbers), "b": ([50304, 2], numbers)})
    learn("still.safetensors", *still, "--weights", "padded.safetensors", "--tensor", "b")
    assert read_safetensors(tmp_path / "still.safetensors")["wte.weight"][1] == (50304, 2)


def test_a_signal_ends_it_with_what_was_learned(command, corpus, tmp_path):
    arguments = [command, "skip-gram", "--file", corpus, "--epochs", "1000000", "--output", "v.bin", "--json"]
    process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={"PATH": os.environ["PATH"]})
    # A hundredth of it would take hours; that it learns is told before.
    while b"different ones" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    printed, words = process.communicate(timeout=60)
    assert process.returncode == 0
    assert " of 40,000,000,000 words\n" in words.decode() and "v.bin: 20 words, d = 100" in words.decode()
    (last,) = printed.splitlines()
    assert json.loads(last)["words"] < 40_000_000_000
    assert (tmp_path / "v.bin").stat().st_size == len("20 100\n") + 20 * (len("a0 ") + 400 + 1)


def test_bytes_that_are_no_text(ok, learn, tmp_path):
    (tmp_path / "text").write_bytes(b"\xff \x00\xfe \xc2\xa0 " * 9)  # the last is no white space of ASCII
    for name in ("v.vec", "v.bin"):
        learn(name, "--file", "text", "--dim", "2", "--sample", "0")
        report = json.loads(ok("neighbors", "--bytes", "ff", "--weights", name, "--json"))
        assert sorted(row["bytes"] for row in report["queries"][0]["neighbors"]) == ["00fe", "c2a0"]


def test_mistakes(fails, tmp_path):
    text = ("skip-gram", "--text", CAT, "--min-count", "1")
    assert "expected --output FILE, received none" in fails(2, *text)
    assert "expected a file name that ends in .vec or .txt or .bin" in fails(2, *text, "--output", "v.npy")
    tokens = ("skip-gram", "--text", CAT, "--tokens", "--output")
    assert "ends in .safetensors or .npy" in fails(2, *tokens, "v.bin")
    assert "nowhere/v.bin: cannot write: No such file or directory" in fails(4, *text, "--output", "nowhere/v.bin")
    assert "cannot open: No such file" in fails(4, "skip-gram", "--file", "none.txt", "--output", "v.bin")
    text += ("--output", "v.bin")
    assert "at most 1000" in fails(2, *text, "--window", "1001")
    assert "expected --min-lr of at most --lr = 1e-05" in fails(2, *text, "--lr", "1e-5")
    assert "--min-count is for words" in fails(2, *tokens, "t.npy", "--min-count", "2")
    assert "--allow-special is for --tokens" in fails(2, *text, "--allow-special", "all")
    assert "received both" in fails(2, *text, "--file", "a.txt")
    assert "--tensor names a table in the --weights of --tokens" in fails(2, *text, "--tensor", "wte.weight")
    assert list(tmp_path.iterdir()) == []


def test_the_text_is_not_overwritten(fails, corpus):
    before = corpus.read_bytes()
    words = fails(2, "skip-gram", "--file", corpus, "--output", "corpus.txt")
    assert "--output: corpus.txt is the text\n  hint: another name" in words
    assert corpus.read_bytes() == before


def test_texts_with_nothing_to_learn(fails, tmp_path):
    words = ("skip-gram", "--output", "v.bin", "--text")
    assert "a word that occurs 5 times or more, received none\n  hint: a longer text" in fails(3, *words, "")
    assert 'the most frequent "." 4 times' in fails(3, *words, CAT, "--min-count", "9")
    assert "no word has a neighbour" in fails(3, *words, "a\nb\nc\n", "--min-count", "1")
    tokens = ("skip-gram", "--tokens", "--output", "t.npy", "--text")
    assert "received an empty one" in fails(3, *tokens, "")
    assert "no word has a neighbour" in fails(3, *tokens, "a", "--dim", "1")
    assert list(tmp_path.iterdir()) == []


def test_tables_that_do_not_fit(fails, learn, tmp_path):
    words = ("skip-gram", "--text", CAT, "--min-count", "1", "--output", "v.bin", "--weights")
    tokens = ("skip-gram", "--text", CAT, "--tokens", "--output", "t.npy", "--weights")
    (tmp_path / "other.vec").write_text("1 2\nowl 1 2\n")
    assert "none of the 9 words of the text is in other.vec" in fails(3, *words, "other.vec")
    assert "the table in other.vec has d = 2, received 3" in fails(2, *words, "other.vec", "--dim", "3")
    assert "x.npy has no words" in fails(2, *words, "x.npy")
    assert "other.vec is no table of tokens" in fails(2, *tokens, "other.vec")
    write_safetensors(tmp_path / "few.safetensors", {"wte.weight": ([3, 2], [0.0] * 6)})
    assert "has 3 rows, the vocabulary gpt2 has 50,257 tokens" in fails(3, *tokens, "few.safetensors")
    (tmp_path / "nan.vec").write_text("1 2\ncat nan 2\n")
    assert "expected a finite loss" in fails(3, *words, "nan.vec", "--sample", "0")
    assert not (tmp_path / "v.bin").exists() and not (tmp_path / "t.npy").exists()
