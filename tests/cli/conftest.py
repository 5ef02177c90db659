"""Runs the built command: its path is --command PATH or the environment variable FIRSTLAYER_COMMAND."""

import os
import subprocess
from pathlib import Path

import pytest

VERDICT = Path(__file__).resolve().parents[1] / "data/text/the-verdict.txt"


def pytest_addoption(parser):
    parser.addoption("--command", default=os.environ.get("FIRSTLAYER_COMMAND"), help="the command to test")


@pytest.fixture(scope="session")
def command(request):
    path = request.config.getoption("--command")
    if not path:
        raise pytest.UsageError("expected --command PATH or FIRSTLAYER_COMMAND, received neither")
    return str(Path(path).resolve())


@pytest.fixture(scope="session")
def sanitized(command):
    """The command is built with a sanitizer, which has memory and ends of its own."""
    return b"__asan_init" in Path(command).read_bytes()


@pytest.fixture
def firstlayer(command, tmp_path):
    """firstlayer(*arguments, input=b"", env={}) runs the command in tmp_path; output is bytes."""

    def run(*arguments, input=b"", env=None, **options):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": str(tmp_path), **(env or {})}
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([command, *map(str, arguments)], input=input, env=environment, cwd=tmp_path, **options)

    return run


@pytest.fixture
def ok(firstlayer):
    """As firstlayer, but expects success in silence and gives what was printed."""

    def run(*arguments, **options):
        done = firstlayer(*arguments, **options)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    return run


@pytest.fixture
def fails(firstlayer):
    """fails(code, *arguments): expects that exit code and nothing printed, and gives the words on stderr."""

    def run(code, *arguments, **options):
        done = firstlayer(*arguments, **options)
        assert (done.returncode, done.stdout) == (code, b""), done.stderr
        return done.stderr.decode()

    return run


@pytest.fixture
def verdict():
    return VERDICT
