"""examples/logistic_regression.cpp in JAX, trained by Newton's method on all lines: python3 logistic_regression.py visits.csv"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

names = open(sys.argv[1]).readline().strip().split(",")
table = jnp.asarray(np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, dtype=np.float32))
x, y, held = table[:, :-1], table[:, -1], jnp.arange(len(table)) % 5 == 0
x = jnp.hstack([x, jnp.ones((len(x), 1))])


def loss(w, x, y):
    odds = x @ w
    return jnp.mean(jax.nn.softplus(odds) - y * odds)


@jax.jit
def step(w, x, y):
    return w - jnp.linalg.solve(jax.hessian(loss)(w, x, y), jax.grad(loss)(w, x, y))


w = jnp.zeros(x.shape[1])
for _ in range(10):
    w = step(w, x[~held], y[~held])
right = jnp.mean((x[held] @ w > 0) == (y[held] > 0.5))
print(f"{held.sum()} lines held back: loss {loss(w, x[held], y[held]):.4f}, {100 * right:.2f} % right")
for name, weight in zip(names[:-1] + ["constant"], w):
    print(f"{name:>12} {weight:8.3f}")
