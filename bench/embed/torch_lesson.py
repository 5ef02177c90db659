"""The lessons' way from a text to its input embeddings, in PyTorch.
usage: torch_lesson.py RANKS TEXT DIM CONTEXT THREADS OUTPUT

tiktoken, a Dataset of windows, a DataLoader, two nn.Embedding and their sum; the result is saved as safetensors."""

import sys
from pathlib import Path

import safetensors.torch
import tiktoken
import torch
from tiktoken_ext.openai_public import r50k_pat_str

from encode.ranks import read_ranks

ranks, text_path, dim, context, threads, output = sys.argv[1:]
dim, context = int(dim), int(context)
BATCH = 8


class Windows(torch.utils.data.Dataset):
    def __init__(self, ids: list[int]):
        starts = range(0, len(ids) - context, context)
        self.inputs = [torch.tensor(ids[start:start + context]) for start in starts]
        self.targets = [torch.tensor(ids[start + 1:start + context + 1]) for start in starts]

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.inputs[index], self.targets[index]


torch.set_num_threads(int(threads))
torch.manual_seed(123)
token_table = torch.nn.Embedding(50257, dim)
position_table = torch.nn.Embedding(context, dim)
encoding = tiktoken.Encoding(
    "gpt2", pat_str=r50k_pat_str, mergeable_ranks=read_ranks(ranks), special_tokens={"<|endoftext|>": 50256}
)
loader = torch.utils.data.DataLoader(Windows(encoding.encode(Path(text_path).read_text(encoding="utf-8"))), BATCH)

inputs, targets, embeddings = [], [], []
with torch.no_grad():
    for batch_inputs, batch_targets in loader:
        inputs.append(batch_inputs)
        targets.append(batch_targets)
        embeddings.append(token_table(batch_inputs) + position_table(torch.arange(context)))
safetensors.torch.save_file(
    {"input_embeddings": torch.cat(embeddings), "inputs": torch.cat(inputs), "targets": torch.cat(targets)}, output
)
