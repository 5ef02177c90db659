"""Hugging Face tokenizers on one text.  usage: tokenizers_encode.py RANKS TEXT (dump FILE | time N)"""

import array
import sys
from pathlib import Path

import tokenizers

from encode.ranks import merges_of, read_ranks
from harness.python_contender import main

ranks_path, text_path = sys.argv[1:3]
text = Path(text_path).read_bytes().decode()

# GPT-2's printable stand-in for each byte: itself where it is a visible Latin-1 character, else U+0100 and on.
VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
STAND_IN = {byte: chr(byte) for byte in VISIBLE} | {byte: chr(0x100 + i) for i, byte in enumerate(HIDDEN)}


def printable(token: bytes) -> str:
    return "".join(STAND_IN[byte] for byte in token)


def load():
    ranks = read_ranks(ranks_path)
    vocabulary = {printable(token): rank for token, rank in ranks.items()}
    merges = [(printable(left), printable(right)) for left, right in merges_of(ranks)]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return lambda: tokenizer.encode(text)


main(tokenizers.__version__, load, lambda encoding: array.array("I", encoding.ids).tobytes())
