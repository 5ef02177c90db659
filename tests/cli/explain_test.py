"""explain: the claims about embeddings and positions, on a text."""

import json
import re

import pytest
from tensor_files import write_safetensors
from terminals import run_on_terminal

CLAIMS = ["one-hot", "touched-rows", "same-token", "shuffle", "attention", "renumbering", "adding", "budget"]
DOG = ("explain", "--text", "dog bites man", "--dim", "16")
TWICE = ("explain", "--text", "dog bites man, man bites dog", "--dim", "16")


def verdicts(printed):
    return {claim["id"]: claim["verdict"] for claim in json.loads(printed)["claims"]}


def test_report(ok):
    lines = ok("explain", "--text", "dog bites man").decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:2] == ['3 ids: 9703 "dog"  26081 " bites"  582 " man"',
                         "E (50257, 256), P (64, 256), drawn from seed 123"]
    assert lines.count("   => holds") == 7 and lines[-1] == "7 of 8 claims hold; this text does not show one"
    assert "   => not shown; it takes a token twice, as in: dog bites man, man bites dog" in lines
    assert any(re.fullmatch(r'     other order +" man" " bites" "dog"', line) for line in lines)
    assert any(re.fullmatch(r"     rows moved +3 of 50,257 rows", line) for line in lines)


def test_json_report(ok):
    report = json.loads(ok(*TWICE, "--json"))
    assert report["text"] == {"bytes": 28, "ids": 7}
    assert report["ids"] == [9703, 26081, 582, 11, 582, 26081, 3290]
    assert report["tokens"] == ["dog", " bites", " man", ",", " man", " bites", " dog"]
    assert (report["token_table"], report["position_table"]) == ({"shape": [50257, 16]}, {"shape": [64, 16]})
    assert [claim["id"] for claim in report["claims"]] == CLAIMS
    assert {claim["verdict"] for claim in report["claims"]} == {"holds"}
    assert (report["hold"], report["do_not_hold"], report["not_shown"]) == (8, 0, 0)
    measured = {claim["id"]: claim["measured"] for claim in report["claims"]}
    assert measured["one-hot"]["vectors_that_differ"] == {"value": 0, "of": 7 * 16, "unit": "values"}
    assert measured["touched-rows"]["rows_moved"] == {"value": 5, "of": 50257, "unit": "rows"}
    assert measured["touched-rows"]["a_touched_row"] == {"value": [9703]}
    assert measured["same-token"]["its_slots"] == {"value": [2, 4]}
    assert measured["same-token"]["its_difference_with_positions"]["value"] > 0
    assert measured["attention"]["difference_without_positions"]["value"] < 1e-13
    assert measured["attention"]["difference_with_positions"]["value"] > 0.01
    assert measured["adding"]["width_when_concatenated"] == {"value": 32}
    assert measured["budget"]["GPT-2_124M"] == {"value": 39383808, "of": 124439808, "unit": "parameters"}


def test_not_shown(ok):
    report = json.loads(ok(*DOG, "--json"))
    claim = report["claims"][2]
    assert (claim["verdict"], claim["measured"]) == ("not shown", {}) and "twice" in claim["needs"]
    assert report["not_shown"] == 1 and "needs" not in report["claims"][0]
    for text in ("dog", "dog dog", "🙂", "\u0000"):
        shown = verdicts(ok("explain", "--dim", "16", "--json", input=text.encode()))
        assert "does not hold" not in shown.values() and shown["one-hot"] == "holds"
    assert verdicts(ok("explain", "--text", " dog dog", "--dim", "16", "--json")) == {
        claim: "not shown" if claim in ("shuffle", "attention") else "holds" for claim in CLAIMS}


def test_texts_of_all_kinds(ok, verdict):
    for data in ("naïve 漢字 🙂🙂".encode(), b"\xff\xfe\x80 \xc3", b"\0\0", b"a\x1b[2J\r\n\xe2\x80\xae a"):
        printed = ok("explain", "--dim", "4", input=data).decode()
        assert "claims hold" in printed and not any(character in printed for character in "\x1b\r\u202e")
    printed = ok("explain", "--file", verdict, "--dim", "16").decode()
    assert printed.startswith('the first 64 of 5,145 ids: 40 "I"  367 " H"') and "8 of 8 claims hold" in printed
    assert ok("explain", "--file", verdict, "--dim", "16", "--context", "3").startswith(b"the first 3 of 5,145 ids")
    assert ok("explain", "--text", "dog", "--dim", "16").startswith(b'1 id: 9703 "dog"\n')


def test_special_tokens(ok, fails):
    text = ("explain", "--dim", "16", "--text", "a<|endoftext|>a")
    assert "<|endoftext|>" in fails(3, *text)
    assert json.loads(ok(*text, "--allow-special", "all", "--json"))["ids"] == [64, 50256, 64]


def test_no_text(fails):
    for arguments in (["--text", ""], []):
        words = fails(3, "explain", *arguments)
        assert "at least one id" in words and "hint: --text" in words


def test_sizes(fails):
    for flag, most in (("--dim", 2**20), ("--context", 1024)):
        assert f"at most {most}," in fails(2, *DOG[:3], flag, most + 1)
        assert "at least 1" in fails(2, *DOG[:3], flag, "0")


@pytest.fixture
def model(tmp_path):
    """A GPT-2 of 1,000 tokens and 5 positions, all of whose rows differ."""

    def write(token=lambda i, j: (i * 7 % 13 + j * j) / 8, position=lambda t, j: (t * 5 % 7 - j) / 8):
        write_safetensors(tmp_path / "model.safetensors", {
            "wte.weight": ([1000, 4], [token(i, j) for i in range(1000) for j in range(4)]),
            "wpe.weight": ([5, 4], [position(t, j) for t in range(5) for j in range(4)])})
        return "model.safetensors"

    return write


def test_weights(ok, fails, model):
    flags = ("explain", "--text", "a b c d e f a", "--weights", model())
    printed = ok(*flags).decode().splitlines()
    assert printed[0].startswith("the first 5 of 7 ids: 64 ")
    assert printed[1] == "E (1000, 4), P (5, 4), model.safetensors"
    assert json.loads(ok(*flags, "--context", "2", "--json"))["ids"] == [64, 275]
    assert "not the width" in fails(2, *flags, "--dim", "8")
    assert "5 positions" in fails(2, *flags, "--context", "6")
    assert "missing.safetensors" in fails(4, *DOG[:3], "--weights", "missing.safetensors")
    words = fails(3, *DOG[:3], "--weights", "model.safetensors")
    assert "9703" in words and "1000" in words


def test_a_claim_that_does_not_hold_is_a_finding(firstlayer, fails, model):
    name = model(position=lambda t, j: 0)
    done = firstlayer("explain", "--text", " a b a", "--weights", name)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.endswith(b"5 of 8 claims hold, 3 do not\n") and done.stdout.count(b"   => does not hold\n") == 3
    done = firstlayer("explain", "--text", " a b a", "--weights", name, "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["do_not_hold"] == 3
    model(token=lambda i, j: float("nan") if (i, j) == (275, 2) else i)
    assert "nan at E[275, 2]" in fails(3, "explain", "--text", " a b a", "--weights", name)


def test_threads_and_seeds(ok):
    assert ok(*TWICE, "--threads", "1") == ok(*TWICE, "--threads", "3")
    assert ok(*TWICE, "--seed", "1") != ok(*TWICE)


@pytest.mark.parametrize("columns", [30, 40, 72, 200])
def test_any_width_of_terminal(command, columns):
    code, printed = run_on_terminal([command, *TWICE], columns, {"TERM": "xterm", "LC_ALL": "C.UTF-8"})
    assert code == 0
    assert "\x1b[32m=> holds\x1b[0m" in printed and "\x1b[48;5;" in printed
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines()
    assert max(map(len, lines)) <= min(columns, 100)
    assert any("5 of 50,257 rows" in line for line in lines)


def test_colors(ok):
    plain = ok(*TWICE, "--color", "never")
    colored = ok(*TWICE, "--color", "always")
    assert b"\x1b" not in plain and colored.count(b"\x1b[32m=> holds\x1b[0m") == 8
    strips = [line.split(b"  ")[-1] for line in colored.splitlines() if line.startswith(b"     with")]
    assert len(strips) == 8  # four of a token in two slots, four of what attention makes of one
    assert b"\x1b[33m=> not shown" in ok(*DOG, "--color", "always")
