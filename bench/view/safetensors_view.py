"""Rows of a large file by Hugging Face's library.  usage: safetensors_view.py open FILE ROWS (dump FILE | time N)"""

import json
import re
import sys
import time
from pathlib import Path

import numpy
import safetensors

_, path, count, action, argument = sys.argv[1:]
count = int(count)


def read_rows(look=lambda: None):
    """The rows, and what `look` sees while the file is open."""
    with safetensors.safe_open(path, framework="numpy") as file:
        table = file.get_slice("wte.weight")
        rows = table.get_shape()[0]
        return numpy.concatenate([table[i * (rows // count):i * (rows // count) + 1] for i in range(count)]), look()


def file_pages():
    return int(re.search(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


if action == "dump":
    Path(argument).write_bytes(read_rows()[0].tobytes())
    sys.exit()
seconds = []
for _ in range(int(argument)):
    start = time.perf_counter()
    read_rows()
    seconds.append(time.perf_counter() - start)
before = file_pages()
touched = read_rows(file_pages)[1] - before
print(json.dumps({"version": safetensors.__version__, "call": seconds, "touched": [touched]}))
