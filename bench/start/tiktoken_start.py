"""tiktoken on the text given as an argument.  usage: tiktoken_start.py RANKS TEXT"""

import sys

import tiktoken
from tiktoken_ext.openai_public import r50k_pat_str

from encode.ranks import read_ranks

ranks, text = sys.argv[1:]
encoding = tiktoken.Encoding(
    "gpt2", pat_str=r50k_pat_str, mergeable_ranks=read_ranks(ranks), special_tokens={"<|endoftext|>": 50256}
)
print(*encoding.encode(text))
