"""embed --position: what each scheme adds to the vectors, and what it leaves to attention."""

import json
import math
import struct

import pytest
from tensor_files import read_npy, values, write_safetensors

SCHEMES = ["learned", "sinusoidal", "sinusoidal-half", "rotary", "alibi", "t5", "none"]
TEXT = ("embed", "--text", " a a a a", "--context", "3", "--seed", "7")


def float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def wave(scheme, dim, t, column):
    """The published formulas, computed in double and rounded."""
    if scheme == "sinusoidal":
        angle = t / 10000 ** (2 * (column // 2) / dim)
        return float32(math.sin(angle) if column % 2 == 0 else math.cos(angle))
    half = dim // 2
    if column == 2 * half:
        return 0.0
    angle = t / 10000 ** (column % half / max(half - 1, 1))
    return float32(math.sin(angle) if column < half else math.cos(angle))


@pytest.fixture
def rows(ok, tmp_path):
    """rows(*flags): the numbers of the one window, (T, d) flat."""

    def embed(*flags):
        ok(*TEXT, *flags, "--output", "x.npy", "--quiet")
        dtype, _, data = read_npy(tmp_path / "x.npy")
        return values(data, dtype)

    return embed


@pytest.mark.parametrize("dim", [8, 5])
@pytest.mark.parametrize("scheme", ["sinusoidal", "sinusoidal-half"])
def test_waves_are_added(rows, scheme, dim):
    tokens = rows("--dim", dim, "--position", "none")
    summed = rows("--dim", dim, "--position", scheme)
    for index, (token, value) in enumerate(zip(tokens, summed)):
        assert value == pytest.approx(float32(token + wave(scheme, dim, index // dim, index % dim)), abs=2e-7)
    assert summed[:dim] != summed[dim:2 * dim] != summed[2 * dim:]  # one token in three slots


@pytest.mark.parametrize("scheme", ["rotary", "alibi", "t5"])
def test_attention_schemes_leave_the_vectors_alone(rows, scheme):
    assert rows("--dim", "8", "--position", scheme) == rows("--dim", "8", "--position", "none")


def test_token_table_is_the_same_for_every_scheme(ok):
    lines = {scheme: ok(*TEXT, "--dim", "16", "--position", scheme).decode().splitlines() for scheme in SCHEMES}
    assert len({shown[4] for shown in lines.values()}) == 1 and "E[257]" in lines["none"][4]
    added = [scheme for scheme, shown in lines.items() if "add P" in shown[5]]
    assert added == ["learned", "sinusoidal", "sinusoidal-half"]
    assert all("add P" not in "".join(lines[scheme]) for scheme in SCHEMES if scheme not in added)


def test_report_tells_what_attention_does(ok):
    def later(scheme):
        lines = ok(*TEXT, "--dim", "8", "--position", scheme).decode().splitlines()
        assert max(map(len, lines)) <= 80
        return [line for line in lines if line.startswith("  .. attention")]

    assert later("rotary") == ["  .. attention   heads of 64      q, k turn by t * theta: 1 0.7499 0.5623 ..."]
    assert later("alibi") == ["  .. attention   8 heads          scores - slope * distance: 0.5 0.25 0.125 ..."]
    assert later("t5") == ["  .. attention   32 buckets       scores + b[bucket]: distance 64 in bucket 26"]
    assert all(later(scheme) == [] for scheme in ("learned", "sinusoidal", "sinusoidal-half", "none"))


def test_json_tells_what_attention_does(ok):
    reports = {scheme: json.loads(ok(*TEXT, "--dim", "8", "--position", scheme, "--json")) for scheme in SCHEMES}
    assert {scheme: report["position"]["role"] for scheme, report in reports.items()} == {
        "learned": "added", "sinusoidal": "added", "sinusoidal-half": "added", "rotary": "rotates queries and keys",
        "alibi": "biases scores", "t5": "biases scores", "none": "none"}
    for scheme, report in reports.items():
        assert report["position"]["scheme"] == scheme
        assert report["position_table"] == ({"shape": [3, 8]} if report["position"]["role"] == "added" else None)
    rotary = reports["rotary"]["position"]
    assert rotary["theta"] == pytest.approx([rotary["base"] ** (-2 * i / 64) for i in range(32)], rel=1e-12)
    assert reports["alibi"]["position"]["slopes"] == [2.0**-h for h in range(1, 9)]
    assert reports["t5"]["position"]["bucket_of_distance"] == {"64": 26}


def test_weights_give_the_token_table(rows, tmp_path):
    write_safetensors(tmp_path / "model.safetensors", {
        "wte.weight": ([300, 4], [i + j / 4 for i in range(300) for j in range(4)]),
        "wpe.weight": ([2, 4], [1000.0] * 8)})  # fewer positions than --context, and not asked for
    tokens = [257 + j / 4 for j in range(4)] * 3
    assert rows("--weights", "model.safetensors", "--position", "rotary") == tokens
    assert rows("--weights", "model.safetensors", "--position", "sinusoidal") == [
        float32(token + wave("sinusoidal", 4, index // 4, index % 4)) for index, token in enumerate(tokens)]


def test_a_file_without_positions_serves_schemes_that_need_none(rows, fails, tmp_path):
    write_safetensors(tmp_path / "tokens.safetensors", {"wte.weight": ([300, 4], [float(i) for i in range(1200)])})
    assert rows("--weights", "tokens.safetensors", "--position", "none") == [1028.0, 1029.0, 1030.0, 1031.0] * 3
    assert "wpe.weight" in fails(3, *TEXT, "--weights", "tokens.safetensors", "--position", "learned")


def test_unknown_scheme(fails):
    words = fails(2, *TEXT, "--position", "rope")
    assert 'learned, sinusoidal, sinusoidal-half, rotary, alibi, t5 or none, received "rope"' in words
