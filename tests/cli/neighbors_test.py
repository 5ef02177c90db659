"""neighbors: the nearest rows of a table, asked for by word, number, bytes or vector."""

import json
import struct

import pytest
from tensor_files import write_safetensors

WORDS = ["king 1 0 2", "queen 1 1 2", "man 1 0 0", "woman 1 1 0", "King 1 0.1 2", "zero 0 0 0"]


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("".join(word + "\n" for word in WORDS))
    return path


def write_gpt2(path, rows=50257):
    """A table whose row i is (1, i), so that the nearest of i are i - 1 and i + 1."""
    numbers = [number for i in range(rows) for number in (1.0, float(i))]
    write_safetensors(path, {"wte.weight": ([rows, 2], numbers), "wpe.weight": ([4, 2], [0.0] * 8)})
    return path


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory):
    return write_gpt2(tmp_path_factory.mktemp("gpt2") / "model.safetensors")


def write_npy(path, shape, numbers):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
                     struct.pack(f"<{len(numbers)}f", *numbers))
    return path


def found(printed):
    return [[row["id"] for row in query["neighbors"]] for query in json.loads(printed)["queries"]]


def test_words(ok, glove):
    lines = ok("neighbors", "king", "zero", "--weights", glove, "--top", "2").decode().splitlines()
    assert lines == ['0 "king", cosine', '   0.9990  4 "King"', '   0.9129  1 "queen"', "",
                     '5 "zero", cosine', '   0.0000  0 "king"', '   0.0000  1 "queen"']


def test_metrics(ok, glove):
    ask = ("neighbors", "man", "--weights", glove, "--top", "3", "--json", "--metric")
    assert found(ok(*ask, "cosine")) == [[3, 0, 4]]
    assert found(ok(*ask, "dot")) == [[0, 1, 3]]  # of equal ones the lowest
    assert found(ok(*ask, "l2")) == [[3, 5, 0]]
    report = json.loads(ok(*ask, "l2"))
    assert report["queries"][0]["neighbors"][0] == {"id": 3, "text": "woman", "bytes": b"woman".hex(), "score": 1.0}
    assert report["table"] == {"file": str(glove), "shape": [6, 3]} and report["metric"] == "l2"


def test_every_way_to_ask(ok, glove, tmp_path):
    weights = ("--weights", glove, "--json", "--top", "1")
    by_word = json.loads(ok("neighbors", "queen", *weights))["queries"]
    assert json.loads(ok("neighbors", "--id", "1", *weights))["queries"] == by_word
    assert json.loads(ok("neighbors", "--bytes", b"queen".hex(), *weights))["queries"] == by_word
    vector = write_npy(tmp_path / "v.npy", "(3,)", [1, 1, 2])
    (query,) = json.loads(ok("neighbors", "--vector", vector, *weights))["queries"]
    assert query["vector"] == f"{vector}[0]" and query["neighbors"][0]["id"] == 1  # no row of its own is left out
    two = write_npy(tmp_path / "two.npy", "(2, 3)", [1, 1, 2, 1, 0, 0])
    assert found(ok("neighbors", "man", "--vector", two, *weights)) == [[3], [1], [2]]


def test_fold(ok, glove):
    lines = ok("neighbors", "queen", "--weights", glove, "--fold").decode().splitlines()
    assert lines[1] == '   0.9302  4 "King"  with "king"' and len(lines) == 5
    assert found(ok("neighbors", "king", "--weights", glove, "--fold", "--json")) == [[1, 2, 3, 5]]
    report = json.loads(ok("neighbors", "queen", "--weights", glove, "--fold", "--json", "--top", "1"))
    assert report["queries"][0]["neighbors"][0]["family"] == [0, 4]


def test_tokens_of_a_model(ok, fails, gpt2):
    lines = ok("neighbors", " king", "--weights", gpt2, "--metric", "l2", "--top", "2").decode().splitlines()
    assert lines[0] == '5822 " king", l2'
    assert lines[1].startswith('   1.0000  5821 "') and lines[2].startswith('   1.0000  5823 "')
    assert found(ok("neighbors", " king", "--weights", gpt2.parent, "--metric", "l2", "--top", "2", "--json")) == [
        [5821, 5823]]
    report = json.loads(ok("neighbors", "<|endoftext|>", "--weights", gpt2, "--json", "--top", "1"))
    assert report["queries"][0]["id"] == 50256 and report["table"]["file"].endswith(", wte.weight")
    words = fails(3, "neighbors", " kingly", "--weights", gpt2)
    assert words.startswith('firstlayer neighbors: " kingly" is not one token but 2: 479 " k", 4420 "ingly"\n')
    words = fails(3, "neighbors", "kingdom", "--weights", gpt2)
    assert '"kingdom" is not one token but 2: 3364 "king", 3438 "dom"' in words and '" kingdom" is one' in words


def test_rows_behind_the_tokens(ok, tmp_path):
    path = write_gpt2(tmp_path / "padded.safetensors", rows=50304)
    lines = ok("neighbors", "--id", "50300", "--weights", path, "--metric", "l2", "--top", "1").decode().splitlines()
    assert lines[0] == "row 50300, l2" and lines[1].endswith("  row 50299")


def test_tensors(ok, fails, tmp_path):
    path = tmp_path / "x.safetensors"
    write_safetensors(path, {"one": ([2, 2], [1, 0, 0, 1]), "two": ([2, 2], [1, 1, 1, 2]), "bias": ([2], [0, 0])})
    assert "which of its 2 matrices is the table?\n  hint: --tensor NAME, such as one, two" in fails(
        3, "neighbors", "--id", "0", "--weights", path)
    assert found(ok("neighbors", "--id", "0", "--weights", path, "--tensor", "two", "--json")) == [[1]]
    assert "no tensor \"tow\"\n  hint: --tensor two?" in fails(3, "neighbors", "--id", "0", "--weights", path,
                                                               "--tensor", "tow")
    words = fails(3, "neighbors", "a", "--weights", path, "--tensor", "one")
    assert "has 2 rows and no words: it is not of the vocabulary gpt2, which has 50,257 tokens" in words
    assert "expected a matrix of F32, F16, BF16 or F64" in fails(3, "neighbors", "--id", "0", "--weights", path,
                                                                 "--tensor", "bias")


def test_npy_table(ok, tmp_path):
    path = write_npy(tmp_path / "t.npy", "(3, 2)", [1, 0, 0, 1, 1, 1])
    assert ok("neighbors", "--id", "0", "--weights", path).decode().splitlines() == [
        "row 0, cosine", "   0.7071  row 2", "   0.0000  row 1"]


def test_word2vec(ok, tmp_path):
    binary = tmp_path / "v.bin"
    binary.write_bytes(b"2 2\n" + b"\xff\xfe " + struct.pack("<2f", 1, 0) + b"b " + struct.pack("<2f", 1, 1))
    assert ok("neighbors", "b", "--weights", binary).decode() == '1 "b", cosine\n   0.7071  0 "\\xff\\xfe"\n'
    assert found(ok("neighbors", "--bytes", "FFfe", "--weights", binary, "--json")) == [[1]]
    text = tmp_path / "v.vec"
    text.write_text("2 2\na 1 0\nb 1 1\n")
    assert found(ok("neighbors", "a", "--weights", text, "--json")) == [[1]]


def test_unknown_words(fails, glove):
    words = fails(3, "neighbors", "quene", "--weights", glove)
    assert f'"quene" is not among the 6 words of {glove}\n  hint: "queen"?\n' in words
    assert "hint" not in fails(3, "neighbors", "xyzzyxyzzy", "--weights", glove)


def test_what_cannot_be_asked(fails, glove, tmp_path):
    assert "expected a word, received none" in fails(2, "neighbors", "--weights", glove)
    assert "expected --weights FILE, received none" in fails(2, "neighbors", "king")
    assert 'expected a word, received ""' in fails(2, "neighbors", "", "--weights", glove)
    assert "--id 6 is not below 6" in fails(3, "neighbors", "--id", "6", "--weights", glove)
    assert "--id 99999999999 is not below 6" in fails(3, "neighbors", "--id", "99999999999", "--weights", glove)
    assert '--id: expected a whole number, received "x"' in fails(2, "neighbors", "--id", "x", "--weights", glove)
    for text in ("", "f", "zz", "6b6"):
        assert "--bytes: expected pairs of hex digits" in fails(2, "neighbors", "--bytes", text, "--weights", glove)
    assert "expected cosine, dot or l2" in fails(2, "neighbors", "king", "--metric", "l1", "--weights", glove)
    assert "expected a whole number of at least 1" in fails(2, "neighbors", "king", "--top", "0", "--weights", glove)
    assert "--tensor is for .safetensors files" in fails(2, "neighbors", "king", "--weights", glove, "--tensor", "x")
    wide = write_npy(tmp_path / "wide.npy", "(4,)", [1, 1, 1, 1])
    assert "expected vectors of width 3, that of the table, received 4" in fails(
        3, "neighbors", "--vector", wide, "--weights", glove)
    bad = write_npy(tmp_path / "bad.npy", "(3,)", [1, float("nan"), 1])
    assert "received nan at query[0, 1]" in fails(3, "neighbors", "--vector", bad, "--weights", glove)


def test_bad_tables(fails, tmp_path):
    assert "cannot open" in fails(4, "neighbors", "a", "--weights", tmp_path / "gone.txt")
    assert "expected model.safetensors in the folder" in fails(4, "neighbors", "a", "--weights", tmp_path)
    bad = tmp_path / "bad.txt"
    bad.write_text("a 1 2\nb 1\n")
    assert "line 2: expected a word and 2 numbers, received a word and 1 numbers" in fails(
        3, "neighbors", "a", "--weights", bad)
    bad.write_text("a 1 2\nb 1 inf\n")
    assert "expected finite numbers, received inf at table[1, 1]" in fails(3, "neighbors", "a", "--weights", bad)
    bad.write_text("0 3\n")
    assert "expected a table of at least one row, received (0, 3)" in fails(3, "neighbors", "a", "--weights", bad)


def test_any_number_of_threads(ok, gpt2):
    ask = ("neighbors", " king", "--weights", gpt2, "--json")
    assert ok(*ask, "--threads", "1") == ok(*ask, "--threads", "3")
