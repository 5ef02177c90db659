"""Pipes, terminals, full disks, kills, and memory."""

import os
import resource
import subprocess
import sys

import pytest
from tensor_files import read_npy
from terminals import open_terminal, read_to_end

EMBED = ("embed", "--context", "4", "--dim", "256", "--quiet", "--output", "x.npy")


@pytest.mark.parametrize("ignored", [False, True])
def test_closed_pipe(firstlayer, verdict, ignored):
    """Nobody reads the output: no words, whether the parent ignores SIGPIPE or not."""
    for name in ("encode", "batches", "embed"):
        read, write = os.pipe()
        os.close(read)
        done = firstlayer(name, "--file", verdict, stdout=write, restore_signals=not ignored)
        os.close(write)
        assert (done.returncode, done.stderr) == (0, b"")


def test_closed_pipe_in_the_middle(command, verdict):
    line = f'set -o pipefail; "{command}" batches --file "{verdict}" --epochs 1000000 | head -1'
    done = subprocess.run(["bash", "-c", line], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [["encode"], ["decode", "40"], ["batches"], ["embed"], ["man"], ["--help"]])
def test_full_standard_output(firstlayer, verdict, arguments):
    with open("/dev/full", "wb") as full:
        text = verdict.read_bytes() if arguments[0] in ("encode", "batches", "embed") else b""
        done = firstlayer(*arguments, input=text, stdout=full)
    assert done.returncode == 4
    assert b"standard output: cannot write: No space left on device" in done.stderr


def test_standard_output_that_is_not_open(command, verdict, tmp_path):
    """The output file must not get the number of standard output, and the report must not go into it."""
    line = f'"{command}" embed --file "{verdict}" --output x.npy >&-'
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=tmp_path)
    assert done.returncode == 4 and b"standard output" in done.stderr
    assert read_npy(tmp_path / "x.npy")[1] == (1286, 4, 256)


@pytest.mark.parametrize("flags", [["encode", "--output", "x.npy"], ["encode", "--output", "x.bin"],
                                   ["batches", "--inputs", "x.npy"], ["embed", "--output", "x.npy"],
                                   ["embed", "--output", "x.safetensors"]])
def test_full_disk(fails, verdict, tmp_path, flags):
    (tmp_path / flags[-1]).symlink_to("/dev/full")
    assert f"{flags[-1]}: cannot write: No space left" in fails(4, *flags, "--file", verdict)


@pytest.mark.parametrize("flags", [["encode", "--output", "x.bin"], ["embed", "--output", "x.npy"]])
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_killed_at_work(command, tmp_path, flags, before):
    """Killed when it has read, and written to files of its own, all but the last of 3 million ids."""
    if before is not None:
        (tmp_path / flags[-1]).write_bytes(before)
    process = subprocess.Popen([command, *flags], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write(b"\nx" * 1_500_000)  # returns when what does not fit the pipe is read
    process.kill()
    process.wait()
    process.stdin.close()
    assert [path.name for path in tmp_path.iterdir()] == ([] if before is None else [flags[-1]])
    assert before is None or (tmp_path / flags[-1]).read_bytes() == before


def test_refused_while_writing(firstlayer, verdict, tmp_path):
    """A file may not grow past 1 MiB, which comes as a disk that fills up: write() fails."""
    (tmp_path / "x.npy").write_bytes(b"what was there")
    done = firstlayer(*EMBED, "--file", verdict,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    assert done.returncode == 4 and b"x.npy: cannot write: File too large" in done.stderr
    assert (tmp_path / "x.npy").read_bytes() == b"what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def on_terminal(firstlayer, *arguments, columns=80, env=None):
    """What the command prints on a terminal, and on a terminal for standard error."""
    ours, theirs = open_terminal()
    subprocess.run(["stty", "cols", str(columns), "rows", "24", "-opost"], stdin=theirs, check=True)
    done = firstlayer(*arguments, stdout=theirs, env={"TERM": "xterm", **(env or {})})
    os.close(theirs)
    printed = read_to_end(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    return printed.decode()


TEXT = ("embed", "--text", "Every effort moves you")


@pytest.mark.parametrize("flags, env, colored", [
    ((), {}, True), ((), {"NO_COLOR": "1"}, False), ((), {"NO_COLOR": ""}, True), ((), {"TERM": "dumb"}, False),
    (("--color", "never"), {}, False), (("--color", "always"), {"NO_COLOR": "1"}, True),
])
def test_colors_on_a_terminal(firstlayer, flags, env, colored):
    printed = on_terminal(firstlayer, *TEXT, "--context", "2", "--dim", "64", *flags, env=env)
    assert ("\x1b[48;5;" in printed) == colored
    assert printed.count("\x1b[0m\n") == (2 if colored else 0)


def test_colors_elsewhere(ok):
    flags = (*TEXT, "--context", "2", "--dim", "64")
    assert b"\x1b" not in ok(*flags)
    assert b"\x1b[48;5;" in ok(*flags, "--color", "always")
    assert b"\x1b[48;2;" in ok(*flags, "--color", "always", env={"COLORTERM": "truecolor"})
    assert b"\x1b" not in ok(*flags, "--color", "always", "--json")


@pytest.mark.parametrize("columns", [20, 50, 80, 132])
def test_lines_fit_the_terminal(firstlayer, columns):
    printed = on_terminal(firstlayer, *TEXT, "--context", "3", "--color", "never", columns=columns)
    assert max(map(len, printed.splitlines())) <= columns


@pytest.fixture
def large_text(tmp_path_factory, verdict):
    path = tmp_path_factory.mktemp("large") / "large.txt"
    with path.open("wb") as file:
        for _ in range(6250):
            file.write(verdict.read_bytes())
    yield path
    path.unlink()


# A process of its own, for the peak of a child is at least that of the process it was forked from.
PEAK_OF_CHILD = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_text_larger_than_the_memory_used(command, large_text, tmp_path, sanitized):
    """128 MB of text, 32 million ids, 257 MB of vectors, and a line that tells how far it has come."""
    ours, theirs = open_terminal()
    done = subprocess.run(
        [sys.executable, "-c", PEAK_OF_CHILD, command, "embed", "--file", large_text, "--context", "256", "--dim", "2",
         "--output", "x.npy"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    drawn = os.read(ours, 1 << 20).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "encode [" in drawn and " MB/s" in drawn and "128 MB" in drawn
    assert sanitized or int(done.stdout) < 96 * 1024
    assert read_npy(tmp_path / "x.npy")[1][1:] == (256, 2)
