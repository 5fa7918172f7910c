"""A training step of a multilayer perceptron in JAX, for devices.py: platform, devices, sizes, batch; prints seconds a step."""

import json
import os
import statistics
import sys
import time

platform, count, sizes, batch = sys.argv[1], int(sys.argv[2]), [int(n) for n in sys.argv[3].split(",")], int(sys.argv[4])
if platform == "cpu":
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={count}"
    os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

devices = jax.devices("cpu" if platform == "cpu" else "gpu")[:count]
if len(devices) < count:
    sys.exit(1)
keys = jax.random.split(jax.random.key(0), len(sizes))
params = [(jax.random.normal(k, (n, m)) * (2 / n) ** 0.5, jnp.zeros(m)) for k, n, m in zip(keys, sizes, sizes[1:])]


def loss(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, axis=-1))


def update(params, x, y):
    value, g = jax.value_and_grad(loss)(params, x, y)
    g = jax.lax.pmean(g, "devices")
    return jax.tree.map(lambda p, d: p - 0.01 * d, params, g), jax.lax.pmean(value, "devices")


step = jax.pmap(update, axis_name="devices", devices=devices, donate_argnums=0)
params = jax.tree.map(lambda p: jnp.stack([p] * count), params)
x = jax.random.uniform(keys[0], (count, batch // count, sizes[0]))
y = jax.nn.one_hot(jnp.arange(batch // count * count) % sizes[-1], sizes[-1]).reshape(count, -1, sizes[-1])
times = []
for i in range(12):
    start = time.perf_counter()
    params, value = step(params, x, y)
    float(value[0])
    times.append(time.perf_counter() - start)
print(json.dumps({"present": True, "step": statistics.median(times[2:])}))
