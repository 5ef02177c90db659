"""view: the nearest rows of a table, and a few rows of a large file."""

import json
import struct
from pathlib import Path

from harness import process, setup
from harness.case import Case, Measure
from harness.contender import Contender, Program, file_sha256
from harness.setup import BENCH, Options

TITLE = "The ten nearest of 50,257 rows by the dot product, d = 768, float32"
NOTES = """\
Rows and queries are normal numbers from one seed. The ids of the neighbours are compared, for 1,000 queries. "one
query" searches for one vector at a time, each time another; "batched" for 1,000 at once. What each makes of the table
before (firstlayer its copy in 8 bits, faiss a copy) is not in the time. numpy is `table @ query`, or `queries @
table.T`, then `argpartition` and a sort of the ten. "10 GB" opens a safetensors file of 3.3 million rows, which is a
hole on the disk, and reads 100 of them; "touched" is how much of the file the process then holds in memory."""
CALL = Measure("call", "time", "ms")
ROWS, DIM, READ_ROWS = 3_255_209, 768, 100


def cases(options: Options) -> list[Case]:
    table, queries = setup.WORK / "view-table.npy", setup.WORK / "view-queries.npy"
    if not (table.exists() and queries.exists()):
        process.run([setup.program("firstlayer_view"), "make", str(table), str(queries)])
    searches = [
        _search(kind, title, table, queries, threads, options)
        for threads in (1, 2)
        for kind, title in (("one", "one query"), ("batch", "1,000 queries batched"))
    ]
    return [*searches, _open(_large_file(), options)]


def _search(kind: str, title: str, table: Path, queries: Path, threads: int, options: Options) -> Case:
    work = [kind, str(table), str(queries), str(threads)]
    repeat = {"one": 200, "batch": 3}[kind]
    env = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}

    def script(name: str) -> Contender:
        return Program(name, [setup.python(), str(BENCH / "view" / f"{name}_view.py"), *work], env=env, repeat=repeat)

    return Case(
        f"{kind}-{threads}",
        f"{title}, {threads} thread{'s' if threads > 1 else ''}",
        (CALL,),
        [Program("firstlayer", [setup.program("firstlayer_view"), *work], repeat=repeat), script("faiss"),
         script("numpy")],
        cores=range(threads),
        rounds=2 if options.quick else 5,
        sha256=file_sha256(table),
    )


def _large_file() -> Path:
    """10 GB that take some blocks of the disk."""
    path = setup.WORK / "view-large.safetensors"
    size = ROWS * DIM * 4
    header = json.dumps({"wte.weight": {"dtype": "F32", "shape": [ROWS, DIM], "data_offsets": [0, size]}}).encode()
    start = struct.pack("<Q", len(header)) + header
    with open(path, "wb") as file:
        file.write(start)
        file.truncate(len(start) + size)
    return path


def _open(path: Path, options: Options) -> Case:
    work = ["open", str(path), str(READ_ROWS)]
    return Case(
        "open-10gb",
        f"{READ_ROWS} rows of a safetensors file of 10 GB",
        (CALL, Measure("touched", "touched", "MB")),
        [
            Program("firstlayer", [setup.program("firstlayer_view"), *work], repeat=20),
            Program("safetensors", [setup.python(), str(BENCH / "view" / "safetensors_view.py"), *work], repeat=20),
        ],
        cores=[0],
        rounds=2 if options.quick else 5,
    )
