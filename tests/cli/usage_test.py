"""What the command says when it is not called as it should be, and when it is asked how."""

import os
import stat

import pytest
from terminals import open_terminal

COMMANDS = ["encode", "decode", "batches", "embed", "explain", "train", "generate", "skip-gram", "neighbors", "analogy",
            "completion", "man"]


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--threads", "2"]])
def test_no_command(fails, arguments):
    assert fails(2, *arguments) == "firstlayer: expected a command\n  hint: see firstlayer --help\n"


@pytest.mark.parametrize("arguments, received, meant", [
    (["encod"], 'firstlayer: unknown command "encod"', "encode?"),
    (["enc"], 'firstlayer: unknown command "enc"', "encode?"),
    (["bacthes", "--text", "a"], 'firstlayer: unknown command "bacthes"', "batches?"),
    (["--jsno", "encode"], 'firstlayer encode: unknown flag "--jsno"', "--json?"),
    (["encode", "--txt", "hi"], 'firstlayer encode: unknown flag "--txt"', "--text?"),
    (["embed", "--contxt=4", "--text", "a"], 'firstlayer embed: unknown flag "--contxt"', "--context?"),
    (["embed", "--quite"], 'firstlayer embed: unknown flag "--quite"', "--quiet?"),
])
def test_mistyped_names(fails, arguments, received, meant):
    first, hint = fails(2, *arguments).splitlines()
    assert first == received and hint.startswith(f"  hint: {meant} see firstlayer")


@pytest.mark.parametrize("arguments", [["transmogrify"], ["encode", "--transmogrify"], ["encode", "hi"],
                                       ["man", "encode"], ["encode", "--text", "a", "x" * 10_000]])
def test_words_like_nothing_known(fails, arguments):
    words = fails(2, *arguments)
    assert "hint: see firstlayer" in words and "--help" in words


@pytest.mark.parametrize("flag", ["--context", "--stride", "--batch-size", "--dim"])
@pytest.mark.parametrize("value, bound", [
    ("0", "at least 1"), ("-1", "at least 1"), ("12abc", "at least 1"), ("", "at least 1"), ("1.5", "at least 1"),
    ("+4", "at least 1"), (" 4", "at least 1"), ("0x10", "at least 1"), ("18446744073709551616", "at most"),
    ("9" * 40, "at most")])
def test_numbers(fails, flag, value, bound):
    words = fails(2, "embed", "--text", "one two three four five six", flag, value)
    assert words.startswith(f"firstlayer embed: {flag}: expected a whole number of {bound}")
    assert f'received "{value}"' in words and "see firstlayer embed --help" in words


def test_other_values(fails, ok):
    text = ("--text", "one two three four five six")
    assert "at least 0" in fails(2, "embed", *text, "--seed", "-1")
    assert "--epochs" in fails(2, "batches", *text, "--epochs", "0")
    assert "at most 1024" in fails(2, "embed", *text, "--threads", "1025")
    assert "auto, always or never" in fails(2, "encode", *text, "--color", "red")
    assert "t5 or none" in fails(2, "embed", *text, "--position", "rope")
    assert 'expected gpt2, received "gpt3"' in fails(2, "encode", *text, "--vocab", "gpt3")
    assert "--text" in fails(2, "encode", "--text")
    assert ok("embed", *text, "--seed", "0") == ok("embed", *text, "--seed", 2**32)  # as in PyTorch, the low 32 bits


def test_text_and_file(fails):
    assert "received both" in fails(2, "encode", "--text", "a", "--file", "-")


@pytest.mark.parametrize("flags", [["encode", "--output", "ids.txt"], ["encode", "--output", "ids"],
                                   ["embed", "--output", "x.bin"], ["batches", "--inputs", "x.safetensors"]])
def test_unknown_extension(fails, flags, tmp_path):
    words = fails(2, *flags, "--text", "one two three four five six")
    assert "ends in" in words and flags[-1] in words
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_read(fails, tmp_path):
    assert "missing.txt: cannot open: No such file" in fails(4, "encode", "--file", "missing.txt")
    assert f"{tmp_path}: cannot read: Is a directory" in fails(4, "encode", "--file", tmp_path)
    assert "No such file" in fails(4, "encode", "--file", "")


def test_files_that_cannot_be_written(fails, tmp_path):
    text = ("--text", "one two three four five six")
    assert "nowhere/x.npy" in fails(4, "embed", *text, "--output", "nowhere/x.npy")
    (tmp_path / "file").write_text("")
    assert "Not a directory" in fails(4, "embed", *text, "--output", "file/x.npy")
    (tmp_path / "folder.npy").mkdir()
    assert "Is a directory" in fails(4, "encode", *text, "--output", "folder.npy")
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
        assert "Permission denied" in fails(4, "encode", *text, "--output", "locked/x.npy")


def test_nothing_given_on_a_terminal(firstlayer):
    ours, theirs = open_terminal()
    try:
        for name, instead in (("encode", "--text"), ("embed", "--file"), ("decode", "ids from a pipe")):
            done = firstlayer(name, input=None, stdin=theirs)
            assert done.returncode == 2 and b"standard input is a terminal" in done.stderr
            assert instead in done.stderr.decode()
    finally:
        os.close(ours)
        os.close(theirs)


def test_global_flags_before_and_after_the_command(ok):
    assert ok("--json", "encode", "--text", "hi") == ok("encode", "--json", "--text", "hi")
    text = ("--text", "a b c d e f")
    assert ok("--threads", "2", "embed", "--threads", "1", *text) == ok("embed", *text)
    version = ok("--version")
    assert version.startswith(b"firstlayer 0.") and version.count(b"\n") == 1
    assert ok("encode", "--version") == version


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(ok, name):
    page = ok(name, "--help").decode()
    assert page == ok("--help", name).decode() == ok(name, "-h").decode()
    assert f"Usage: firstlayer {name}" in page and "Examples:\n  " in page and "--threads N" in page
    assert max(map(len, page.splitlines())) <= 80


def test_help(ok):
    page = ok("--help").decode()
    assert all(f"\n  {name} " in page for name in COMMANDS) and "Examples:" in page
    assert max(map(len, page.splitlines())) <= 80
