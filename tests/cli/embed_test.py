"""embed: text to the input tensor."""

import hashlib
import json
import struct
import unicodedata

import pytest
from tensor_files import read_npy, read_safetensors, values, write_safetensors

EXAMPLE = ("--batch-size", "8", "--context", "4", "--stride", "4", "--dim", "256", "--seed", "123")


def test_running_example(ok, verdict, tmp_path):
    ok("embed", "--file", verdict, *EXAMPLE, "--output", "x.safetensors")
    tensors = read_safetensors(tmp_path / "x.safetensors")
    assert {name: entry[:2] for name, entry in tensors.items()} == {
        "input_embeddings": ("F32", (1286, 4, 256)), "inputs": ("I64", (1286, 4)), "targets": ("I64", (1286, 4))}
    data = tensors["input_embeddings"][2]
    assert hashlib.sha256(data).hexdigest().startswith("b31acb981bb9e44a")
    assert values(data[:12], "F32") == list(struct.unpack("<3f", struct.pack("<3f", 0.478358746, 0.209353104,
                                                                             -1.30799139)))
    ids = [int(word) for word in ok("encode", "--file", verdict).split()]
    assert values(tensors["inputs"][2], "I64") == ids[:5144]
    assert values(tensors["targets"][2], "I64") == ids[1:]

    ok("embed", "--file", verdict, *EXAMPLE, "--output", "x.npy")
    assert read_npy(tmp_path / "x.npy") == ("<f4", (1286, 4, 256), data)
    for threads in ("1", "3"):
        ok("embed", "--file", verdict, *EXAMPLE, "--output", "t.npy", "--threads", threads)
        assert (tmp_path / "t.npy").read_bytes() == (tmp_path / "x.npy").read_bytes()


def test_batch_order(ok, verdict, tmp_path):
    flags = ("--file", verdict, "--shuffle", "--drop-last", "--context", "4")
    ok("embed", *flags, "--dim", "2", "--output", "x.safetensors", "--quiet")
    ok("batches", *flags, "--inputs", "inputs.npy", "--targets", "targets.npy", "--quiet")
    tensors = read_safetensors(tmp_path / "x.safetensors")
    assert tensors["input_embeddings"][1] == (1280, 4, 2)
    for name in ("inputs", "targets"):
        assert tensors[name][2] == read_npy(tmp_path / f"{name}.npy")[2]


def test_report(ok, verdict):
    lines = ok("embed", "--file", verdict, *EXAMPLE).decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:7] == [
        'text             20,479 bytes     "I HAD always thought Jack Gis" ...',
        "  -> encode      5,145 ids        40 367 2885 1464 1807 3619 402 271 ...",
        "  -> windows     (1286, 4)        stride 4; targets are one id later",
        "  -> batch       (8, 4)           161 batches, the last of 6",
        "  -> look up E   (8, 4, 256)      E[40]      -0.0640  0.3317  0.1070 -0.1428 ...",
        "  -> add P       (4, 256)         P[0]        0.5423 -0.1224 -1.4150 -0.3142 ...",
        "  =  input       (8, 4, 256)      x[0, 0]     0.4784  0.2094 -1.3080 -0.4570 ...",
    ]
    assert any("40 367 2885 1464 -> 1807" in line and '"I" " H" "AD" " always" -> " thought"' in line
               for line in lines)


def test_report_names_the_file(ok, tmp_path):
    flags = ("embed", "--text", "one two three", "--context", "2", "--dim", "3", "--output", "x.npy")
    assert "  -> file        (1, 2, 3)        x.npy" in ok(*flags).decode().splitlines()
    assert ok(*flags, "--quiet") == b""
    assert json.loads(ok(*flags, "--quiet", "--json"))["output"] == "x.npy"


def test_report_cannot_move_the_cursor(ok):
    text = "a\x1b[2J\r\n\u202e" + "漢字🙂 " * 3
    printed = ok("embed", "--text", text, "--context", "2", "--dim", "3").decode()
    assert not any(character in printed for character in "\x1b\r\u202e")


def test_report_lines_up_with_wide_characters(ok):
    def columns(text):
        return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

    lines = ok("embed", "--text", "漢字と🙂 e\u0301\u0301 文字" * 4, "--context", "8", "--dim", "5").decode().splitlines()
    assert max(map(columns, lines)) <= 80
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("  t  token")) + 1:]
    assert len(table) == 8 and len({columns(line) for line in table}) == 1
    assert "漢" in "".join(lines)


def test_strip_of_numbers_that_are_not_finite(ok, tmp_path):
    write_safetensors(tmp_path / "model.safetensors", {
        "wte.weight": ([300, 4], [float("nan"), float("inf"), 1.0, -1.0] * 300), "wpe.weight": ([2, 4], [0.0] * 8)})
    printed = ok("embed", "--text", "a b c", "--context", "2", "--weights", "model.safetensors", "--color", "always")
    assert printed.count(b"\x1b[0m?\x1b[0m?") == 2 and b"+" in printed and b"-" in printed


def test_json_report(ok, verdict):
    report = json.loads(ok("embed", "--file", verdict, *EXAMPLE, "--json"))
    assert report["text"] == {"bytes": 20479}
    assert report["ids"] == {"count": 5145, "first": [40, 367, 2885, 1464, 1807, 3619, 402, 271]}
    assert report["windows"] == {"count": 1286, "context": 4, "stride": 4,
                                 "first": {"inputs": [40, 367, 2885, 1464], "targets": [367, 2885, 1464, 1807]}}
    assert report["batches"] == {"count": 161, "shape": [8, 4, 256]}
    assert (report["token_table"], report["position_table"]) == ({"shape": [50257, 256]}, {"shape": [4, 256]})
    assert report["input_embeddings"]["shape"] == [1286, 4, 256]
    assert report["input_embeddings"]["first"][:2] == [0.47835874557495117, 0.20935310423374176]
    assert "output" not in report


def test_without_positions(ok, tmp_path):
    def rows(*flags):
        ok("embed", "--text", " a a a", "--context", "2", "--dim", "16", "--quiet", "--output", "x.npy", *flags)
        data = read_npy(tmp_path / "x.npy")[2]
        return data[:64], data[64:]

    bare, summed = rows("--position", "none"), rows()
    assert bare[0] == bare[1] and summed[0] != summed[1]  # the same token in two slots
    flags = ("embed", "--text", " a a a", "--context", "2", "--dim", "16")
    with_positions, without = (ok(*flags, *more).decode().splitlines() for more in ((), ("--position", "none")))
    assert with_positions[4] == without[4] and "E[257]" in without[4]  # the token table is drawn first
    assert "add P" in with_positions[5] and "add P" not in "".join(without)
    assert json.loads(ok(*flags, "--position", "none", "--json"))["position_table"] is None


@pytest.fixture
def model(tmp_path):
    """A GPT-2 with exact small numbers: wte[i, j] = i + j / 4, wpe[t, j] = 1000 t + j / 8."""

    def write(name="model.safetensors", prefix=""):
        write_safetensors(tmp_path / name, {
            f"{prefix}wte.weight": ([300, 4], [i + j / 4 for i in range(300) for j in range(4)]),
            f"{prefix}wpe.weight": ([5, 4], [1000 * t + j / 8 for t in range(5) for j in range(4)])})
        return name

    return write


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_weights(ok, model, tmp_path, prefix):
    name = model(prefix=prefix)
    flags = ("embed", "--text", "a b c", "--context", "2", "--weights", name, "--output", "x.npy", "--quiet")
    ids = [64, 275]
    ok(*flags)
    dtype, shape, data = read_npy(tmp_path / "x.npy")
    assert shape == (1, 2, 4)
    assert values(data, dtype) == [ids[t] + j / 4 + 1000 * t + j / 8 for t in range(2) for j in range(4)]
    ok(*flags, "--position", "none")
    assert values(read_npy(tmp_path / "x.npy")[2], dtype) == [ids[t] + j / 4 for t in range(2) for j in range(4)]


def test_weights_that_do_not_fit(fails, ok, model, tmp_path):
    flags = ("embed", "--text", "a b c a b c a b c", "--weights", model())
    words = fails(2, *flags, "--context", "6")
    assert "--context 6" in words and "5 positions" in words
    assert "--dim 8" in fails(2, *flags, "--dim", "8")
    assert json.loads(ok(*flags, "--dim", "4", "--context", "5", "--json"))["token_table"] == {"shape": [300, 4]}
    assert ok(*flags, "--context", "6", "--position", "none")
    words = fails(3, "embed", "--text", "Hello, world", "--context", "2", "--weights", model(), "--output", "x.npy")
    assert "15496" in words and "300" in words
    assert not (tmp_path / "x.npy").exists()


def test_weights_that_are_no_model(fails, model, tmp_path):
    flags = ("embed", "--text", "a b c", "--context", "2", "--weights")
    assert "missing.safetensors" in fails(4, *flags, "missing.safetensors")
    whole = (tmp_path / model()).read_bytes()
    for content in (b"", whole[:100], whole[:-4], whole + b"x", b"\xff" * 8 + whole[8:], b"not a model"):
        (tmp_path / "bad.safetensors").write_bytes(content)
        assert "bad.safetensors" in fails(3, *flags, "bad.safetensors")
    write_safetensors(tmp_path / "other.safetensors", {"weight": ([2, 2], [0, 0, 0, 0])})
    assert "wte.weight" in fails(3, *flags, "other.safetensors")


def test_text_too_short(fails):
    assert "received 0" in fails(3, "embed", "--text", "")
    words = fails(3, "embed", "--text", "one two three four")
    assert "--context 4" in words and "received 4" in words


def test_sizes_beyond_memory(fails):
    text = ("embed", "--text", "one two three", "--context", "2")
    assert "--dim" in fails(2, *text, "--dim", 2**64 - 1)
    assert "memory" in fails(4, *text, "--dim", 2**44)
