"""Epochs of examples/mnist_cnn.cpp in JAX and PyTorch: the same network, batches, optimiser and schedule.

    python3 mnist_cnn.py {jax|torch} MNIST_FOLDER [--threads 1] [--epochs 2] [--examples 60000]
"""

import argparse
import gzip
import os
import pathlib
import time

import numpy as np

BATCH, RATE = 64, 0.003
SHAPES = [(3, 3, 1, 16), (3, 3, 16, 32), (7 * 7 * 32, 128), (128, 10)]


def load(folder):
    def read(name, offset):
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=offset)

    images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255
    return images, read("train-labels-idx1-ubyte.gz", 8).astype(np.int32)


def first_parameters():
    random = np.random.default_rng(0)
    return [(random.normal(size=s).astype(np.float32) * np.sqrt(2 / np.prod(s[:-1])).astype(np.float32), np.zeros(s[-1], np.float32)) for s in SHAPES]


def jax_step(steps):
    import jax
    import jax.numpy as jnp
    from jax import lax

    def stage(x, w, b):
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") + b)

    def loss(params, x, y):
        x = stage(stage(x.reshape(-1, 28, 28, 1), *params[0]), *params[1]).reshape(x.shape[0], -1)
        x = jax.nn.relu(x @ params[2][0] + params[2][1]) @ params[3][0] + params[3][1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x) * jax.nn.one_hot(y, 10), axis=-1))

    def update(state, x, y):
        params, m, v, k = state
        value, grads = jax.value_and_grad(loss)(params, x, y)
        rate = RATE * (1 + jnp.cos(jnp.pi * k / steps)) / 2
        k = k + 1
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)
        new = jax.tree.map(lambda p, a, b: p - rate * (a / (1 - 0.9**k)) / (jnp.sqrt(b / (1 - 0.999**k)) + 1e-8), params, m, v)
        return (new, m, v, k), value

    params = jax.tree.map(jnp.asarray, first_parameters())
    state = [params, jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params), jnp.float32(0)]
    compiled = jax.jit(update, donate_argnums=0)

    def step(x, y):
        nonlocal state
        state, value = compiled(tuple(state), x, y)
        return float(value)

    return step


def torch_step(steps):
    import torch
    from torch.nn import functional as F

    def own(w, b):
        # Its layouts: (out, in, height, width), and (out, in) for dense layers, whose rows are height, width, channel as above.
        w = torch.tensor(w).permute(3, 2, 0, 1) if w.ndim == 4 else torch.tensor(w)
        return w.contiguous(memory_format=torch.channels_last if w.ndim == 4 else torch.contiguous_format).requires_grad_(), torch.tensor(b).requires_grad_()

    params = [own(w, b) for w, b in first_parameters()]
    optimiser = torch.optim.Adam([p for layer in params for p in layer], lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)

    def stage(x, w, b):
        return F.relu(F.max_pool2d(F.conv2d(x, w, padding=1), 2) + b[:, None, None])

    def step(x, y):
        x = torch.from_numpy(x).reshape(-1, 1, 28, 28).contiguous(memory_format=torch.channels_last)
        x = stage(stage(x, *params[0]), *params[1]).permute(0, 2, 3, 1).reshape(len(x), -1)
        x = F.relu(x @ params[2][0] + params[2][1]) @ params[3][0] + params[3][1]
        value = F.cross_entropy(x, torch.from_numpy(y).long())
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        schedule.step()
        return value.item()

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("jax", "torch"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--examples", type=int, default=60000)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.sched_setaffinity(0, range(options.threads))
    images, labels = load(options.folder)
    count = min(options.examples, len(labels)) // BATCH
    step = {"jax": jax_step, "torch": torch_step}[options.peer](options.epochs * count)
    step(images[:BATCH], labels[:BATCH])  # compiles; one more step than nax takes
    random = np.random.default_rng(1)
    for epoch in range(options.epochs):
        order = random.permutation(min(options.examples, len(labels)))
        start, total = time.perf_counter(), 0.0
        for k in range(count):
            rows = order[k * BATCH : (k + 1) * BATCH]
            total += step(images[rows], labels[rows])
        print(f"epoch {epoch + 1}  {time.perf_counter() - start:.2f} s  loss {total / count:.4f}", flush=True)


if __name__ == "__main__":
    main()
