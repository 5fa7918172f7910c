"""examples/neural_ode.cpp in JAX, whose odeint has an adjoint too: python3 neural_ode.py"""

import time

import jax
import jax.numpy as jnp
import optax
from jax.experimental.ode import odeint

UNITS, POINTS, BATCH, STEPS, DT = 50, 20, 20, 3000, 0.025

turn = jnp.array([[-0.1, 2], [-2, -0.1]])
truth = odeint(lambda y, t: y**3 @ turn, jnp.array([2.0, 0.0]), DT * jnp.arange(1000), rtol=1e-6, atol=1e-6)


def velocity(y, t, field):
    (w1, b1), (w2, b2) = field
    return jnp.tanh(y**3 @ w1 + b1) @ w2 + b2


def path(field, y0, points):  # (points, N, 2)
    return odeint(velocity, y0, DT * jnp.arange(points + 1), field, rtol=1e-4, atol=1e-4)[1:]


def loss(field, y0, ys):
    return jnp.mean((path(field, y0, POINTS) - ys.swapaxes(0, 1)) ** 2)


@jax.jit
def step(field, memory, key):
    starts = jax.random.randint(key, (BATCH,), 0, 1000 - POINTS)
    ys = truth[starts[:, None] + jnp.arange(1, POINTS + 1)]
    value, grads = jax.value_and_grad(loss)(field, truth[starts], ys)
    updates, memory = optimizer.update(grads, memory)
    return optax.apply_updates(field, updates), memory, value


keys = jax.random.split(jax.random.key(0), 3)
draw = jax.nn.initializers.lecun_normal()
field = [(draw(keys[0], (2, UNITS)), jnp.zeros(UNITS)), (draw(keys[1], (UNITS, 2)), jnp.zeros(2))]
optimizer = optax.adam(optax.cosine_decay_schedule(0.01, STEPS))
memory = optimizer.init(field)
step(field, memory, keys[2])  # compiles
start = time.perf_counter()
for k in range(STEPS):
    field, memory, value = step(field, memory, jax.random.fold_in(keys[2], k))
print(f"step {STEPS}  loss {value:.2e}  {time.perf_counter() - start:.1f} s")
print(f"all of the spiral from its first point: mean error {jnp.mean(jnp.abs(path(field, truth[:1], 999)[:, 0] - truth[1:])):.4f}")
