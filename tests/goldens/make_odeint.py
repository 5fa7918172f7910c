"""Writes odeint.txt: JAX's odeint of two equations, y, and what its pullback of `cotangent` gives in y0, the times and the rates p."""

import goldens

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.ode import odeint

jax.config.update("jax_enable_x64", True)
writer = goldens.Writer("odeint")


def field(y, t, p):
    return jnp.stack([p[0] * y[1] - y[0] * t, -p[1] * y[0] * y[1] + jnp.sin(t)])


y0, t, p = np.array([1, 0.5]), np.array([0.1, 0.6, 1.4, 2]), np.array([1.5, 0.7])
cotangent = goldens.grid(3, (4, 2))
y, pull = jax.vjp(lambda y, t, p: odeint(field, y, t, p, rtol=1e-12, atol=1e-12), y0, t, p)
for name, value in zip(("in_y0", "in_t", "in_p"), pull(jnp.asarray(cotangent))):
    writer.put(name, value)
for name, value in {"y0": y0, "t": t, "p": p, "cotangent": cotangent, "y": y}.items():
    writer.put(name, value)
writer.save()
