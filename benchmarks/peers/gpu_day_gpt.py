"""PyTorch's side of gpu_gpt.cpp: rows of the same names, [layers [texts]]; prints a line of JSON each. Its counterpart of jit is
torch.compile."""

import json
import sys
import time
import warnings

import torch
import torch.nn.functional as F
from torch import nn

if not torch.cuda.is_available():
    sys.exit("gpu_gpt_torch: PyTorch sees no card")
warnings.simplefilter("ignore")
layers = int(sys.argv[1]) if len(sys.argv) > 1 else 6
texts = int(sys.argv[2]) if len(sys.argv) > 2 else 64
SIZES = (layers, texts, 384, 6, 256, 64)
GPT2 = (12, 8, 768, 12, 1024, 50304) if layers > 1 else (1, 1, 32, 2, 16, 64)
torch.set_default_device("cuda")
torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = nn.LayerNorm(features), nn.LayerNorm(features)
        self.projections = nn.Linear(features, 3 * features, bias=False)
        self.out = nn.Linear(features, features, bias=False)
        self.wide = nn.Linear(features, 4 * features, bias=False)
        self.narrow = nn.Linear(4 * features, features, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.projections(self.first_norm(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.narrow(F.gelu(self.wide(self.second_norm(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, features, heads, context, letters):
        super().__init__()
        self.characters, self.places = nn.Embedding(letters, features), nn.Embedding(context, features)
        self.blocks = nn.ModuleList(Block(features, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(features)

    def forward(self, text):
        x = self.characters(text) + self.places(torch.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.characters.weight.T


def time_steps(name, tf32, compiles, half=False, sizes=SIZES):
    layers, texts, features, heads, context, letters = sizes
    torch.backends.cuda.matmul.allow_tf32 = tf32
    gpt = Gpt(layers, features, heads, context, letters)
    optimizer = torch.optim.Adam(gpt.parameters(), 1e-3, fused=True)
    rows = torch.randint(0, letters, (texts, context + 1))
    f = torch.compile(gpt) if compiles else gpt

    def run(steps):
        for _ in range(steps):
            with torch.autocast("cuda", torch.bfloat16, enabled=half):
                loss = F.cross_entropy(f(rows[:, :-1]).reshape(-1, letters), rows[:, 1:].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    first = run(5)
    begin = time.perf_counter()
    last = run(20)
    seconds = (time.perf_counter() - begin) / 20
    print(json.dumps({"step": name, "seconds": seconds, "tokens": texts * context / seconds, "losses": [first, last]}), flush=True)


time_steps("float32", False, False)
time_steps("float32, jit", False, True)
time_steps("TF32", True, False)
time_steps("TF32, jit", True, True)
time_steps("bfloat16, jit", True, True, True)
time_steps("GPT-2 124M, bfloat16, jit", True, True, True, GPT2)
