"""examples/gpt.cpp in JAX, nanoGPT's configuration for a CPU: python3 gpt.py TEXT [STEPS]"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

LAYERS, FEATURES, HEADS, BLOCK, BATCH = 4, 128, 4, 64, 12
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000

bytes_ = np.frombuffer(open(sys.argv[1], "rb").read(), np.uint8)
alphabet, numbers = np.unique(bytes_, return_inverse=True)
train, held = (jnp.asarray(part) for part in np.split(numbers, [len(numbers) * 9 // 10]))


def matrix(key, n, m, deviation=None):
    return jax.random.normal(key, (n, m)) * (deviation or n**-0.5)


def norm(p, x):
    x = x - jnp.mean(x, -1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * p[0] + p[1]


def block(p, x):
    y = norm(p["first_norm"], x) @ p["qkv"]
    q, k, v = jnp.split(y.reshape(*y.shape[:2], 3 * HEADS, -1), 3, 2)
    y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    x = x + y.reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(norm(p["second_norm"], x) @ p["wide"]) @ p["narrow"]


def loss(gpt, rows):
    now, then = rows[:, :-1], rows[:, 1:]
    x = gpt["characters"][now] + gpt["places"]
    for p in gpt["blocks"]:
        x = block(p, x)
    logits = norm(gpt["norm"], x) @ gpt["characters"].T
    return optax.softmax_cross_entropy_with_integer_labels(logits, then).mean()


def draw(text, key):
    return text[jax.random.randint(key, (BATCH, 1), 0, len(text) - BLOCK) + jnp.arange(BLOCK + 1)]


@jax.jit
def step(gpt, memory, key):
    value, grads = jax.value_and_grad(loss)(gpt, draw(train, key))
    updates, memory = optimizer.update(grads, memory, gpt)
    return optax.apply_updates(gpt, updates), memory, value


keys = iter(jax.random.split(jax.random.key(0), 64))
n, plain = FEATURES, (jnp.ones(FEATURES), jnp.zeros(FEATURES))
blocks = [
    {"first_norm": plain, "second_norm": plain, "qkv": matrix(next(keys), n, 3 * n), "out": matrix(next(keys), n, n),
     "wide": matrix(next(keys), n, 4 * n), "narrow": matrix(next(keys), 4 * n, n)}
    for _ in range(LAYERS)
]
gpt = {"characters": matrix(next(keys), len(alphabet), n, n**-0.5), "places": matrix(next(keys), BLOCK, n, n**-0.5),
       "blocks": blocks, "norm": plain}
rate = optax.warmup_cosine_decay_schedule(0, 1e-3, min(100, STEPS // 2), STEPS + 1, 1e-4)
decays = jax.tree.map(lambda p: p.ndim > 1, gpt)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, b2=0.99, weight_decay=0.1, mask=decays))
memory, key = optimizer.init(gpt), next(keys)
step(gpt, memory, key)  # compiles
start = time.perf_counter()
for k in range(STEPS):
    gpt, memory, value = step(gpt, memory, jax.random.fold_in(key, k))
value.block_until_ready()
last = next(keys)
mean = np.mean([jax.jit(loss)(gpt, draw(held, jax.random.fold_in(last, i))) for i in range(20)])
print(f"step {STEPS}  loss {value:.4f}  held back {mean:.4f}  {time.perf_counter() - start:.0f} s")
