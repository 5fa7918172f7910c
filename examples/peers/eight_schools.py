"""examples/eight_schools.cpp in NumPyro: python3 eight_schools.py"""

import time

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

jax.config.update("jax_enable_x64", True)
y = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12])
sigma = jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def model():
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    theta = numpyro.sample("theta", dist.Normal(0, 1).expand([8]))
    numpyro.sample("y", dist.Normal(mu + tau * theta, sigma), obs=y)


sampler = MCMC(NUTS(model, target_accept_prob=0.9), num_warmup=1000, num_samples=2000, num_chains=4,
               chain_method="sequential", progress_bar=False)
sampler.run(jax.random.key(1))  # compiles
start = time.perf_counter()
sampler.run(jax.random.key(0))
jax.block_until_ready(sampler.get_samples())
print(f"{time.perf_counter() - start:.2f} s")
sampler.print_summary()
