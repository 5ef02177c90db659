"""decode: ids to bytes."""

import json

import pytest


def test_arguments_and_standard_input(ok):
    assert ok("decode", "15496", "11", "995") == b"Hello, world"
    assert ok("decode", "15496,11 995") == b"Hello, world"
    assert ok("decode", input=b"15496 11\n995\n") == ok("decode", input=b" 15496,\t11,\r\n995") == b"Hello, world"
    assert ok("decode", input=b"") == b""
    assert ok("decode", "00050256") == b"<|endoftext|>"


def test_ids_across_the_ends_of_reads(ok):
    """A long stream of five-digit ids: no read of a power of two bytes ends between two of them each time."""
    assert ok("decode", input=b"15496 " * 400_000) == b"Hello" * 400_000


def test_json(ok):
    done = json.loads(ok("decode", "--json", "39", "2634"))
    assert done == {"ids": 2, "text": "Hé", "bytes": "48c3a9"}
    assert json.loads(ok("decode", "--json", "187")) == {"ids": 1, "text": "\ufffd", "bytes": ok("decode", "187").hex()}


@pytest.mark.parametrize("word, shown", [
    (b"12abc", '"12abc"'), (b"-1", '"-1"'), (b"1.5", '"1.5"'), (b"\xff\x1b[2J", r'"\xff\x1b[2J"'), (b"[40", '"[40"'),
    (b"x" * 100_000, '"' + "x" * 40 + '..."'),
])
def test_words_that_are_no_ids(firstlayer, word, shown):
    done = firstlayer("decode", input=b"40 367\n" + word + b" 3")
    assert done.returncode == 3
    assert f"{shown} is not an id (word 3, at byte 7 of standard input)" in done.stderr.decode()


@pytest.mark.parametrize("number", ["50257", "4294967296", "99999999999999999999999999", "9" * 1000])
def test_ids_outside_the_vocabulary(fails, number):
    words = fails(3, "decode", "--json", "40", number)
    assert number[:40] in words and "not below 50257" in words and "word 2" in words


def test_minus_on_the_command_line(fails):
    assert '"-1"' in fails(3, "decode", "--", "-1")
