"""Golden losses: an MLP (784-512-512-10) on MNIST, trained by plain JAX.

The protocol, for programs in other languages:

    key = random.key(0);  init_key, shuffle_key = random.split(key)
    layer i of n = 3:  w = random.normal(random.split(init_key, n)[i], (fan_in, fan_out), float32) * sqrt(2 / fan_in)
                       b = zeros(fan_out)
    epoch e from 0:    order = random.permutation(random.fold_in(shuffle_key, e), 60000)
    step k of epoch e: the examples order[128 * k : 128 * (k + 1)]; the last partial batch of an epoch (96) is dropped
    x = image / 255 in float32, y = one_hot(label);  loss = -mean(sum(log_softmax(logits) * y, axis=-1))
    v = 0.9 * v + g;  p = p - 0.05 * v;  v starts at zero

The loss of a step is the one before its update. The float64 run starts from the float32 parameters and images.
"""

import gzip
import os

import goldens
import jax
import jax.numpy as jnp
import numpy as np
from jax import random

jax.config.update("jax_enable_x64", True)

SIZES = (784, 512, 512, 10)
BATCH, LEARNING_RATE, MOMENTUM, SEED = 128, 0.05, 0.9, 0


def read_idx(name, offset):
    with gzip.open(os.path.join(os.environ["NAX_MNIST_DIR"], name)) as f:
        return np.frombuffer(f.read(), np.uint8, offset=offset)


def init_params(key):
    keys = random.split(key, len(SIZES) - 1)
    params = []
    for k, fan_in, fan_out in zip(keys, SIZES[:-1], SIZES[1:]):
        scale = jnp.float32(np.sqrt(2 / fan_in))
        w = random.normal(k, (fan_in, fan_out), jnp.float32) * scale
        params.append((w, jnp.zeros(fan_out, jnp.float32)))
    return params


def losses(activation, dtype, steps, images, labels):
    init_key, shuffle_key = random.split(random.key(SEED))
    params = jax.tree.map(lambda p: p.astype(dtype), init_params(init_key))
    velocity = jax.tree.map(jnp.zeros_like, params)

    def loss(params, x, y):
        for w, b in params[:-1]:
            x = activation(x @ w + b)
        w, b = params[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, axis=-1))

    @jax.jit
    def step(params, velocity, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        velocity = jax.tree.map(lambda v, g: MOMENTUM * v + g, velocity, grads)
        params = jax.tree.map(lambda p, v: p - LEARNING_RATE * v, params, velocity)
        return params, velocity, value

    values, batches = [], len(images) // BATCH
    for i in range(steps):
        epoch, k = divmod(i, batches)
        if k == 0:
            order = np.asarray(random.permutation(random.fold_in(shuffle_key, epoch), len(images)))
        rows = order[BATCH * k : BATCH * (k + 1)]
        x = jnp.asarray(images[rows], dtype)
        params, velocity, value = step(params, velocity, x, jax.nn.one_hot(labels[rows], 10, dtype=dtype))
        values.append(float(value))
    return np.array(values, dtype)


def main():
    images = read_idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / np.float32(255)
    labels = read_idx("train-labels-idx1-ubyte.gz", 8)
    init_key, shuffle_key = random.split(random.key(SEED))
    out = goldens.Writer("mnist_losses")
    out.put("init/w0_head", init_params(init_key)[0][0][0, :16])
    out.put("init/w2_head", init_params(init_key)[2][0][0])
    for epoch in range(2):
        out.put(f"order/epoch{epoch}_head", random.permutation(random.fold_in(shuffle_key, epoch), 60000)[:32].astype(np.int32))
    tanh32 = losses(jnp.tanh, np.float32, 300, images, labels)
    tanh64 = losses(jnp.tanh, np.float64, 300, images, labels)
    out.put("tanh/f32/loss", tanh32)
    out.put("tanh/f64/loss", tanh64)
    out.put("relu/f32/loss", losses(jax.nn.relu, np.float32, 40, images, labels))
    print("float32 against float64, largest relative difference:", np.max(np.abs(tanh32 - tanh64) / tanh64))
    out.save()


if __name__ == "__main__":
    main()
