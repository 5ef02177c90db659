"""analogy: the rows nearest to A - B + C."""

import json

import pytest

WORDS = ["king 1 0 2", "queen 1 1 2", "man 1 0 0", "woman 1 1 0", "prince 1 0.2 1.8", "Queen 1 0.9 2"]


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("".join(word + "\n" for word in WORDS))
    return path


def test_queen(ok, glove):
    lines = ok("analogy", "king", "man", "woman", "--weights", glove, "--top", "2").decode().splitlines()
    assert lines[0] == '0 "king" - 2 "man" + 3 "woman", cosine'
    assert lines[1].endswith('1 "queen"') and lines[2].endswith('5 "Queen"')
    lines = ok("analogy", "king", "man", "woman", "--weights", glove, "--rule", "multiply").decode().splitlines()
    assert lines[0].endswith(", 3CosMul") and lines[1].endswith('1 "queen"') and len(lines) == 4


def test_json_and_other_ways_to_ask(ok, glove):
    weights = ("--weights", glove, "--json")
    report = json.loads(ok("analogy", "king", "man", "woman", *weights))
    assert report["rule"] == "add" and report["a"] == {"id": 0, "text": "king", "bytes": b"king".hex()}
    assert [row["id"] for row in report["neighbors"]] == [1, 5, 4]
    assert json.loads(ok("analogy", "--id", "0", "--id", "2", "--id", "3", *weights)) == report
    assert json.loads(ok("analogy", "king", "--id", "2", "--bytes", b"woman".hex(), *weights)) == report


def test_fold(ok, glove):
    report = json.loads(ok("analogy", "king", "man", "woman", "--weights", glove, "--json", "--fold"))
    assert [row["id"] for row in report["neighbors"]] == [1, 4] and report["neighbors"][0]["family"] == [1, 5]
    report = json.loads(ok("analogy", "queen", "woman", "man", "--weights", glove, "--json", "--fold"))
    assert [row["id"] for row in report["neighbors"]] == [0, 4]  # nobody of the family of queen


def test_what_cannot_be_asked(fails, glove):
    assert "expected three words, A B C for A - B + C, received 2" in fails(2, "analogy", "king", "man", "--weights",
                                                                            glove)
    assert "received 4" in fails(2, "analogy", "a", "b", "c", "--id", "1", "--weights", glove)
    assert '"womn" is not among the 6 words' in fails(3, "analogy", "king", "man", "womn", "--weights", glove)
    assert "expected add or multiply" in fails(2, "analogy", "king", "man", "woman", "--rule", "x", "--weights", glove)
    assert "expected --weights FILE" in fails(2, "analogy", "king", "man", "woman")
