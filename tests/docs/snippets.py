#!/usr/bin/env python3
"""The code in the documentation, compiled and run. CONTRIBUTING.md says how a page marks its blocks.

usage: snippets.py extract FOLDER PAGE...              writes each C++ block as FOLDER/PAGE_LINE.cpp, prints the names
       snippets.py program PROGRAM EXPECTED            runs PROGRAM; its output must be what the file EXPECTED says
       snippets.py console PAGE COMMAND ROOT           runs the commands of PAGE with COMMAND as `firstlayer`
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# What a fragment, which is no complete program, may use without saying so.
FRAGMENT_HEADERS = ["algorithm", "cstddef", "cstdint", "cstdio", "filesystem", "fstream", "iostream", "span", "string",
                    "string_view", "vector"]


@dataclass
class Block:
    language: str
    options: list  # the words after the language
    line: int  # of the opening fence
    text: str
    follows: int  # line of the next block's fence if only blank lines lie between, else 0


def blocks(page):
    """The fenced blocks of a page, in order."""
    found, opened = [], None
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if opened is None and (match := re.fullmatch(r"\s*```(\S*)(.*)", line)):
            opened = Block(match.group(1), match.group(2).split(), number, "", 0)
            body = []
        elif opened is not None and line.strip() == "```":
            opened.text = "".join(text + "\n" for text in body)
            rest = [n for n, text in enumerate(lines[number:], number + 1) if text.strip()]
            opened.follows = rest[0] if rest else 0
            found.append(opened)
            opened = None
        elif opened is not None:
            body.append(line)
    if opened is not None:
        raise SystemExit(f"{page}:{opened.line}: expected ``` that ends the block, received the end of the page")
    return found


def first_difference(expected, received):
    """None if the output is as expected, else what differs first. The line ... stands for any lines, ... in a line
    for any text there."""
    def matches(want, have):
        return re.fullmatch(".*".join(re.escape(part) for part in want.rstrip().split("...")), have.rstrip())

    want, have, at, seen = expected.splitlines(), received.splitlines(), 0, 0
    retry = None  # where to go on when lines skipped by the last ... turn out to be too few
    while at < len(want) or seen < len(have):
        if at < len(want) and want[at].strip() == "...":
            retry = (at, seen)
            at += 1
        elif at < len(want) and seen < len(have) and matches(want[at], have[seen]):
            at, seen = at + 1, seen + 1
        elif retry is not None and retry[1] < len(have):
            retry = (retry[0], retry[1] + 1)
            at, seen = retry[0] + 1, retry[1]
        else:
            return (f"  expected: {want[at] if at < len(want) else 'the end'}\n"
                    f"  received: {have[seen] if seen < len(have) else 'the end'}")
    return None


def extract(folder, pages):
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    for page in pages:
        found = blocks(page)
        outputs = {block.line: block.text for block in found if block.language == "text"}
        for block in found:
            if block.language != "cpp" or "skip" in block.options:
                continue
            name = f"{page.stem}_{block.line}"
            code = block.text
            complete = re.search(r"\bint main\(", code)
            if not complete:
                hoisted = "".join(f"#include <{header}>\n" for header in FRAGMENT_HEADERS)
                hoisted += '#include "firstlayer/firstlayer.h"\n'
                own = "".join(re.findall(r"^#include.*\n", code, re.M))
                body = re.sub(r"^#include.*\n", "", code, flags=re.M)
                code = f"{hoisted}{own}void snippet();\nvoid snippet() {{\n{body}}}\nint main() {{}}\n"
            expected = outputs.get(block.follows, "...\n") if complete else ""
            for suffix, text in ((".cpp", code), (".out", expected)):
                path = folder / (name + suffix)
                written.add(path)
                if not path.exists() or path.read_text(encoding="utf-8") != text:
                    path.write_text(text, encoding="utf-8")
            print(name)
    for old in set(folder.iterdir()) - written:
        old.unlink()


def run_program(program, expected):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program.resolve()], cwd=folder, capture_output=True, text=True)
    difference = first_difference(expected.read_text(encoding="utf-8"), done.stdout)
    if done.returncode or difference:
        raise SystemExit(f"{program.name}: exit {done.returncode}\n{difference or ''}\n{done.stdout}{done.stderr}")


def commands(block):
    """(command, expected output) of each `$ ` line; lines that start with `> ` go on with the command."""
    pairs = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            pairs.append([line[2:], ""])
        elif line.startswith("> ") and pairs and not pairs[-1][1]:
            pairs[-1][0] += "\n" + line[2:]
        elif pairs:
            pairs[-1][1] += line + "\n"
    return pairs


def prepare(folder, command, root):
    """A folder that looks like a checkout whose release is built, so that ./run builds nothing, with a text to read."""
    for path, target in ((folder / "build/release/cli/firstlayer", command), (folder / "examples", root / "examples"),
                         (folder / "bin/firstlayer", command)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    shutil.copy(root / "run", folder)
    (folder / "tools").mkdir()
    (folder / "tools/setup.sh").write_text("build_packages=(none)\nneed() { :; }\nbuild() { :; }\nroot=$PWD\n")
    shutil.copy(root / "tests/data/text/the-verdict.txt", folder)


def run_console(page, command, root):
    """Every command of a page, in order, in one new folder."""
    failures = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, command, root)
        environment = {"HOME": name, "LC_ALL": "C.UTF-8", "TERM": "dumb",
                       "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        for block in blocks(page):
            if block.language != "console" or "skip" in block.options:
                continue
            pairs = commands(block)
            allowed = next((int(word[5:]) for word in block.options if word.startswith("exit=")), 0)
            for index, (line, expected) in enumerate(pairs):
                done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                wanted = allowed if index == len(pairs) - 1 else 0
                difference = first_difference(expected, done.stdout)
                count += 1
                if done.returncode != wanted or difference:
                    failures += 1
                    print(f"{page.name}:{block.line}: $ {line}\n  exit {done.returncode}, expected {wanted}\n"
                          f"{difference or ''}\n--- whole output\n{done.stdout}---")
    print(f"{page.name}: {count} commands run, {failures} differ")
    if failures:
        raise SystemExit(1)


def main(arguments):
    match arguments:
        case ["extract", folder, *pages]:
            extract(Path(folder), [Path(page) for page in pages])
        case ["program", program, expected]:
            run_program(Path(program), Path(expected))
        case ["console", page, command, root]:
            run_console(Path(page), Path(command).resolve(), Path(root).resolve())
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
