"""Where and from what a result was measured."""

import os
import platform
import re
import subprocess
from datetime import date
from pathlib import Path

from harness.setup import BUILD, ROOT


def describe() -> dict:
    """Machine, system, compiler, commit and load, for the head of a result."""
    cpu = dict(re.findall(r"^([^:\n]+):\s+(.*)$", _output("lscpu"), re.MULTILINE))
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024
    compiler = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", (BUILD / "CMakeCache.txt").read_text())[1]
    caches = [f"{level} {cpu[f'{level} cache']}" for level in ("L1d", "L2", "L3") if f"{level} cache" in cpu]
    release = _first(r'PRETTY_NAME="(.*)"', "/etc/os-release")
    vectors = [flag for flag in ("avx2", "avx512f", "asimd", "sve") if flag in cpu.get("Flags", "").split()]
    return {
        "date": date.today().isoformat(),
        "processor": f"{cpu.get('Model name')} (family {cpu.get('CPU family')}, model {cpu.get('Model')})",
        "vectors": " ".join(vectors),
        "cores": os.cpu_count(),
        "caches": ", ".join(caches),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{release}, Linux {platform.release()}, glibc {platform.libc_ver()[1]}",
        "huge_pages": _first(r"\[(\w+)\]", "/sys/kernel/mm/transparent_hugepage/enabled"),
        "compiler": _output(compiler, "--version").splitlines()[0],
        "commit": _commit(),
        "load": os.getloadavg()[0],
    }


def slug(machine: dict) -> str:
    """A file name for the machine: "amd-epyc-family-25-model-17-2-cores"."""
    return re.sub(r"[^a-z0-9]+", "-", f"{machine['processor']} {machine['cores']} cores".lower()).strip("-")


def _commit() -> str:
    """Of what was measured, and whether the sources differ from it."""
    git = ("git", "-C", str(ROOT))
    changed = _output(*git, "status", "--porcelain", "--", "firstlayer", "cli")
    return _output(*git, "rev-parse", "--short=12", "HEAD").strip() + (" with changes" if changed else "")


def _first(pattern: str, path: str) -> str:
    file = Path(path)
    found = re.search(pattern, file.read_text()) if file.exists() else None
    return found[1] if found else "unknown"


def _output(*command: str) -> str:
    env = os.environ | {"LC_ALL": "C"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout
