"""GPT-2's network in PyTorch, eager, as its users write it, with the start that random_gpt_parameters() draws."""

import torch
import torch.nn.functional as F
from torch import nn

V = 50257
SIZES = {"nano": (3, 3, 48), "micro": (4, 4, 128), "gpt2": (12, 12, 768)}  # layers, heads, d


class Block(nn.Module):
    def __init__(self, heads, dim):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention, self.attention_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.hidden, self.out = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        B, T, dim = x.shape
        heads = [part.view(B, T, self.heads, dim // self.heads).transpose(1, 2)
                 for part in self.attention(self.norm1(x)).split(dim, dim=2)]
        y = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(B, T, dim)
        x = x + self.attention_out(y)
        return x + self.out(F.gelu(self.hidden(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, preset, context, seed):
        super().__init__()
        layers, heads, dim = SIZES[preset]
        self.tokens, self.positions = nn.Embedding(V, dim), nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(heads, dim) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.draw(seed)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(F.linear(self.norm(x), self.tokens.weight).flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def draw(self, seed):
        """The numbers of random_gpt_parameters(config, seed), which lays a layer's matrix out as (inputs, outputs)."""
        torch.manual_seed(seed)
        self.tokens.weight.normal_(0, 0.02)
        self.positions.weight.normal_(0, 0.01)
        out_std = 0.02 / (2 * len(self.blocks)) ** 0.5
        for block in self.blocks:
            for layer, std in ((block.attention, 0.02), (block.attention_out, out_std),
                               (block.hidden, 0.02), (block.out, out_std)):
                layer.weight.copy_(torch.empty(layer.in_features, layer.out_features).normal_(0, std).T)
                layer.bias.zero_()

    def groups(self, weight_decay):
        """Matrices decay, biases and norms do not."""
        return [{"params": [p for p in self.parameters() if p.dim() > 1], "weight_decay": weight_decay},
                {"params": [p for p in self.parameters() if p.dim() == 1], "weight_decay": 0.0}]
