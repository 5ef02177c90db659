"""tiktoken on one text.  usage: tiktoken_encode.py RANKS TEXT (dump FILE | time N)"""

import sys
from pathlib import Path

import tiktoken
from tiktoken_ext.openai_public import r50k_pat_str

from encode.ranks import read_ranks
from harness.python_contender import main

ranks, text_path = sys.argv[1:3]
text = Path(text_path).read_bytes().decode()


def load():
    encoding = tiktoken.Encoding(
        "gpt2",
        pat_str=r50k_pat_str,
        mergeable_ranks=read_ranks(ranks),
        special_tokens={"<|endoftext|>": 50256},
        explicit_n_vocab=50257,
    )
    return lambda: encoding.encode_to_numpy(text, disallowed_special=())


main(tiktoken.__version__, load, lambda ids: ids.astype("<u4").tobytes())
