"""examples/vae.cpp in JAX: python3 vae.py FOLDER_OF_MNIST"""

import gzip
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

UNITS, LATENT, BATCH, STEPS = 400, 20, 128, 4680


def images(name):
    bytes_ = gzip.decompress((pathlib.Path(sys.argv[1]) / name).read_bytes())
    return np.frombuffer(bytes_, np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255


def layer(key, n, m):
    return jax.nn.initializers.lecun_normal()(key, (n, m)), jnp.zeros(m)


def linear(layer, x):
    return x @ layer[0] + layer[1]


def bounds(vae, x, noise):
    h = jax.nn.relu(linear(vae["hidden"], x))
    mean, log_variance = linear(vae["mean"], h), linear(vae["log_variance"], h)
    z = mean + jnp.exp(0.5 * log_variance) * noise
    odds = linear(vae["pixels"], jax.nn.relu(linear(vae["wide"], z)))
    divergence = 0.5 * jnp.sum(mean**2 + jnp.exp(log_variance) - 1 - log_variance, -1)
    return jnp.sum(jax.nn.softplus(odds) - x * odds, -1) + divergence


@jax.jit
def step(vae, memory, x, key):
    noise = jax.random.normal(key, (BATCH, LATENT))
    value, grads = jax.value_and_grad(lambda v: jnp.mean(bounds(v, x, noise)))(vae)
    updates, memory = optimizer.update(grads, memory)
    return optax.apply_updates(vae, updates), memory, value


train, test = images("train-images-idx3-ubyte.gz"), images("t10k-images-idx3-ubyte.gz")
keys = jax.random.split(jax.random.key(0), 8)
sizes = {"hidden": (784, UNITS), "mean": (UNITS, LATENT), "log_variance": (UNITS, LATENT), "wide": (LATENT, UNITS), "pixels": (UNITS, 784)}
vae = {name: layer(key, *size) for (name, size), key in zip(sizes.items(), keys)}
optimizer = optax.adam(1e-3)
memory = optimizer.init(vae)
order, start = np.random.default_rng(0), time.perf_counter()
for k in range(STEPS):
    if k % 468 == 0:
        rows = order.permutation(len(train))
    x = train[rows[k % 468 * BATCH :][:BATCH]]
    vae, memory, value = step(vae, memory, x, jax.random.fold_in(keys[6], k))
value.block_until_ready()
print(f"{STEPS} steps: {time.perf_counter() - start:.1f} s")
print(f"test: {jnp.mean(bounds(vae, test, jax.random.normal(keys[7], (len(test), LATENT)))):.2f} nats")
