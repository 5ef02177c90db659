"""The completion scripts and the manual page, which are made from the flag table."""

import re
import shutil
import subprocess

import pytest

SCHEMES = ["learned", "sinusoidal", "sinusoidal-half", "rotary", "alibi", "t5", "none"]
COMMANDS = ["encode", "decode", "batches", "embed", "explain", "train", "generate", "skip-gram", "neighbors", "analogy",
            "completion", "man"]


def complete(script, tmp_path, *words):
    """What bash offers for the last of `words`."""
    line = (f'source {script}; COMP_WORDS=({" ".join(f"{word!r}" for word in words)}); '
            f'COMP_CWORD={len(words) - 1}; _firstlayer; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash(ok, tmp_path):
    script = tmp_path / "completion.bash"
    script.write_bytes(ok("completion", "bash"))
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "corpus.txt").write_text("")

    def offers(*words):
        return complete(script, folder, "firstlayer", *words)

    assert [word for word in offers("") if not word.startswith("-")] == COMMANDS
    assert offers("e") == ["encode", "embed", "explain"]
    assert offers("--js") == ["--json"]
    assert offers("embed", "--con") == ["--context"]
    assert offers("--json", "embed", "--po") == ["--position"]
    assert offers("embed", "--position", "") == SCHEMES
    assert offers("encode", "--allow-special", "") == ["all", "none"]
    assert offers("encode", "--color", "a") == ["auto", "always"]
    assert offers("encode", "--file", "") == ["corpus.txt"]
    assert offers("encode", "--text", "") == []
    assert offers("completion", "")[:3] == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(ok, tmp_path, shell):
    script = ok("completion", shell).decode()
    for word in (*COMMANDS, "drop-last", " ".join(SCHEMES), "always"):
        assert word in script
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(script)
        done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_fish_offers(ok, tmp_path):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    path = tmp_path / "firstlayer.fish"
    path.write_bytes(ok("completion", "fish"))

    def offers(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"], text=True,
                              capture_output=True, cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stderr
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    assert sorted(offers("firstlayer ")) == sorted(COMMANDS)
    assert sorted(offers("firstlayer embed --position ")) == sorted(SCHEMES)
    assert offers("firstlayer embed --con") == ["--context"]
    assert offers("firstlayer encode --file f") == ["firstlayer.fish"]


def test_shell_is_needed(fails):
    assert "expected a shell" in fails(2, "completion")
    assert "bash, zsh or fish" in fails(2, "completion", "tcsh")


def test_manual_page(ok, tmp_path):
    page = ok("man").decode()
    sections = re.findall(r"^\.SH (.*)$", page, re.M)
    assert sections == ["NAME", "SYNOPSIS", "DESCRIPTION", "GLOBAL FLAGS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"]
    for name in COMMANDS:
        assert ".SS firstlayer " + name.replace("-", "\\-") in page
    assert page.count("\\fB\\-\\-threads\\fR") == 1 and page.count("\\fB\\-\\-context\\fR") == 4
    if not shutil.which("man"):
        pytest.skip("man is not installed: the page is not laid out")
    path = tmp_path / "firstlayer.1"
    path.write_text(page)
    done = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True,
                          env={"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "--allow-special all|none|NAME" in done.stdout and "firstlayer embed --file corpus.txt" in done.stdout
