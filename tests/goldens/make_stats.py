"""Writes stats.txt: SciPy's distributions, as <distribution>.<function>/f64/in0, ..., out. The last two operands of a
continuous distribution are loc and scale, the last of a discrete one is loc."""

import goldens

import numpy as np
import scipy.stats as st

writer = goldens.Writer("stats")
x = goldens.grid(1, (6,), -3, 3)
positive = np.array([-0.5, 0.0, 0.25, 1.0, 2.75, 9.5])
unit = np.array([-0.25, 0.125, 0.5, 0.625, 0.875, 1.25])
q = np.array([0.015625, 0.125, 0.375, 0.5, 0.75, 0.984375])
counts = np.array([-1.0, 0.0, 1.0, 2.0, 4.0, 7.0])
loc, scale = np.array([0.25, -0.5]).reshape(2, 1), np.array([1.5, 0.75]).reshape(2, 1)
a, b = np.array([0.75, 1.5, 2.5, 3.0, 4.5, 0.5]), np.array([1.25, 0.5, 2.0, 3.5, 1.0, 2.5])
every = ["logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"]

CONTINUOUS = [
    ("norm", x, [], every + ["ppf", "isf"]),
    ("expon", positive, [], every + ["ppf"]),
    ("gamma", positive, [a], every),
    ("chi2", positive, [a * 2], every),
    ("beta", unit, [a, b], every),
    ("t", x, [a * 3], ["logpdf", "pdf"]),
    ("uniform", unit, [], ["logpdf", "pdf", "cdf", "ppf"]),
    ("laplace", x, [], ["logpdf", "pdf", "cdf"]),
    ("logistic", x, [], ["logpdf", "pdf", "cdf", "sf", "ppf", "isf"]),
    ("cauchy", x, [], every + ["ppf", "isf"]),
    ("pareto", positive + 0.75, [a], every + ["ppf"]),
    ("gumbel_r", x, [], every + ["ppf"]),
    ("gumbel_l", x, [], every + ["ppf"]),
]
p = np.array([0.125, 0.25, 0.5, 0.625, 0.75, 0.875])
DISCRETE = [
    ("poisson", [a], ["logpmf", "pmf", "cdf"]),
    ("binom", [np.array([3.0, 5.0, 4.0, 6.0, 4.0, 9.0]), p], ["logpmf", "pmf"]),
    ("nbinom", [np.array([3.0, 5.0, 4.0, 6.0, 4.0, 2.0]), p], ["logpmf", "pmf"]),
    ("geom", [p], ["logpmf", "pmf"]),
    ("bernoulli", [p], ["logpmf", "pmf"]),
]

with np.errstate(all="ignore"):
    for name, at, parameters, functions in CONTINUOUS:
        for function in functions:
            points = q if function in ("ppf", "isf") else loc + scale * at
            f = getattr(getattr(st, name), function)
            writer.case(f"{name}.{function}/f64", [points, *parameters, loc, scale], f(points, *parameters, loc, scale))
    for name, parameters, functions in DISCRETE:
        shift = np.array([1.0, 0.0]).reshape(2, 1)
        for function in functions:
            f = getattr(getattr(st, name), function)
            writer.case(f"{name}.{function}/f64", [counts + shift, *parameters, shift], f(counts + shift, *parameters, shift))
    writer.case("bernoulli.cdf/f64", [counts, p], st.bernoulli.cdf(counts, p))
    writer.case("bernoulli.ppf/f64", [q, p], st.bernoulli.ppf(q, p))

simplex = np.array([[0.25, 0.5, 0.125], [0.5, 0.125, 0.25], [0.25, 0.375, 0.625]])
alpha = np.array([0.75, 2.5, 1.5])
writer.case("dirichlet.logpdf/f64", [simplex, alpha], st.dirichlet.logpdf(simplex, alpha))
writer.case("dirichlet.pdf/f64", [simplex[:2], alpha], st.dirichlet.pdf(simplex, alpha))
vectors, mean = goldens.grid(5, (4, 3)), np.array([0.5, -0.25, 1.0])
cov = np.array([[2.0, 0.5, -0.25], [0.5, 1.5, 0.125], [-0.25, 0.125, 0.75]])
for function in ("logpdf", "pdf"):
    f = getattr(st.multivariate_normal, function)
    writer.case(f"multivariate_normal.{function}/f64", [vectors, mean, cov], f(vectors, mean, cov))
writer.case("multivariate_normal.number/f64", [vectors, mean, np.array(0.75)],
            st.multivariate_normal.logpdf(vectors, mean, 0.75 * np.eye(3)))
writer.save()
