"""Writes special.txt: special functions by mpmath with 50 digits, at random points of their domains and at points where
methods change. <function>/f64/in0, in1, ..., out."""

import goldens

import mpmath as mp
import numpy as np
import scipy.special as sp

mp.mp.dps = 50
writer = goldens.Writer("special")
rng = np.random.default_rng(7)
inf = mp.inf


def uniform(low, high, n):
    return list(np.round(rng.uniform(low, high, n), 6))


def logarithmic(low, high, n):
    return list(10 ** rng.uniform(np.log10(low), np.log10(high), n))


def put(name, f, *columns):
    n = max(len(c) for c in columns)
    columns = [list(c) * (n // len(c) + 1) if len(c) < n else list(c) for c in columns]
    columns = [np.array([float(v) for v in c[:n]]) for c in columns]
    out = []
    for row in zip(*columns):
        value = f(*[mp.mpf(float(v)) for v in row])
        out.append(float(mp.re(value)))
    writer.case(f"{name}/f64", columns, np.array(out))


def gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


a = logarithmic(0.01, 300, 30) + [0.5, 1, 2, 10, 50, 1000, 1e-3, 1e-6, 0.3, 0.9]
x = [v * s for v, s in zip(a[:30], uniform(0.2, 2.5, 30))] + [0.2, 1.5, 2.9, 11, 50, 1010, 0.5, 0.1, 1.2, 1.6]
put("gammainc", gammainc, a, x)
put("gammaincc", gammaincc, a, x)
put("gammainc_da", lambda a, x: -mp.diff(lambda t: gammaincc(t, x), a), a[:20] + a[30:35], x[:20] + x[30:35])
put("gammainc_daa", lambda a, x: -mp.diff(lambda t: gammaincc(t, x), a, 2), a[:20] + a[30:35], x[:20] + x[30:35])
put("gammasgn", lambda x: mp.sign(mp.gamma(x)), uniform(-6, 3, 20))
z, m = uniform(0.1, 30, 15) + [-2.5, -7.3, 3.3, 200.5], uniform(-0.1, 20, 15) + [1.2, 3.4, -1.7, 70.25]
put("poch", mp.rf, z, m)

# (mpmath takes too long for these: the density, integrated from where nothing counts.)
def gammaincc_large(a, x):
    width = mp.sqrt(a)
    log_size = mp.loggamma(a)
    f = lambda t: mp.exp((a - 1) * mp.log(t) - t - log_size)
    return mp.quad(f, [x + k * width for k in range(0, 40, 2)])


put("gammainc.large", lambda a, x: 1 - gammaincc_large(a, x), [2e7, 2e7, 5e8], [2.0003e7, 1.9999e7, 5.00001e8])

a, b = logarithmic(0.01, 500, 40) + [2, 0.5, 1000, 3e-3], logarithmic(0.01, 500, 40) + [3, 0.5, 800, 1e-3]
put("beta", mp.beta, a, b)
put("betaln", lambda a, b: mp.log(mp.beta(a, b)), a, b)
x = uniform(0.001, 0.999, 40) + [0.4, 0.1, 0.55, 0.9]
x = [min(max(v if i % 2 else p / (p + q) * (0.8 + 0.4 * v), 1e-6), 0.999) for i, (v, p, q) in enumerate(zip(x, a, b))]
put("betainc", lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), a, b, x)
put("comb", mp.binomial, [5, 10, 52, 100, 1000, 7.5, 300.25, 3, 1e6, 40], [2, 0, 5, 50, 990, 2, 10.5, 3, 3, 20])
put("factorial", mp.factorial, list(range(0, 21, 2)) + uniform(0, 100, 10))

t = uniform(-6, 6, 20) + [-26, 10, 9.99, 25, 30, 1000, 0, 0.19, 0.21, 1e-5, -0.5]
put("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), t)
put("dawsn", lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), t)
put("log_ndtr", lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) if x < 0 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2), t + [-100, -1, -0.99, 0.01, -1.01, 35])
p = uniform(0.001, 0.999, 20) + logarithmic(1e-300, 1e-3, 12) + [0.25, 0.75, 0.5 + 1e-9, 1 - 1e-12, 1e-290, 0.5 - 1e-4]


def ndtri(p):
    x = mp.mpf(float(sp.ndtri(float(p))))
    for _ in range(6):
        q = mp.erfc(-x / mp.sqrt(2)) / 2
        x -= (mp.log(q) - mp.log(p)) * q * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
    return x


put("ndtri", ndtri, p)


def owens_t(h, a):
    points = [0, a] if a * h < 3 else [0, 1 / h, 3 / h, min(10 / h, a), a]
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), points) / (2 * mp.pi)


put("owens_t", owens_t, uniform(0.01, 4, 20) + [0.5, 8, 3, 0.001], uniform(0.01, 3, 20) + [1, 0.9, 20, 0.5])

t = uniform(-30, 30, 16) + [0, 1e-5, 29.9, 30.1, 100, -100, 600]
for name, order, scaled in (("i0", 0, 0), ("i0e", 0, 1), ("i1", 1, 0), ("i1e", 1, 1)):
    put(name, lambda x: mp.besseli(order, x) * (mp.exp(-abs(x)) if scaled else 1), t)
put("bessel_j", mp.besselj, [0, 1, 2, 3, 5, 7, 10, 2, 4, 0, 1], uniform(-20, 20, 9) + [0, 0])

t = uniform(0.01, 5, 12) + [1e-4, 1, 1.001, 20, 100, 0.999]
put("expn", mp.expint, [1, 2, 3, 0, 5, 10, 1, 2, 4, 40, 1, 3, 2, 1, 1, 3, 2, 1], t)
put("exp1", mp.e1, t)
put("expi", mp.ei, t + [-0.5, -3, -20, 39, 41, 60, 300, -1e-3])
t = uniform(-40, 40, 20) + [1e-4, 3.99, 4.01, 1000.5, 0.5, 2]
put("sine_integral", mp.si, t)
put("cosine_integral", lambda x: mp.ci(abs(x)), t)
put("spence", lambda x: mp.polylog(2, 1 - x), uniform(0, 5, 20) + [0, 1, 0.5, 2, 100, 1e-5, 1.0001, 0.4999])
put("zeta", mp.zeta, uniform(1.05, 12, 20) + [2, 3, 4, 1.01, 40, 5], uniform(0.05, 30, 20) + [1, 0.5, 100, 2, 1.5, -2.5])
put("zeta_ds", lambda s, q: mp.zeta(s, q, derivative=1), uniform(1.05, 12, 15), uniform(0.05, 30, 15))
put("polygamma", lambda n, x: mp.polygamma(int(n), x), [0, 1, 2, 3, 5, 10], uniform(0.1, 40, 18))
put("hyp1f1", mp.hyp1f1, uniform(-4, 8, 30) + [-3, 0.5, 2, 1], uniform(0.2, 8, 30) + [1.5, 3, 4.5, 2],
    uniform(-30, 30, 30) + [5, 60, -200, -150])
put("hyp2f1", mp.hyp2f1, uniform(-2.5, 4, 40) + [-3, 0.5, 1, 2, 0.5], uniform(0.1, 4, 40) + [2.5, 0.5, 1, 3, 1.5],
    uniform(0.5, 6, 40) + [1.5, 1, 2, 5, 3], uniform(-4, 0.999, 40) + [0.5, 0.99999, 0.999, 1 - 1e-9, 1])
put("multigammaln", lambda a: mp.log(mp.pi) * 1.5 + sum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(3)),
    uniform(1.1, 40, 10))
x, y = uniform(0.1, 3, 8), uniform(0.1, 3, 8)
put("boxcox", lambda x, l: (x ** l - 1) / l if l else mp.log(x), x, uniform(-2, 2, 5) + [0, 1e-9, -1e-4])
put("boxcox1p", lambda x, l: ((1 + x) ** l - 1) / l if l else mp.log1p(x), x, uniform(-2, 2, 5) + [0, 1e-9, -1e-4])
put("kl_div", lambda x, y: x * mp.log(x / y) - x + y, x, y)
put("rel_entr", lambda x, y: x * mp.log(x / y), x, y)
put("bernoulli", mp.bernoulli, list(range(0, 40)))

# Values at the ends of the domains, from SciPy.
ends = {
    "gammainc": ([0, 1, 2, -1, np.nan, np.inf, 0], [1, 0, np.inf, 1, 1, 1, 0]),
    "gammaincc": ([0, 1, 2, -1, np.nan, np.inf, 0], [1, 0, np.inf, 1, 1, 1, 0]),
    "betainc": ([1, 1, 2, -1, np.nan, 2], [1, 1, 3, 1, 1, 2], [0, 1, 1.5, 0.5, 0.5, -0.1]),
    "erfcx": ([-np.inf, np.inf, np.nan, -30],),
    "dawsn": ([-np.inf, np.inf, np.nan],),
    "log_ndtr": ([-np.inf, np.inf, np.nan],),
    "ndtri": ([0, 1, -0.1, 1.1, np.nan, 0.5],),
    "i0e": ([np.inf, -np.inf, np.nan],),
    "expn": ([1, 2, 3, 2, 2], [0, 0, 0, -1, np.nan]),
    "exp1": ([0, np.nan],),
    "expi": ([0, np.inf, -np.inf, np.nan],),
    "spence": ([0, -1, np.nan],),
    "zeta": ([1, 2, 2, 2], [2, 0, -3, np.nan]),
    "owens_t": ([0, np.inf, 1, 1, np.nan, 1], [1, 1, np.inf, -np.inf, 1, -1]),
    "kl_div": ([0, 0, 1, -1, np.nan], [0, 2, 0, 1, 1]),
    "rel_entr": ([0, 0, 1, -1, np.nan], [0, 2, 0, 1, 1]),
    "comb": ([3, -1, 4, 4], [4, 2, -1, 0]),
    "factorial": ([-1, 0, np.nan],),
    "hyp1f1": ([1, 0, -2], [-1, 2, -3], [1, 1, 1]),
    "boxcox": ([0, 0, -1, np.inf], [2, 0, 1, 1]),
}
for name, columns in ends.items():
    columns = [np.array(c, dtype=np.float64) for c in columns]
    with np.errstate(all="ignore"):
        writer.case(f"{name}.ends/f64", columns, getattr(sp, name)(*columns))


# Parameters at which sums cancel or powers leave the range. (Own draws: those above stay as they are.)
rng = np.random.default_rng(8)
mp.mp.dps = 120
put("hyp1f1.large", mp.hyp1f1, [-50, -50.5, -20, -30, -100, -7.5, 60, 50.5, -50, -5, -47.25, -200.5, -3.5, -57.4] + uniform(-60, 5, 12),
    [1, 1, 2, 0.5, 1, 1, 1, 1.5, -60.5, -10, 1.5, 2.25, 0.5, 3.5] + uniform(0.2, 8, 12),
    [20, 20, 5, 50, 1, 40, -20, -30, 20, 3, -300, 90, 150, -396] + uniform(-60, 60, 12))
put("hyp2f1.large", mp.hyp2f1, [-50, -50.5, -30, -40, -20, -36.5, 12.5] + uniform(-30, 0, 8),
    [51, 51, 60, 1.5, 2, 30.25, -44.75] + uniform(0, 30, 8), [1, 1, 2, 2.5, 3, 1.5, 2] + uniform(0.2, 8, 8),
    [0.3, 0.3, 0.7, -0.9, 0.5, 0.6, 0.4] + uniform(0.05, 0.6, 8))
put("zeta.large", mp.zeta, [200, 1000, 60, 150, 1e4], [30, 1, 40, 75.5, 1])
put("polygamma.large", lambda n, x: mp.polygamma(int(n), x), [1, 100, 60, 150, 2, 40], [1e200, 1e4, 2, 90.5, 1e100, 0.25])
far = [1e-300, 1e300, 1e-200, 1.0, 1.0, 3e-308, 2.0, 1e-310]
beside = [1e300, 1e-300, 1e200, 1 + 1e-10, 1 - 1e-7, 1e308, 1.0, 5.0]
put("rel_entr.large", lambda x, y: x * mp.log(x / y), far, beside)
put("kl_div.large", lambda x, y: x * mp.log(x / y) - x + y, far[:3] + far[5:], beside[:3] + beside[5:])
below = [0, 0.5, 0.999, 0.25, -1, -2, -4, -0.5, -3.5, -7.25, -1e-9, -20.3, -21, -2.001, -160.5, -170.75, 1.5, 2] + uniform(-30, 1, 12)
put("riemann", mp.zeta, below)
put("riemann_ds", lambda s: mp.zeta(s, derivative=1), below)
z = np.array([-1 + 1e-9j, -1 + 1e-200j, -1.5 + 1e-3j, -0.999 + 1e-3j, -0.1 + 0.19**0.5 * 1j, -0.4 + 0.8j, -0.3 + 0.714142842854285j,
              1e-12 + 1e-9j, -2 + 1e-5j, 3.5 - 2j, 1e200 - 1j, -1e-10 - 1.4142e-5j])
writer.case("log1p/c128", [z], np.array([complex(mp.log(1 + mp.mpc(v.real, v.imag))) for v in z]))
writer.save()
