"""Draws of jax.random's samplers with parameters, the derivatives of some, and distribution functions by SciPy.

Unless a record says otherwise the key is `key(42)`. `<name>/f32` and `/f64` are draws of these types; `<name>/grad<i>` is
the gradient of the sum of the draws by the i-th array parameter, in f64. `cdf/<name>` is a table of two rows, points and
the probability of a number up to there. `slopes` has rows (a, log x, derivative of log x by a, its derivatives by a and by
log x), computed by mpmath.
"""

import goldens
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import scipy.stats as st
from jax import random, vmap

out = goldens.Writer("samplers")


def key(seed):
    with jax.enable_x64(True):
        return random.key(seed)


K = key(42)
A = [0.02, 0.3, 0.9, 1.0, 1.7, 4.0, 30.0, 2000.0]
B = [1.5, 0.4, 3.0, 1.0, 0.2, 12.0, 25.0, 700.0]
ARRAYS = {  # name: (function of key, parameters, shape and dtype; the parameters)
    "gamma": (lambda k, p, s, t: random.gamma(k, p[0], s, t), [A]),
    "loggamma": (lambda k, p, s, t: random.loggamma(k, p[0], s, t), [A]),
    "beta": (lambda k, p, s, t: random.beta(k, p[0], p[1], s, t), [A, B]),
    "chisquare": (lambda k, p, s, t: random.chisquare(k, p[0], s, t), [[0.5, 1.0, 3.0, 40.0]]),
    "f": (lambda k, p, s, t: random.f(k, *(jnp.broadcast_to(v, v.shape if s is None else s) for v in p), s, t), [[2.0, 5.0, 11.0], [3.0, 9.0, 40.0]]),
    "t": (lambda k, p, s, t: random.t(k, p[0], s, t), [[1.0, 2.5, 30.0]]),
    "pareto": (lambda k, p, s, t: random.pareto(k, p[0], s, t), [[0.5, 1.0, 3.0]]),
    "rayleigh": (lambda k, p, s, t: random.rayleigh(k, p[0], s, t), [[0.5, 1.0, 3.0]]),
    "wald": (lambda k, p, s, t: random.wald(k, p[0], s, t), [[0.5, 1.0, 3.0]]),
    "lognormal": (lambda k, p, s, t: random.lognormal(k, p[0], s, t), [[0.25, 1.0, 2.0]]),
    "triangular": (lambda k, p, s, t: random.triangular(k, p[0], p[1], p[2], s, t),
                   [[-1.0, 0.0, 2.0], [0.5, 0.0, 2.5], [2.0, 1.0, 3.0]]),
    "weibull_min": (lambda k, p, s, t: random.weibull_min(k, p[0], p[1], s, t), [[0.5, 1.0, 3.0], [0.7, 1.0, 4.0]]),
}
for name, (f, parameters) in ARRAYS.items():
    n = len(parameters[0])
    for short, t in (("f32", np.float32), ("f64", np.float64)):
        with jax.enable_x64(short == "f64"):
            p = [jnp.array(v, t) for v in parameters]
            out.put(f"{name}/{short}", f(K, p, (16, n), t))
            if name not in ("weibull_min",):
                out.put(f"{name}/own/{short}", f(K, p, None, t))
            if short == "f64":
                for i in range(len(p) if name not in ("chisquare", "f") else 0):
                    g = jax.grad(lambda x: f(K, p[:i] + [x] + p[i + 1:], (16, n), t).sum())(p[i])
                    out.put(f"{name}/grad{i}", g)
            elif name in ("gamma", "beta", "wald"):
                keys = random.split(K, 3)
                out.put(f"{name}/keys", vmap(lambda k: f(k, p, (2, n), t))(keys))
                out.put(f"{name}/rows", vmap(lambda x: f(K, [x] + [v[0] for v in p[1:]], (5,), t))(p[0]))

for short, t in (("f32", np.float32), ("f64", np.float64)):
    with jax.enable_x64(short == "f64"):
        out.put(f"dirichlet/{short}", random.dirichlet(K, jnp.array([0.1, 1.0, 5.0], t), (4,), t))
        out.put(f"generalized_normal/{short}", random.generalized_normal(K, 3.0, (3, 2), t))
        out.put(f"maxwell/{short}", random.maxwell(K, (3, 2), t))
        out.put(f"double_sided_maxwell/{short}", random.double_sided_maxwell(
            K, jnp.array([0.0, 1.0], t), jnp.array([1.0, 0.5], t), (3,), t))
        out.put(f"ball/{short}", random.ball(K, 3, 2.0, (4,), t))
        out.put(f"ball.p=1/{short}", random.ball(K, 2, 1.0, (2, 2), t))
        for n, m in ((3, 3), (4, 2), (2, 4)):
            out.put(f"orthogonal.{n},{m}/{short}", random.orthogonal(K, n, (2,), t, m))
        mean, cov = jnp.array([1.0, -2.0], t), jnp.array([[2.0, 0.5], [0.5, 1.0]], t)
        out.put(f"multivariate_normal/{short}", random.multivariate_normal(K, mean, cov, (5,), t))
        out.put(f"multivariate_normal/own/{short}", random.multivariate_normal(
            K, jnp.stack([mean, 2 * mean]), cov, None, t))
        if short == "f64":
            total = lambda m, c: (random.multivariate_normal(K, m, c, (5,), t) ** 2).sum()
            out.put("multivariate_normal/grad0", jax.grad(total)(mean, cov))
            out.put("multivariate_normal/grad1", jax.grad(total, 1)(mean, cov))
            weighed = lambda a: (random.dirichlet(K, a, (4,), t) ** 2).sum()
            out.put("dirichlet/grad0", jax.grad(weighed)(jnp.array([0.1, 1.0, 5.0], t)))

# --- counts ---
RATES = np.array([0.0, 0.01, 0.7, 3.0, 9.99, 10.0, 25.0, 400.0, 1e5, -1.0], np.float32)
out.put("poisson/i32", random.poisson(K, RATES, (12, 10)))
out.put("poisson/own/i32", random.poisson(K, RATES))
out.put("poisson/keys", vmap(lambda k: random.poisson(k, RATES))(random.split(K, 3)))
N = np.array([0, 1, 5, 30, 30, 100, 1000, 25, 10], np.float32)
P = np.array([0.5, 0.3, 0.9, 0.02, 0.6, 0.5, 0.97, 1.0, 0.0], np.float32)
out.put("binomial/f32", random.binomial(K, N, P, (12, 9)))
out.put("binomial/own/f32", random.binomial(K, N, P))
with jax.enable_x64(True):
    out.put("binomial/f64", random.binomial(K, jnp.array(N, np.float64), jnp.array(P, np.float64), (12, 9)))
out.put("binomial/bad/f32", random.binomial(K, np.array([-1, np.nan, np.inf, 4, 4, 4, 9.7], np.float32),
                                           np.array([0.5, 0.5, 0.5, -0.1, 1.1, np.nan, 0.4], np.float32)))
out.put("geometric/i32", random.geometric(K, np.array([0.05, 0.5, 0.9, 1.0], np.float32), (6, 4)))
out.put("multinomial/f32", random.multinomial(K, np.array([20.0, 500.0], np.float32),
                                              np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]], np.float32)))
out.put("multinomial.shape/f32", random.multinomial(K, 40.0, np.array([0.25, 0.0, 0.75], np.float32), shape=(5, 3)))

# --- distribution functions ---
def table(name, distribution, low, high):
    x = np.linspace(low, high, 41)
    out.put(f"cdf/{name}", np.stack([x, distribution.cdf(x)]))


table("gamma.0.4", st.gamma(0.4), 0.001, 4)
table("gamma.7", st.gamma(7), 1, 18)
table("beta.0.5,2", st.beta(0.5, 2), 0.001, 0.99)
table("chisquare.3", st.chi2(3), 0.05, 14)
table("f.4,9", st.f(4, 9), 0.05, 8)
table("t.3", st.t(3), -6, 6)
table("generalized_normal.3", st.gennorm(3), -1.6, 1.6)
table("maxwell", st.maxwell(), 0.1, 4)
table("weibull_min.1.5,2", st.weibull_min(2, scale=1.5), 0.1, 4)
table("pareto.3", st.pareto(3), 1.01, 5)
table("rayleigh.2", st.rayleigh(scale=2), 0.1, 7)
table("wald.1.5", st.invgauss(1.5), 0.05, 8)  # SciPy's mu is mean / shape
table("triangular.-1,0.5,2", st.triang(0.5, -1, 3), -0.9, 1.9)
table("lognormal.0.5", st.lognorm(0.5), 0.1, 4)
for name, distribution, last in (("poisson.3.5", st.poisson(3.5), 14), ("poisson.40", st.poisson(40), 70),
                                 ("binomial.12,0.3", st.binom(12, 0.3), 12), ("binomial.200,0.4", st.binom(200, 0.4), 120),
                                 ("geometric.0.3", st.geom(0.3), 20)):
    x = np.arange(last + 1.0)
    out.put(f"cdf/{name}", np.stack([x, distribution.cdf(x)]))

# --- the derivative of a gamma draw by its parameter ---
mpmath.mp.dps = 50
rows = []
for a in (1e-3, 0.05, 0.3, 1.0, 2.5, 10.0, 100.0, 3000.0, 2e4):
    for z in (-2.5, -0.5, 0.3, 1.0, 3.0):
        x = 0.2 * np.exp(z) if a < 1 else max(a + z * np.sqrt(a), 0.02 * a)
        log_x = float(np.log(x))
        b, x = mpmath.mpf(a), mpmath.exp(mpmath.mpf(log_x))
        if x < b + 1:
            p = lambda v: mpmath.gammainc(v, 0, x, regularized=True)
        else:
            p = lambda v: -mpmath.gammainc(v, x, mpmath.inf, regularized=True)
        h = b * mpmath.mpf(10) ** -12
        q = mpmath.exp(b * log_x - x - mpmath.loggamma(b))
        first = -(p(b + h) - p(b - h)) / (2 * h) / q
        part = mpmath.mpf(log_x) - mpmath.digamma(b)
        second = -(p(b + h) - 2 * p(b) + p(b - h)) / h**2 / q - first * part
        rows.append([a, log_x, float(first), float(second), float(-part - first * (b - x))])
out.put("slopes", np.array(rows))

out.save()
