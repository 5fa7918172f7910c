"""A training step of a multilayer perceptron in JAX, for devices_rows.py: platform, devices, sizes, batch; prints seconds a step.
Rows of the batch are shared out by jit's shardings; float means float, as in nax."""

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
import numpy  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

jax.config.update("jax_default_matmul_precision", "float32")
devices = jax.devices("cpu" if platform == "cpu" else "gpu")[:count]
if len(devices) < count:
    sys.exit(1)
mesh = Mesh(numpy.array(devices), ("devices",))
everywhere, shared_out = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("devices"))
batch = batch // count * count
keys = jax.random.split(jax.random.key(0), len(sizes))
params = [(jax.random.normal(k, (n, m)) * (2 / n) ** 0.5, jnp.zeros(m)) for k, n, m in zip(keys, sizes, sizes[1:])]
params = jax.device_put(params, everywhere)


def loss(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, axis=-1))


def update(params, x, y):
    value, g = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, d: p - 0.01 * d, params, g), value


step = jax.jit(update, in_shardings=(everywhere, shared_out, shared_out), out_shardings=(everywhere, everywhere), donate_argnums=0)
x = jax.device_put(jax.random.uniform(keys[0], (batch, sizes[0])), shared_out)
y = jax.device_put(jax.nn.one_hot(jnp.arange(batch) % sizes[-1], sizes[-1]), shared_out)
times = []
for i in range(12):
    start = time.perf_counter()
    params, value = step(params, x, y)
    float(value)
    times.append(time.perf_counter() - start)
print(json.dumps({"present": True, "step": statistics.median(times[2:])}))
