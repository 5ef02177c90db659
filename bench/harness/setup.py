"""The release build and the contenders' environment; both made once and reused."""

import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness import process

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
REQUIREMENTS = BENCH / "requirements.txt"
BUILD = ROOT / "build" / "release"
WORK = ROOT / "build" / "bench"  # texts, vocabularies and outputs that tasks make


@dataclass(frozen=True)
class Options:
    quick: bool
    corpus: Path | None  # folder with english.txt, multilingual.txt, code.txt


def build_release() -> None:
    """Builds the command and the bench programs with the release preset. `./run` installs what a build needs."""
    _quietly(["./run", "--version"])
    _quietly(["cmake", "--preset", "release", "-DFIRSTLAYER_BENCH=ON"])
    _quietly(["cmake", "--build", str(BUILD)])
    WORK.mkdir(parents=True, exist_ok=True)


def command() -> str:
    """The firstlayer command."""
    return str(BUILD / "cli" / "firstlayer")


def command_version() -> str:
    return process.run([command(), "--version"]).stdout.decode().split()[-1]


def pinned_version(package: str) -> str:
    """The version of a contender that cannot tell it in its output."""
    return re.search(rf"^{package}==(.*)$", REQUIREMENTS.read_text(), re.MULTILINE)[1]


def program(name: str) -> str:
    """A bench program."""
    return str(BUILD / "bench" / name)


def python() -> str:
    """The interpreter of the contenders' environment, made from requirements.txt on first use and when that changes."""
    environment = BENCH / ".env"
    stamp = environment / "requirements.sha256"
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    interpreter = environment / "bin" / "python"
    if not (stamp.exists() and stamp.read_text() == digest):
        print(f"installing the contenders of {REQUIREMENTS.relative_to(ROOT)} into bench/.env", file=sys.stderr)
        _quietly([sys.executable, "-m", "venv", "--clear", str(environment)])
        _quietly([str(interpreter), "-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS)])
        stamp.write_text(digest)
    return str(interpreter)


def _quietly(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        what = " ".join(command)
        raise RuntimeError(f"expected `{what}` to succeed, received exit {done.returncode}:\n{done.stdout}")
