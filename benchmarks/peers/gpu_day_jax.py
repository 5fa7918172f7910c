"""JAX's side of gpu_bandwidth.cpp: rows of the same names under jit, [elements]; prints a line of JSON each. Float means float."""

import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp

jax.config.update("jax_default_matmul_precision", "float32")
if jax.default_backend() != "gpu" and "--cpu" not in sys.argv:
    sys.exit("gpu_day_jax: JAX sees no card")
sizes = [int(word) for word in sys.argv[1:] if word.isdigit()]
elements = sizes[0] if sizes else 1 << 26
columns = 1024
rows = max(1, elements // columns)
m = 8
while 4 * m * m <= elements // 4:
    m *= 2
batch, heads, steps, side = max(1, m // 512), 16, max(8, m // 2), max(8, m // 64)
small = elements < 1 << 24
many_rows, words, features = (8, 64, 16) if small else (16384, 50304, 768)
keys = iter(jax.random.split(jax.random.key(1), 64))


def normal(*shape, dtype=jnp.float32):
    return jax.random.normal(next(keys), shape, dtype)


def labels(count, classes):
    return jax.random.randint(next(keys), (count,), 0, classes)


x, row, column, scale = normal(rows, columns), normal(columns), normal(rows, 1), jnp.ones(columns)
y, h = x + 1, x.astype(jnp.bfloat16)
h2, hs, hrow = y.astype(jnp.bfloat16), scale.astype(jnp.bfloat16), row.astype(jnp.bfloat16)
places = labels(rows, rows)
a, b, many = normal(m, m), normal(m, m), normal(batch * 8, m // 8, m // 8)
ah, bh = a.astype(jnp.bfloat16), b.astype(jnp.bfloat16)
q = normal(batch, steps, heads, 64, dtype=jnp.bfloat16)
images, filters, pictures = normal(batch * 4, side, side, 64), normal(3, 3, 64, 64), normal(batch * 32, side, side, 64)
tiny, key = normal(32, 32), jax.random.key(5)


def layer_norm(v, s, t):
    wide = v.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    return (centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5) * s + t).astype(v.dtype)


def conv(v, w):
    return jax.lax.conv_general_dilated(v, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(v):
    return jax.lax.reduce_window(v, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def attend(q, k, v, causal=False):
    return jax.nn.dot_product_attention(q, k, v, is_causal=causal)


def cross_entropy(logits, classes):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), classes[:, None], 1))


def chain(v):
    w = v
    for _ in range(10):
        w = jax.nn.softmax(w @ v)
    return w


def losses():
    logits, classes = normal(many_rows, words), labels(many_rows, words)
    yield "cross entropy", cross_entropy, (logits, classes)
    yield "gradient of cross entropy", jax.grad(cross_entropy), (logits, classes)
    table, weights, text = normal(words, features), normal(4 * many_rows, features), labels(4 * many_rows, words)
    yield "gradient of an embedding", jax.grad(lambda t, w, i: (t[i] * w).sum()), (table, weights, text)


def attention():
    for name, length in (("2k", 2048), ("8k", 8192), ("16k", 16384)):
        one = normal(16384 // length, length // 128 if small else length, heads, 64, dtype=jnp.bfloat16)
        yield (f"attention and gradients, {name}",
               jax.grad(lambda q, k, v: attend(q, k, v, True).astype(jnp.float32).sum(), (0, 1, 2)), (one, one, one))


def add_rows():
    yield "add", jnp.add, (x, y)
    yield "add bfloat16", jnp.add, (h, h2)
    yield "add a row", jnp.add, (x, row)
    yield "add a column", jnp.add, (x, column)
    yield "tanh of x y + row", lambda x, y, r: jnp.tanh(x * y + r), (x, y, row)
    yield "to bfloat16", lambda x: x.astype(jnp.bfloat16), (x,)
    yield "copy of the transpose", lambda x: x.T + 0, (x,)
    yield "rows by index", lambda x, i: x[i], (x, places)
    yield "sum", jnp.sum, (x,)
    yield "sum of rows", lambda x: x.sum(1), (x,)
    yield "sum of columns", lambda x: x.sum(0), (x,)
    yield "argmax", jnp.argmax, (x,)
    yield "cumsum", lambda x: jnp.cumsum(x.reshape(-1)), (x,)
    yield "cumsum of columns", lambda x: jnp.cumsum(x, 0), (x,)
    yield "sort", lambda x: jnp.sort(x.reshape(-1)), (x,)
    yield "sort of rows", jnp.sort, (x,)
    yield "softmax of rows", jax.nn.softmax, (x,)
    yield "normal", lambda k: jax.random.normal(k, (rows, columns)), (key,)
    yield "gradient of a row", jax.grad(lambda v, x: (x * v).sum()), (row, x)
    yield "matmul float", jnp.matmul, (a, b)
    yield "matmul float, transposed", lambda a, b: a.T @ b, (a, b)
    yield "matmul bfloat16", jnp.matmul, (ah, bh)
    yield "many products", jnp.matmul, (many, many)
    yield "attention bfloat16", attend, (q, q, q)
    yield "causal attention bfloat16", lambda q, k, v: attend(q, k, v, True), (q, q, q)
    yield "layer norm", layer_norm, (x, scale, row)
    yield "gradient of layer norm", jax.grad(lambda v, s, r, y: (layer_norm(v, s, r) * y).sum()), (x, scale, row, y)
    yield "softmax bfloat16", jax.nn.softmax, (h,)
    yield "layer norm bfloat16", layer_norm, (h, hs, hrow)
    yield "gradient of layer norm bfloat16", jax.grad(lambda v, s, r, y: (layer_norm(v, s, r) * y).sum()), (h, hs, hrow, h2)
    yield "log_softmax", jax.nn.log_softmax, (x,)
    yield "conv 3x3 of 64", conv, (images, filters)
    yield "max_pool 2x2", max_pool, (pictures,)
    yield "add rows at indices", lambda x, i, y: x.at[i].add(y), (x, places, y)
    yield "segment_sum of rows", lambda x, i: jax.ops.segment_sum(x, i, rows), (x, places)
    yield "ten layers of 32, replayed", chain, (tiny,)
    yield "one addition of 32 x 32", jnp.add, (tiny, tiny)
    yield from losses()
    yield from attention()


def a_round(f, given, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        result = f(*given)
    jax.block_until_ready(result)
    return (time.perf_counter() - begin) / calls


for name, f, given in add_rows():
    try:
        f = jax.jit(f)
        a_round(f, given, 3)
        calls = min(2000, max(2, int(0.02 / a_round(f, given, 1))))
        print(json.dumps({"kernel": name, "seconds": statistics.median(a_round(f, given, calls) for _ in range(5))}), flush=True)
    except Exception as error:  # a row that JAX cannot compute is left out
        print(f"{name}: {error}", file=sys.stderr)
