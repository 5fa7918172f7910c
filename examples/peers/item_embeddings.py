"""examples/item_embeddings.cpp in JAX: python3 item_embeddings.py [ITEMS [STEPS]]"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

ITEMS, STEPS = (int(x) for x in (sys.argv[1:] + ["2000", "2000"][len(sys.argv) - 1 :]))
BASKETS, FEATURES, BATCH, NEGATIVES = 50000, 64, 1024, 5

# Baskets of six items: five from one of the groups, of 20 items each, and one from anywhere.
draw = np.random.default_rng(0)
order, group = draw.permutation(ITEMS), draw.integers(ITEMS // 20, size=(BASKETS, 1))
own = order[group * 20 + draw.integers(20, size=(BASKETS, 5))]
baskets = np.hstack([own, draw.integers(ITEMS, size=(BASKETS, 1))])
a, b = np.repeat(baskets, 6, axis=1).ravel(), np.tile(baskets, 6).ravel()
pairs = jnp.asarray(np.stack([a, b], 1)[a != b])


def loss(tables, pairs, others):
    item, contexts = tables[0][pairs[:, 0]], tables[1]
    together, apart = jnp.sum(item * contexts[pairs[:, 1]], -1), jnp.einsum("nf,nkf->nk", item, contexts[others])
    return jnp.mean(jax.nn.softplus(-together) + jnp.sum(jax.nn.softplus(apart), -1))


@jax.jit
def step(tables, memory, key):
    keys = jax.random.split(key)
    rows = jax.random.randint(keys[0], (BATCH,), 0, len(pairs))
    others = pairs[jax.random.randint(keys[1], (BATCH, NEGATIVES), 0, len(pairs)), 0]
    value, grads = jax.value_and_grad(loss)(tables, pairs[rows], others)
    updates, memory = optimizer.update(grads, memory)
    return optax.apply_updates(tables, updates), memory, value


@jax.jit
def nearest(unit, numbers):
    found = jax.lax.top_k(unit[numbers] @ unit.T, 11)[1]
    order = jnp.argsort(found == numbers[:, None], axis=-1, stable=True)
    return jnp.take_along_axis(found, order, -1)[:, :10]


key = jax.random.key(0)
tables = (0.1 * jax.random.normal(key, (ITEMS, FEATURES)), jnp.zeros((ITEMS, FEATURES)))
optimizer = optax.adam(optax.cosine_decay_schedule(0.02, STEPS + 1))
memory = optimizer.init(tables)
start = time.perf_counter()
for k in range(STEPS):
    tables, memory, value = step(tables, memory, jax.random.fold_in(key, k))
if STEPS:
    print(f"step {STEPS}  loss {value:.4f}  {time.perf_counter() - start:.1f} s")
unit = tables[0] / jnp.linalg.norm(tables[0], axis=1, keepdims=True)
asked = jnp.asarray(draw.permutation(ITEMS)[:64])
nearest(unit, asked).block_until_ready()  # compiles
start = time.perf_counter()
found = nearest(unit, asked).block_until_ready()
print(f"10 nearest of {ITEMS} x {FEATURES}: {1e3 * (time.perf_counter() - start) / 64:.3f} ms an item")
if STEPS:
    groups = np.empty(ITEMS, int)
    groups[order] = np.arange(ITEMS) // 20
    print(f"of their own group: {100 * np.mean(groups[found] == groups[asked][:, None]):.1f} %")
