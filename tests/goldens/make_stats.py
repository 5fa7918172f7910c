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

# Logarithms and quantiles where probabilities round to 1 or underflow, by mpmath; loc 0 and scale 1.
import mpmath as mp  # noqa: E402

mp.mp.dps = 450


def tail(name, f, *columns):
    columns = [np.array(c, dtype=np.float64) for c in columns]
    out = [float(f(*[mp.mpf(float(v)) for v in row])) for row in zip(*columns)]
    writer.case(f"{name}.tail/f64", columns, np.array(out))


def log_gammainc(a, x):
    return mp.log(mp.gammainc(a, 0, x, regularized=True))


def log_gammaincc(a, x):
    return mp.log(mp.gammainc(a, x, mp.inf, regularized=True))


def log_betainc(a, b, x):
    return mp.log(mp.betainc(a, b, 0, x, regularized=True))


def log_betaincc(a, b, x):
    return mp.log(mp.betainc(b, a, 0, 1 - x, regularized=True))


far = [1e-200, 1e-20, 0.5, 3, 50, 700]
tail("expon.logcdf", lambda z: mp.log(-mp.expm1(-z)), far)
tail("pareto.logcdf", lambda z, b: mp.log(-mp.expm1(-b * mp.log(z))), [1.0000001, 2, 1e10, 1e100], [2, 0.5, 3, 2])
tail("gumbel_r.logsf", lambda z: mp.log(-mp.expm1(-mp.exp(-z))), [-3, 0, 5, 37, 40, 800])
tail("gumbel_l.logcdf", lambda z: mp.log(-mp.expm1(-mp.exp(z))), [3, 0, -5, -37, -40, -800])
line = [-1e200, -1e10, -3, -0.5, 0.5, 3, 1e10, 1e200]
tail("cauchy.logcdf", lambda z: mp.log(mp.atan2(1, -z) / mp.pi), line)
tail("cauchy.logsf", lambda z: mp.log(mp.atan2(1, z) / mp.pi), line)
tail("cauchy.logpdf", lambda z: -mp.log1p(z * z) - mp.log(mp.pi), line)
tail("cauchy.ppf", lambda q: -mp.cot(mp.pi * q), [1e-300, 1e-20, 0.1, 0.3, 0.6, 0.9, 1 - 1e-10])
tail("t.logpdf", lambda z, n: -mp.log(mp.beta(n / 2, 0.5)) - mp.log(n) / 2 - (n + 1) / 2 * mp.log1p(z * z / n),
     [1e200, -1e200, 3, 1e10], [1, 3, 2, 7])
shape = [5, 5, 5, 2, 0.5, 40, 300, 1]
tail("gamma.logsf", lambda x, a: log_gammaincc(a, x), [1000, 3000, 1, 1e5, 800, 2000, 2500, 1e-12], shape)
tail("gamma.logcdf", lambda x, a: log_gammainc(a, x), [1e-100, 1e-70, 40, 1e-200, 50, 1e-9, 12, 60], shape)
tail("chi2.logsf", lambda x, n: log_gammaincc(n / 2, x / 2), [2000, 3000, 1], [10, 3, 4])
tail("chi2.logcdf", lambda x, n: log_gammainc(n / 2, x / 2), [1e-100, 1e-150, 90], [10, 6, 4])
tail("beta.logcdf", lambda x, a, b: log_betainc(a, b, x), [1e-100, 1e-80, 0.999, 0.5], [5, 4.5, 2, 3],
     [2, 3, 8, 4])
tail("beta.logsf", lambda x, a, b: log_betaincc(a, b, x), [1e-5, 1e-12, 1 - 1e-10, 0.5], [5, 2, 2, 3], [2, 3, 40, 4])
writer.save()
