"""encode: text to ids."""

import json

import pytest
from tensor_files import read_npy, values

SENTENCE = "Hello, do you like tea? <|endoftext|> In the sunlit terraces"
VERDICT_START = [40, 367, 2885, 1464, 1807, 3619, 402, 271]


def ids(output):
    return [int(word) for word in output.split()]


def test_sentence_with_special_token(ok):
    assert ok("encode", "--text", SENTENCE, "--allow-special", "all") == (
        b"15496 11 466 345 588 8887 30 220 50256 554 262 4252 18250 8812 2114\n")
    assert ids(ok("encode", "--text", SENTENCE, "--allow-special", "<|endoftext|>"))[8] == 50256
    ordinary = ids(ok("encode", "--text", SENTENCE, "--allow-special", "none"))
    assert 50256 not in ordinary and len(ordinary) > 15


def test_special_token_is_refused(fails):
    words = fails(3, "encode", "--text", SENTENCE)
    assert "--text: the text of the special token <|endoftext|> at byte 24 is" in words
    assert "--allow-special '<|endoftext|>'" in words and "--allow-special none" in words


def test_special_token_in_a_file_names_the_file(fails, tmp_path):
    (tmp_path / "fine.txt").write_text("fine")
    (tmp_path / "bad.txt").write_text("x" * 2_000_000 + "<|endoftext|>")
    words = fails(3, "encode", "--count", "--file", "fine.txt", "--file", "bad.txt")
    assert "bad.txt: the text of the special token <|endoftext|> at byte 2000000 is" in words


def test_unknown_special_name(fails):
    assert "<|endoftext|>, received \"<|start|>\"" in fails(2, "encode", "--text", "a", "--allow-special", "<|start|>")
    assert "all" in fails(2, "encode", "--text", "a", "--allow-special", "all", "--allow-special", "none")


def test_file_and_standard_input_agree(ok, verdict):
    from_file = ok("encode", "--file", verdict)
    assert len(ids(from_file)) == 5145 and ids(from_file)[:8] == VERDICT_START
    text = verdict.read_bytes()
    assert ok("encode", input=text) == ok("encode", "--file", "-", input=text) == from_file


def test_each_file_is_a_text_of_its_own(ok, tmp_path):
    (tmp_path / "a").write_text("hel")
    (tmp_path / "b").write_text("lo")
    apart = ok("encode", "--text", "hel").strip() + b" " + ok("encode", "--text", "lo")
    assert ok("encode", "--file", "a", "--file", "b") == apart
    assert ok("encode", "--file", "a", "--file", "-", input=b"lo") == apart


@pytest.mark.parametrize("before", range(14))
def test_pieces_across_the_ends_of_reads(ok, before):
    """The text is read 1 MiB at a time; the tail begins `before` bytes in front of such an end."""
    tail = " naïve 🙂 don't 12345  \t end\n\n"
    lines = ((1 << 20) - before) // 2
    filler = "\nx" * lines + " x" * (before % 2)
    expected = [198, 87] * lines + [2124] * (before % 2) + ids(ok("encode", "--text", tail))
    assert ids(ok("encode", input=(filler + tail).encode())) == expected


def test_any_bytes_come_back(ok):
    data = bytes(range(256)) * 3 + "né\u3000🙂".encode() + b"\xed\xa0\x80\xf0\x9f"
    assert ok("decode", input=ok("encode", input=data)) == data


def test_empty_text(ok):
    assert ok("encode", "--text", "") == ok("encode", "--text=") == ok("encode") == b"\n"
    assert ok("encode", "--text=", "--count") == b"0\n"
    assert ok("encode", "--json") == b"[]\n"
    assert json.loads(ok("encode", "--json", "--count")) == {"bytes": 0, "ids": 0, "bytes_per_id": None}


def test_text_that_looks_like_something_else(ok):
    assert ok("encode", "--text", "[a,b]") == ok("encode", input=b"[a,b]")
    assert ok("encode", "--text", "--count") == ok("encode", input=b"--count")
    assert ok("encode", "--text", "--count=") == ok("encode", input=b"--count=")
    assert ok("encode", "--text=a=b") == ok("encode", input=b"a=b")


def test_json(ok):
    text = "Hé 🤯!\xa0"
    tokens = json.loads(ok("encode", "--json", "--text", text))
    assert [list(token) for token in tokens] == [["id", "bytes", "text", "start", "end"]] * len(tokens)
    assert b"".join(bytes.fromhex(token["bytes"]) for token in tokens) == text.encode()
    assert [token["id"] for token in tokens] == ids(ok("encode", "--text", text))
    end = 0
    for token in tokens:
        assert token["start"] == end
        end = token["end"]
        assert token["text"] == bytes.fromhex(token["bytes"]).decode(errors="replace")
    assert end == len(text.encode()) and any("\ufffd" in token["text"] for token in tokens)


def test_json_positions_go_on_over_files(ok, tmp_path):
    (tmp_path / "a").write_text("hello")
    (tmp_path / "b").write_text("there")
    tokens = json.loads(ok("encode", "--json", "--file", "a", "--file", "b"))
    assert [(token["start"], token["end"]) for token in tokens] == [(0, 5), (5, 10)]


def test_count(ok, verdict):
    assert ok("encode", "--count", "--file", verdict) == b"5145\n"
    counts = json.loads(ok("encode", "--count", "--json", "--file", verdict))
    assert counts == {"bytes": 20479, "ids": 5145, "bytes_per_id": 20479 / 5145}


def test_output_files(ok, firstlayer, verdict, tmp_path):
    expected = ids(ok("encode", "--file", verdict))
    done = firstlayer("encode", "--file", verdict, "--output", "ids.npy")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"ids.npy: 5,145 ids, uint16\n")
    dtype, shape, data = read_npy(tmp_path / "ids.npy")
    assert (dtype, shape, values(data, dtype)) == ("<u2", (5145,), expected)
    assert ok("encode", "--file", verdict, "--output", "ids.bin", "--quiet") == b""
    assert (tmp_path / "ids.bin").read_bytes() == data
    report = json.loads(ok("encode", "--file", verdict, "--output", "ids.bin", "--json"))
    assert report["ids"] == 5145 and report["output"] == "ids.bin"
    assert ok("encode", "--text", "", "--output", "none.npy", "--count") == b"0\n"
    assert read_npy(tmp_path / "none.npy")[1] == (0,)


def test_output_larger_than_memory_is_spooled(ok, tmp_path):
    """More ids than are kept in memory before they go to a temporary file, of which nothing is left."""
    ok("encode", "--quiet", "--output", "ids.npy", input=b"\nx" * 1_200_000)
    dtype, shape, data = read_npy(tmp_path / "ids.npy")
    assert shape == (2_400_000,) and values(data, dtype) == [198, 87] * 1_200_000
    assert [path.name for path in tmp_path.iterdir()] == ["ids.npy"]
