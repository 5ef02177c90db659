#!/usr/bin/env python3
"""The rules that keep the tree in pipeline order, checked on the files themselves.

usage: python3 tests/rules/rules.py [ROOT]     prints each finding and exits 1 if there is one
"""

import re
import sys
from pathlib import Path

SOURCES = {".cpp", ".h", ".in"}
HAND_WRITTEN = {".cpp", ".h", ".py", ".sh", ".cmake", ".txt", ".md", ".json", ".in", ".map", ""}
MAX_LINES = 500
OUTSIDE_THE_LIBRARY = {"bench", "cli", "examples", "fuzz", "lab", "python", "tests", "tools"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
GENERATED = re.compile(r"[Gg]enerated by ((?:tools|bench)/[\w./-]*[\w-])")


def relative(root, path):
    return path.relative_to(root).as_posix()


def project_files(root):
    """Every text file of the project: no hidden folder but .ci, no build tree, no data."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if any(p.startswith(".") and p != ".ci" for p in parts[:-1]) or "__pycache__" in parts:
            continue
        if parts[0].startswith("build") or parts[0] == "data" or parts[:2] == ("tests", "data"):
            continue
        if path.is_file() and not path.is_symlink():
            yield path


def library_files(root):
    return [path for path in project_files(root / "firstlayer") if path.suffix in SOURCES]


def includes(path):
    return [(kind == "<", name) for kind, name in INCLUDE.findall(path.read_text(encoding="utf-8"))]


def generator(path):
    """The tool that wrote this file, by its first lines; None for a file written by hand."""
    with path.open(encoding="utf-8") as file:
        match = GENERATED.search("".join(line for _, line in zip(range(5), file)))
    return match and match.group(1)


def without_comments_and_strings(text):
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda match: "\n" * match.group(0).count("\n"), text, flags=re.S)


def stage_order(root):
    """A stage includes base, itself or an earlier stage; the umbrella is for applications and follows the pipeline."""
    for path in library_files(root):
        parts = path.relative_to(root / "firstlayer").parts
        used = [name.split("/")[1] for _, name in includes(path)
                if name.startswith("firstlayer/") and name.count("/") >= 2]
        if len(parts) == 1:
            if used != sorted(used):
                yield f"{relative(root, path)}: its includes leave the order of the pipeline: {' '.join(used)}"
            continue
        for stage in used:
            if stage != "base" and (stage > parts[0] or parts[0] == "base"):
                yield f"{relative(root, path)}: {parts[0]} includes the later stage {stage}"
        if (False, "firstlayer/firstlayer.h") in includes(path):
            yield f"{relative(root, path)}: includes the umbrella, which holds every stage"


def library_stands_alone(root):
    """The library includes nothing of what is built on it."""
    for path in library_files(root):
        for _, name in includes(path):
            if set(name.split("/")[:-1]) & OUTSIDE_THE_LIBRARY:
                yield f"{relative(root, path)}: the library includes {name}"


def reached_headers(root):
    """What an application gets by including the umbrella."""
    reached, waiting = set(), ["firstlayer/firstlayer.h"]
    while waiting:
        name = waiting.pop()
        path = root / name
        if name in reached or not path.exists():
            continue
        reached.add(name)
        waiting += [inner for angled, inner in includes(path) if not angled]
    return reached


def public_headers(root):
    """Public headers need only this library and standard C++, and CMake installs exactly what the umbrella reaches."""
    reached = reached_headers(root)
    for header in sorted(reached):
        for angled, name in includes(root / header):
            if not (angled and re.fullmatch(r"\w+", name) or not angled and name.startswith("firstlayer/")):
                yield f"{header}: a public header includes {name}, which is no part of standard C++"
    cmake = root / "firstlayer" / "CMakeLists.txt"
    installed = {"firstlayer/" + name
                 for name in re.findall(r"^\s+((?:\w+/)*\w+\.h)$", cmake.read_text(encoding="utf-8"), re.M)}
    for header in sorted(reached - installed):
        yield f"firstlayer/CMakeLists.txt: {header} is public and is not in FILE_SET HEADERS"
    for header in sorted(installed - reached):
        yield f"firstlayer/CMakeLists.txt: {header} is in FILE_SET HEADERS and firstlayer.h does not reach it"


def quiet_library(root):
    """The library never prints, never ends the process, never reads the environment."""
    forbidden = re.compile(r"\bstd::(?:cout|cerr|clog)\b|<iostream>|"
                           r"\b(?:printf|fprintf|puts|fputs|putchar|perror|exit|_exit|_Exit|quick_exit|abort|terminate|"
                           r"getenv|secure_getenv|setenv)\s*\(")
    for path in library_files(root):
        text = without_comments_and_strings(path.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1):
            for match in forbidden.finditer(line):
                yield f"{relative(root, path)}:{number}: the library uses {match.group(0).rstrip('( ')}"


def file_size(root):
    """Files stay readable; tables that a tool wrote are exempt and name it."""
    for path in project_files(root):
        if path.suffix not in HAND_WRITTEN or path.parent == root / "bench" / "results":
            continue
        tool = generator(path)
        if tool and not (root / tool).exists():
            yield f"{relative(root, path)}: names its generator {tool}, which does not exist"
        lines = path.read_text(encoding="utf-8").count("\n")
        if not tool and lines > MAX_LINES:
            yield f"{relative(root, path)}: {lines} lines, of which {MAX_LINES} are allowed"


def nothing_left_over(root):
    """No path of somebody's machine, no package registry's host, no note to oneself, no word about how it was made."""
    marks = {
        "a path of one machine": r"(?<![\w.])/(?:work|root|home|Users|tmp)/",
        "a package registry's host": r"\b(?:deb\.debian|pypi|pythonhosted|npmjs|snapshot\.debian)\.(?:org|com)\b",
        "an address that is not public": r"https?://(?:\d+\.\d+\.\d+\.\d+|[\w-]+(?:\.internal|\.local)?)[:/]",
        "a note to oneself": r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b",
        "the number of an issue": r"(?i)\bissue #?\d+",
    }
    for path in project_files(root):
        if path.suffix in HAND_WRITTEN and path.parent != root / "tests" / "rules":
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for what, pattern in marks.items():
                    if re.search(pattern, line):
                        yield f"{relative(root, path)}:{number}: {what}: {line.strip()[:100]}"


def registered(root):
    """A source that no CMakeLists.txt names is not built, and a test that none names does not run."""
    for folder in sorted(p.parent for top in ("firstlayer", "tests") for p in (root / top).glob("*/**/CMakeLists.txt")):
        tests = root / "tests"
        if folder.is_relative_to(tests) and not (root / "firstlayer" / folder.relative_to(tests)).is_dir():
            continue
        named = set(re.findall(r"[\w.]+\.cpp\b", (folder / "CMakeLists.txt").read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*.cpp")):
            if path.name not in named:
                yield f"{relative(root, path)}: {relative(root, folder)}/CMakeLists.txt does not name it"


def joined_kernels(root):
    """A kernel in Highway lies beside its readable reference; tests/STAGE/KERNEL_test.cpp joins the two."""
    for kernel in library_files(root):
        if kernel.suffix != ".cpp" or not any(name.startswith("hwy/") for _, name in includes(kernel)):
            continue
        if not any(re.search(r"\w*reference\w*\(", path.read_text(encoding="utf-8"), re.I)
                   for path in kernel.parent.glob("*.cpp") if path != kernel):
            yield f"{relative(root, kernel)}: no readable …_reference() function lies beside it"
        test = root / "tests" / kernel.relative_to(root / "firstlayer").with_name(f"{kernel.stem}_test.cpp")
        if not (test.exists() and re.search(r"TEST\w*\(\w+, Equals?TheReference", test.read_text(encoding="utf-8"))):
            yield f"{relative(root, kernel)}: {relative(root, test)} has no test named EqualsTheReference…"


RULES = [stage_order, library_stands_alone, public_headers, quiet_library, file_size, nothing_left_over, registered,
         joined_kernels]


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parents[2]).resolve()
    findings = [f"{finding}  [{rule.__name__}]" for rule in RULES for finding in rule(root)]
    print("\n".join(findings) if findings else f"{len(RULES)} rules hold")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
