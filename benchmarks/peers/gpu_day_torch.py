"""PyTorch's side of gpu_bandwidth.cpp: rows of the same names, [elements]; prints a line of JSON each."""

import itertools
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    sys.exit("gpu_day_torch: PyTorch sees no card")
elements = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 26
columns = 1024
rows = max(1, elements // columns)
m = 8
while 4 * m * m <= elements // 4:
    m *= 2
batch, heads, steps, side = max(1, m // 512), 16, max(8, m // 2), max(8, m // 64)
torch.set_default_device("cuda")
torch.manual_seed(1)
torch.backends.cudnn.allow_tf32 = False  # float32 means float32, as in nax and in PyTorch's matmul
x = torch.randn(rows, columns)
y, row, column, scale = x + 1, torch.randn(columns), torch.randn(rows, 1), torch.ones(columns)
h, h2, hs, hrow = x.bfloat16(), y.bfloat16(), scale.bfloat16(), row.bfloat16()
places = torch.randint(0, rows, (rows,))
a, b, many = torch.randn(m, m), torch.randn(m, m), torch.randn(batch * 8, m // 8, m // 8)
ah, bh = a.bfloat16(), b.bfloat16()
q = torch.randn(batch, heads, steps, 64).bfloat16()
torch.backends.cudnn.benchmark = True
images, filters = torch.randn(batch * 4, 64, side, side), torch.randn(64, 64, 3, 3)
pictures = torch.randn(batch * 32, 64, side, side)
channels_last = [v.to(memory_format=torch.channels_last) for v in (images, filters, pictures)]
small = torch.randn(32, 32)
few = elements < 1 << 24
many_rows, words, features = (8, 64, 16) if few else (16384, 50304, 768)


def gradient(f, of):
    leaf = of.detach().requires_grad_()
    return torch.autograd.grad(f(leaf), leaf)


def chain(v):
    w = v
    for _ in range(10):
        w = torch.softmax(w @ v, -1)
    return w


graph_in, graph = small.clone(), torch.cuda.CUDAGraph()
chain(graph_in)
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    graph_out = chain(graph_in)


def replay():
    graph_in.copy_(small)
    graph.replay()


ROWS = {
    "add": lambda: x + y,
    "add bfloat16": lambda: h + h2,
    "add a row": lambda: x + row,
    "add a column": lambda: x + column,
    "to bfloat16": lambda: x.bfloat16(),
    "copy of the transpose": lambda: x.T.contiguous(),
    "rows by index": lambda: x[places],
    "sum": lambda: x.sum(),
    "sum of rows": lambda: x.sum(1),
    "sum of columns": lambda: x.sum(0),
    "argmax": lambda: x.argmax(),
    "cumsum": lambda: x.view(-1).cumsum(0),
    "cumsum of columns": lambda: x.cumsum(0),
    "sort": lambda: x.view(-1).sort(),
    "sort of rows": lambda: x.sort(1),
    "softmax of rows": lambda: torch.softmax(x, -1),
    "normal": lambda: torch.randn(rows, columns),
    "matmul float": lambda: a @ b,
    "matmul float, transposed": lambda: a.T @ b,
    "matmul bfloat16": lambda: ah @ bh,
    "many products": lambda: many @ many,
    "attention bfloat16": lambda: F.scaled_dot_product_attention(q, q, q),
    "causal attention bfloat16": lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True),
    "layer norm": lambda: F.layer_norm(x, (columns,), scale, row),
    "gradient of layer norm": lambda: gradient(lambda v: (F.layer_norm(v, (columns,), scale, row) * y).sum(), x),
    "softmax bfloat16": lambda: torch.softmax(h, -1),
    "layer norm bfloat16": lambda: F.layer_norm(h, (columns,), hs, hrow),
    "gradient of layer norm bfloat16": lambda: gradient(lambda v: (F.layer_norm(v, (columns,), hs, hrow) * h2).sum(), h),
    "log_softmax": lambda: torch.log_softmax(x, -1),
    "conv 3x3 of 64": [lambda: F.conv2d(images, filters, padding="same"), lambda: F.conv2d(*channels_last[:2], padding="same")],
    "max_pool 2x2": [lambda: F.max_pool2d(pictures, 2), lambda: F.max_pool2d(channels_last[2], 2)],
    "add rows at indices": lambda: x.index_add(0, places, y),
    "segment_sum of rows": lambda: torch.zeros_like(x).index_add_(0, places, x),
    "gradient of a row": lambda: gradient(lambda v: (x * v).sum(), row),
    "ten layers of 32, replayed": replay,
    "ten layers of 32, called": lambda: chain(small),
    "one addition of 32 x 32": lambda: small + small,
}


def losses():
    logits, labels = torch.randn(many_rows, words), torch.randint(0, words, (many_rows,))
    yield "cross entropy", lambda: F.cross_entropy(logits, labels)
    yield "gradient of cross entropy", lambda: gradient(lambda v: F.cross_entropy(v, labels), logits)
    del logits
    table, weights = torch.randn(words, features), torch.randn(4 * many_rows, features)
    text = torch.randint(0, words, (4 * many_rows,))
    yield "gradient of an embedding", lambda: gradient(lambda v: (F.embedding(text, v) * weights).sum(), table)


def attention():
    for name, length in (("2k", 2048), ("8k", 8192), ("16k", 16384)):
        leaf = torch.randn(16384 // length, heads, length // 128 if few else length, 64).bfloat16().requires_grad_()
        yield (f"attention and gradients, {name}",
               lambda: torch.autograd.grad(F.scaled_dot_product_attention(leaf, leaf, leaf, is_causal=True).sum(), leaf))


def training():
    p = torch.randn(2 * elements).requires_grad_()
    p.grad = p.detach() * 0.01
    yield "Adam", torch.optim.Adam([p], 1e-3, fused=True).step
    there, here = torch.randn(elements), torch.randn(elements, device="cpu")
    yield "upload", lambda: here.cuda()
    yield "download", lambda: there.cpu()


def a_round(f, calls):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        f()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / calls


def seconds_of(f):
    a_round(f, 3)
    calls = min(2000, max(2, int(0.02 / a_round(f, 1))))
    return statistics.median(a_round(f, calls) for _ in range(5))


# The best of several layouts, where there are such.
for name, ways in itertools.chain(ROWS.items(), losses(), attention(), training()):
    seconds = min(seconds_of(f) for f in (ways if isinstance(ways, list) else [ways]))
    print(json.dumps({"kernel": name, "seconds": seconds}), flush=True)
