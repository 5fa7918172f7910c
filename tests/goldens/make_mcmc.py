"""Writes mcmc.txt: R-hat and effective sample sizes of ArviZ (pip install arviz-stats; 0.8.0), as <case>/f64/draws (chains,
draws), rhat, bulk, tail, mean."""

import goldens

import numpy as np
from arviz_stats.base import array_stats

writer = goldens.Writer("mcmc")
random = np.random.default_rng(0)


def autoregressive(chains, draws, rho):
    x = random.normal(size=(chains, draws))
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho * rho) * x[:, t]
    return x


CASES = {
    "independent": random.normal(size=(4, 50)),
    "slow": autoregressive(4, 80, 0.9),
    "alternating": autoregressive(2, 61, -0.6),
    "apart": autoregressive(3, 40, 0.3) + np.array([[0.0], [0.5], [2.0]]),
    "spread": autoregressive(4, 40, 0.0) * np.array([[1.0], [1.0], [1.0], [5.0]]),
    "ties": np.round(autoregressive(2, 40, 0.5) * 2),
    "trend": autoregressive(2, 40, 0.0) + np.linspace(0, 3, 40),
    "heavy": random.standard_cauchy(size=(4, 30)),
    "short": random.normal(size=(2, 5)),
}
for name, draws in CASES.items():
    draws = np.round(draws * 1024) / 1024
    writer.put(f"{name}/f64/draws", draws)
    writer.put(f"{name}/f64/rhat", np.float64(array_stats.rhat(draws, chain_axis=0, draw_axis=1, method="rank")))
    for method in ("bulk", "mean"):
        writer.put(f"{name}/f64/{method}", np.float64(array_stats.ess(draws, chain_axis=0, draw_axis=1, method=method)))
    writer.put(f"{name}/f64/tail", np.float64(array_stats.ess(draws, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))))
writer.save()
