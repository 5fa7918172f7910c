"""examples/lotka_volterra.cpp in SciPy, its Jacobians by differences: python3 lotka_volterra.py"""

import time

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

truth, start, days = np.array([1.5, 1, 0.5, 1.2]), [2, 1], np.linspace(0.5, 15, 30)


def field(t, y, a, b, c, d):
    meetings = y[0] * y[1]
    return [a * y[0] - b * meetings, c * meetings - d * y[1]]


def counts(rates):
    return solve_ivp(field, (0, 15), start, method="RK45", rtol=1e-7, atol=1e-9, t_eval=days, args=tuple(rates)).y


seen = counts(truth) * np.exp(0.05 * np.random.default_rng(0).normal(size=(2, 30)))
began = time.perf_counter()
fit = least_squares(lambda p: np.ravel(np.log(counts(np.exp(p))) - np.log(seen)), np.log([1.2, 0.8, 0.6, 1]), method="lm")
spent = time.perf_counter() - began
for i in range(4):
    print(f"rate {i}  found {np.exp(fit.x[i]):.3f}  truth {truth[i]:.3f}")
print(f"residual {np.sqrt(2 * fit.cost / 60):.4f} a count, {fit.nfev} calls, {1e3 * spent:.0f} ms")
