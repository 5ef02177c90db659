"""gigatoken on one text.  usage: gigatoken_encode.py RANKS TEXT (dump FILE | time N)"""

import importlib.metadata
import sys
from pathlib import Path

import gigatoken

from harness.python_contender import main

ranks, text_path = sys.argv[1:3]
text = Path(text_path).read_bytes()


def load():
    tokenizer = gigatoken.Tokenizer.from_tiktoken(ranks)  # knows r50k_base by the file's name
    return lambda: tokenizer.encode(text)


main(importlib.metadata.version("gigatoken"), load, lambda ids: ids.astype("<u4").tobytes())
