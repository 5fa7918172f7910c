"""JAX's side of `compare.sh mnist`; ../support/mnist_training.cpp is nax's.

mnist_jax.py <hidden, as in 512,512> <devices> <images>
"""

import functools
import gzip
import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

import data
from jax_side import loss
from side import now

BATCH, RATE, MOMENTUM = 128, 0.05, 0.9


def read(folder, name):
    for path, opened in ((folder / name, open), (folder / f"{name}.gz", gzip.open)):
        if path.exists():
            with opened(path, "rb") as f:
                raw = f.read()
            return np.frombuffer(raw, np.uint8, offset=16 if "images" in name else 8)
    raise SystemExit(f"no {name} in {folder}")


def load(folder):
    for part in ("train", "t10k"):
        images = read(folder, f"{part}-images-idx3-ubyte").reshape(-1, 784).astype(np.float32) / np.float32(255)
        yield jnp.asarray(images)
        yield jnp.asarray(read(folder, f"{part}-labels-idx1-ubyte").astype(np.int32))


def step(params, velocity, images, labels, rows, axis=None):
    x, y = images[rows], jax.nn.one_hot(labels[rows], 10)
    value, grads = jax.value_and_grad(loss(jax.nn.relu))(params, x, y)
    if axis:
        value, grads = jax.lax.pmean((value, grads), axis)
    velocity = jax.tree.map(lambda v, g: MOMENTUM * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - RATE * v, params, velocity), velocity, value


@jax.jit
def right(params, images, labels):
    x = images
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jnp.mean(jnp.argmax(x @ w + b, axis=-1) == labels)


def main():
    hidden, devices, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    sizes = (784, *map(int, hidden.split(",")), 10)
    images, labels, test_images, test_labels = load(folder)
    params = jax.tree.map(jnp.asarray, data.params(sizes))
    velocity = jax.tree.map(jnp.zeros_like, params)
    n = images.shape[0]
    if devices > 1:
        # Every device has the images: nothing travels between the steps but gradients.
        copy = lambda tree: jax.tree.map(lambda a: jax.pmap(lambda b: b + 0)(np.stack([np.asarray(a)] * devices)), tree)
        params, velocity, images, labels = map(copy, (params, velocity, images, labels))
        update = jax.pmap(functools.partial(step, axis="devices"), axis_name="devices", donate_argnums=(0, 1))
    else:
        update = jax.jit(step, donate_argnums=(0, 1))
    jax.block_until_ready((params, velocity, images, labels))
    print(json.dumps({"ready": True}), flush=True)

    for epoch, _ in enumerate(sys.stdin):
        order = np.asarray(jax.random.permutation(jax.random.key(epoch), n))
        start = now()
        values, first_step = [], 0.0
        for k in range(n // BATCH):
            rows = order[k * BATCH : (k + 1) * BATCH]
            if devices > 1:
                rows = rows.reshape(devices, -1)
            params, velocity, value = update(params, velocity, images, labels, rows)
            values.append(value)  # not looked at before the epoch's end: JAX may run ahead
            if k == 0 or devices > 1:  # ahead of its own reductions between devices, JAX waits for ever
                value.block_until_ready()
            if k == 0:
                first_step = (now() - start) * 1e-9
        jax.block_until_ready((params, values))
        seconds = (now() - start) * 1e-9
        one = jax.tree.map(lambda a: jnp.asarray(np.asarray(a)[0]), params) if devices > 1 else params
        print(
            json.dumps(
                {
                    "seconds": seconds,
                    "first_step": first_step,
                    "losses": [float(np.asarray(v).reshape(-1)[0]) for v in values],
                    "accuracy": float(right(one, test_images, test_labels)),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
