"""batches: text to windows in batch order."""

import json

from tensor_files import read_npy, values


def printed_batches(output):
    return [json.loads(line) for line in output.splitlines()]


def test_running_example(ok, verdict):
    batches = printed_batches(ok("batches", "--file", verdict, "--json"))
    assert len(batches) == 161 and len(batches[-1]["inputs"]) == 6
    assert [batch["batch"] for batch in batches] == list(range(161))
    assert batches[0]["inputs"][:2] == [[40, 367, 2885, 1464], [1807, 3619, 402, 271]]
    assert batches[0]["targets"][:2] == [[367, 2885, 1464, 1807], [3619, 402, 271, 10899]]


def test_shuffled_order_is_that_of_pytorch(ok, verdict):
    flags = ("batches", "--file", verdict, "--shuffle", "--seed", "123", "--drop-last")
    batches = printed_batches(ok(*flags, "--json"))
    assert len(batches) == 160
    assert batches[0]["inputs"][:3] == [[326, 7284, 35924, 262], [460, 1560, 345, 287], [1540, 558, 286, 2282]]
    lines = ok(*flags).decode().splitlines()
    assert lines[0] == "epoch 0 batch 0: inputs -> targets, each (8, 4)"
    assert lines[1] == "326 7284 35924 262 -> 7284 35924 262 12306"
    assert len(lines) == 160 * 9


def test_context_and_stride(ok, verdict):
    ids = [int(word) for word in ok("encode", "--file", verdict).split()]
    for context, stride in ((256, 128), (3, 7), (5, 1)):
        batches = printed_batches(ok("batches", "--file", verdict, "--json", "--context", context, "--stride", stride))
        starts = range(0, len(ids) - context, stride)
        assert [row for batch in batches for row in batch["inputs"]] == [ids[s:s + context] for s in starts]
        assert [row for batch in batches for row in batch["targets"]] == [ids[s + 1:s + context + 1] for s in starts]
    assert len(range(0, 5145 - 256, 128)) == 39


def test_epochs(ok):
    flags = ("batches", "--text", "one two three four five six", "--context", "1", "--batch-size", "2", "--json")
    plain = printed_batches(ok(*flags, "--epochs", "2"))
    assert [batch["epoch"] for batch in plain] == [0, 0, 0, 1, 1, 1]
    assert plain[0]["inputs"] == plain[3]["inputs"]
    shuffled = printed_batches(ok(*flags, "--epochs", "2", "--shuffle"))
    first, second = ([row for batch in shuffled if batch["epoch"] == epoch for row in batch["inputs"]]
                     for epoch in (0, 1))
    assert first != second and sorted(first) == sorted(second)


def test_files(ok, firstlayer, verdict, tmp_path):
    flags = ("batches", "--file", verdict, "--shuffle", "--drop-last", "--epochs", "2")
    done = firstlayer(*flags, "--inputs", "x.npy", "--targets", "y.npy")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"x.npy: inputs (2560, 4), int64\ny.npy: targets (2560, 4), int64\n"
    batches = printed_batches(ok(*flags, "--json"))
    for name, part in (("x.npy", "inputs"), ("y.npy", "targets")):
        dtype, shape, data = read_npy(tmp_path / name)
        assert (dtype, shape) == ("<i8", (2560, 4))
        assert values(data, dtype) == [id for batch in batches for row in batch[part] for id in row]
    report = json.loads(ok(*flags, "--targets", "y.npy", "--json"))
    assert report == {"shape": [2560, 4], "batches": 320, "targets": "y.npy"}


def test_text_too_short(fails):
    words = fails(3, "batches", "--text", "one two", "--context", "4")
    assert "--context 4" in words and "received 2" in words
    assert "received 4" in fails(3, "batches", "--text", "one two three four", "--context", "4")
    assert "received 1" in fails(3, "batches", "--text", "one two three", "--context", "2", "--drop-last")
    assert fails(3, "batches", "--text", "one two", "--context", 2**64 - 1)


def test_sizes_far_beyond_the_text(ok):
    expected = ok("batches", "--text", "a b c", "--context", "2", "--json")
    assert ok("batches", "--text", "a b c", "--context", "2", "--json", "--stride", 2**64 - 1) == expected
    assert ok("batches", "--text", "a b c", "--context", "2", "--json", "--batch-size", 2**64 - 1) == expected


def test_mistakes(fails):
    assert "two files" in fails(2, "batches", "--text", "a b c", "--context", "1", "--inputs", "a.npy", "--targets",
                                "a.npy")
    assert "--inputs" in fails(2, "batches", "--text", "a b c", "--inputs", "a.txt")
    assert "--epochs" in fails(2, "batches", "--text", "a b c", "--context", "1", "--epochs", 2**64 - 1)
