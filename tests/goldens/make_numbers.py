"""Writes numbers.txt: values that one rounding more or less would change, by NumPy. <function>.<case>/f64/in0, ..., out."""

import goldens

import numpy as np

writer = goldens.Writer("numbers")

# Quantiles at shares q for which n q is whole, or nearly: the stepwise methods choose another element beside it.
METHODS = ["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
           "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"]
for n in (3, 7, 10, 49, 100):
    x, q = np.arange(n, dtype=np.float64), np.arange(n + 1) / n
    q = np.concatenate([q, np.minimum(np.arange(1, n) * (1.0 / n), 1)])
    for method in METHODS:
        writer.case(f"quantile.{method}.{n}/f64", [x, q], np.quantile(x, q, method=method))
for start, stop, num in ((0, 3, 31), (-7, 11, 37), (0, 1, 50), (3, -3, 61)):
    writer.case(f"linspace.{start}.{stop}.{num}/f64", [], np.linspace(start, stop, num))
    writer.case(f"linspace.whole.{start}.{stop}.{num}/i32", [], np.linspace(start, stop, num, dtype=np.int32))
rng = np.random.default_rng(5)
for bins in (3, 7, 10, 30):
    x = np.concatenate([np.round(rng.uniform(0, 3, 40), 1), np.arange(0, 3.1, 0.1)])
    count, edges = np.histogram(x, bins)
    writer.case(f"histogram.{bins}/f64", [x], edges)
    writer.case(f"histogram.count.{bins}/f64", [], count.astype(np.int32))
writer.save()
