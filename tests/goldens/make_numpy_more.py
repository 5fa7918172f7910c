"""numpy_more.txt: polynomials, sets, histograms, covariances, quantiles by every method, orders, running sums, windows.

NumPy computes them in double; where JAX has the function and means the same by it, its result must agree. Most records
serve rows of the table of functions, some the tests of functions that vmap refuses. `.holes` puts NaN where the operand
is above 1.2.
"""

import warnings

from goldens import Writer, grid, jax, np

jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
w = Writer("numpy_more")
warnings.simplefilter("ignore")


def put(name, inputs, f, with_jax=True, tolerance=1e-12):
    """f(module, operands...) with NumPy, held against JAX."""
    out = np.asarray(f(np, *inputs))
    if with_jax:
        np.testing.assert_allclose(np.asarray(f(jnp, *map(jnp.asarray, inputs))), out, rtol=tolerance, atol=tolerance)
    if out.dtype.kind in "iu":
        out = out.astype(np.int32)
    w.case(f"{name}/f64", inputs, out)


def holed(m, x):
    return m.where(x > 1.2, m.nan, x)


# ---- polynomials
p5, p3, p2 = grid(1, (5,)), grid(2, (3,), 0.5, 2), grid(3, (2,))
put("polyadd", [p5, p3], lambda m, a, b: m.polyadd(a, b))
put("polysub", [p3, p5], lambda m, a, b: m.polysub(a, b))
put("polymul", [p5, p3], lambda m, a, b: m.polymul(a, b))
put("polydiv.q", [p5, p3], lambda m, a, b: m.polydiv(a, b)[0])
put("polydiv.short", [p2, p3], lambda m, a, b: m.polydiv(a, b)[0])
put("polyder", [p5], lambda m, a: m.polyder(a))
put("polyder.m=2", [p5], lambda m, a: m.polyder(a, 2))
put("polyint", [p3], lambda m, a: m.polyint(a))
put("polyint.m=2.k", [p3, p2], lambda m, a, k: m.polyint(a, 2, k))
put("poly", [p5], lambda m, a: m.poly(a))
put("poly.matrix", [grid(4, (4, 4))], lambda m, a: m.real(m.poly(a)), tolerance=1e-9)
put("vander", [p3], lambda m, a: m.vander(a))
put("vander.N=5.increasing", [p3], lambda m, a: m.vander(a, 5, increasing=True))
x9, y9 = np.sort(grid(5, (9,))), grid(6, (9,))
for deg in (0, 1, 4):
    put(f"polyfit.deg={deg}", [x9, y9], lambda m, a, b: m.polyfit(a, b, deg), tolerance=1e-9)
put("polyfit.w", [x9, y9, grid(7, (9,), 0.5, 2)], lambda m, a, b, c: m.polyfit(a, b, 2, w=c), tolerance=1e-9)
put("polyfit.two", [x9, grid(8, (9, 2))], lambda m, a, b: m.polyfit(a, b, 2), tolerance=1e-9)
put("polyfit.cov", [x9, y9], lambda m, a, b: m.polyfit(a, b, 2, cov=True)[1], tolerance=1e-9)
put("polyfit.unscaled", [x9, y9], lambda m, a, b: m.polyfit(a, b, 2, cov="unscaled")[1], tolerance=1e-9)
for name, p in {"five": grid(9, (6,), 0.5, 2), "zeros": np.array([0, 0, 2, -3, 1, 0, 0.0]), "line": np.array([2, 1.0])}.items():
    put(f"roots.{name}", [p], lambda m, a: np.sort_complex(np.asarray(m.roots(a)) + 0j), tolerance=1e-9)

# ---- covariance
m34 = grid(10, (3, 4))
put("cov", [m34], lambda m, a: m.cov(a))
put("cov.1d", [p5], lambda m, a: m.cov(a))
put("cov.rowvar=False.bias", [m34], lambda m, a: m.cov(a, rowvar=False, bias=True))
put("cov.y.ddof=0", [m34, grid(11, (2, 4))], lambda m, a, b: m.cov(a, b, ddof=0))
put("cov.aweights", [m34, grid(12, (4,), 0.5, 2)], lambda m, a, b: m.cov(a, aweights=b))
put("cov.fweights", [m34], lambda m, a: m.cov(a, fweights=np.array([1, 2, 3, 1])))
put("cov.both.ddof=0", [m34, grid(12, (4,), 0.5, 2)], lambda m, a, b: m.cov(a, fweights=np.array([1, 2, 3, 1]), aweights=b, ddof=0))
put("corrcoef", [m34], lambda m, a: m.corrcoef(a))
put("corrcoef.y.rowvar=False", [m34, grid(13, (3, 2))], lambda m, a, b: m.corrcoef(a, b, rowvar=False))

# ---- histograms
x20 = grid(14, (4, 5))
put("histogram", [x20], lambda m, a: m.histogram(a)[0])
put("histogram.edges", [x20], lambda m, a: m.histogram(a)[1])
put("histogram.range", [x20], lambda m, a: m.histogram(a, 4, (-1, 1.5))[0])
put("histogram.weights", [x20, grid(15, (4, 5))], lambda m, a, b: m.histogram(a, 4, (-1, 1.5), weights=b)[0])
put("histogram.density", [x20, grid(15, (4, 5), 0.5, 2)], lambda m, a, b: m.histogram(a, np.array([-2, -1, 0.5, 2.0]), weights=b, density=True)[0])
put("histogram.one_value", [np.full((3,), 0.5)], lambda m, a: m.histogram(a, 3)[1])
put("histogram.empty", [np.zeros((0,))], lambda m, a: m.histogram(a, 3)[1], with_jax=False)
put("histogram.edge_values", [np.arange(11.0)], lambda m, a: m.histogram(a, 5)[0])
pts = grid(16, (12, 3))
put("histogram2d", [pts[:, 0].copy(), pts[:, 1].copy()], lambda m, a, b: m.histogram2d(a, b, 3, range=[[-2, 2], [-1, 1]])[0])
put("histogram2d.bins", [pts[:, 0].copy(), pts[:, 1].copy(), grid(17, (12,))], lambda m, a, b, c: m.histogram2d(a, b, [2, np.array([-2, 0, 1, 2.0])], weights=c)[0])
put("histogramdd", [pts], lambda m, a: m.histogramdd(a, (2, 3, 2))[0])
put("histogramdd.density", [pts, grid(18, (12,), 0.5, 2)], lambda m, a, b: m.histogramdd(a, 2, weights=b, density=True)[0])
rng = np.random.default_rng(7)
samples = {
    "normal": np.round(rng.normal(size=200) * 64) / 64,
    "skew": np.round(rng.exponential(size=150) * 64) / 64,
    "two": np.array([1.0, 2.5]),
    "same": np.full((5,), 3.0),
    "quartiles": np.array([0.0] * 20 + [1.0, 8.0]),
}
for sample, x in samples.items():
    w.put(f"rules.{sample}/f64/in0", x)
    for rule in ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"):
        w.put(f"rules.{sample}.{rule}/f64/out", np.histogram_bin_edges(x, rule))
    w.put(f"rules.{sample}.range/f64/out", np.histogram_bin_edges(x, "auto", (0.5, 2)))
whole = rng.integers(0, 9, 300).astype(np.int32)
w.put("rules.whole/i32/in0", whole)
w.put("rules.whole.auto/f64/out", np.histogram_bin_edges(whole, "auto"))

# ---- quantiles
METHODS = ("inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
           "median_unbiased normal_unbiased lower higher midpoint nearest").split()
q = [0.0, 0.1, 0.25, 0.5, 0.7, 1.0]
x27 = grid(19, (2, 7))
for method in METHODS:
    put(f"quantile.{method}", [x27], lambda m, a: m.quantile(a, np.array(q), axis=1, method=method), with_jax=False)
    put(f"nanquantile.{method}", [x27], lambda m, a: m.nanquantile(holed(m, a), np.array(q), axis=1, method=method), with_jax=False)
put("nanmedian", [x27], lambda m, a: m.nanmedian(holed(m, a), axis=0))
put("nanpercentile", [x27], lambda m, a: m.nanpercentile(holed(m, a), 30, axis=(0, 1), keepdims=True))
w27 = grid(20, (2, 7), 0, 2)
put("quantile.weights", [x27, w27], lambda m, a, b: m.quantile(a, np.array(q), axis=1, weights=b, method="inverted_cdf"), with_jax=False)
put("quantile.weights_1d", [x27, w27[0].copy()], lambda m, a, b: m.quantile(a, 0.4, axis=1, weights=b, method="inverted_cdf"), with_jax=False)
put("nanquantile.weights", [x27, w27], lambda m, a, b: m.nanquantile(holed(m, a), 0.6, axis=1, weights=b, method="inverted_cdf"), with_jax=False)

# ---- orders
s = grid(21, (3, 5))
put("partition.2", [s], lambda m, a: m.sort(a))
put("sort.descending", [s], lambda m, a: -m.sort(-a, axis=0))
twos = np.round(grid(22, (2, 6), 0, 2))
put("lexsort", [twos, s[:2, :].repeat(2, 1)[:, :6].copy()], lambda m, a, b: m.lexsort((b, a)))
z = np.array([2 + 1j, 1 + 2j, np.nan + 1j, 1 + 1j, 1 + np.nan * 1j, -1 + 0j, complex(np.nan, np.nan), 2 - 1j, np.inf])
w.case("sort_complex/c128", [z], np.sort_complex(z))
trimmed = np.zeros((4, 5))
trimmed[1, 2], trimmed[2, 1] = 1, np.nan
for tag, options in {"": {}, ".f": {"trim": "f"}, ".axis=1": {"axis": 1}, ".b.axis=0": {"trim": "b", "axis": 0}}.items():
    w.case(f"trim_zeros{tag}/f64", [trimmed], np.trim_zeros(trimmed, **options))

# ---- sets, of whole numbers with some NaN
a, b = np.round(grid(23, (3, 4), -4, 4)), np.round(grid(24, (7,), -4, 4))
an, bn = a.copy(), b.copy()
an[0, 1] = an[2, 2] = bn[3] = np.nan
for tag, (one, two) in {"": (a, b), ".nan": (an, bn), ".empty": (a, b[:0])}.items():
    for f in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        w.case(f"{f}{tag}/f64", [one, two], getattr(np, f)(one, two))
w.case("setdiff1d.assume_unique/f64", [a, b], np.setdiff1d(a.ravel(), b, assume_unique=True))
w.case("intersect1d.indices/f64", [a, b], [np.asarray(v, np.float64 if i == 0 else np.int32) for i, v in enumerate(np.intersect1d(a, b, return_indices=True))])
rows = np.array([[1, 2, 1], [0, 1, 0], [1, 2, 1], [np.nan, 1, 0], [0, 1, 0.0]])
for axis in (None, 0, 1, -1):
    got = np.unique(rows, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    w.case(f"unique.axis={axis}/f64", [rows], [got[0]] + [np.asarray(v, np.int32) for v in got[1:]])

# ---- running sums, differences, products
put("cumulative_sum.axis=1.initial", [s], lambda m, a: m.cumulative_sum(a, axis=1, include_initial=True))
put("cumulative_prod", [p5], lambda m, a: m.cumulative_prod(a))
put("nancumsum.holes.axis=0", [x27], lambda m, a: m.nancumsum(holed(m, a), axis=0))
put("nancumprod.holes", [x27], lambda m, a: m.nancumprod(holed(m, a)))
put("ediff1d", [s, p2, p3], lambda m, a, b, c: m.ediff1d(a, b, c))
angles = grid(25, (3, 6), -8, 8)
put("unwrap", [angles], lambda m, a: m.unwrap(a))
put("unwrap.axis=0.period=4", [angles], lambda m, a: m.unwrap(a, axis=0, period=4))
put("unwrap.discont=5", [angles], lambda m, a: m.unwrap(a, discont=5))
put("matvec", [grid(26, (2, 3, 4)), grid(27, (4,))], lambda m, a, b: m.matvec(a, b))
put("vecmat", [grid(28, (2, 1, 3)), grid(29, (2, 3, 4))], lambda m, a, b: m.vecmat(a, b))
put("around.decimals=1", [s], lambda m, a: m.around(a, 1))

# ---- windows
for f in ("bartlett", "blackman", "hamming", "hanning"):
    for n in (0, 1, 2, 7, 12):
        w.put(f"{f}.{n}/f64/out", getattr(np, f)(n))
for n, beta in ((1, 5), (7, 0), (8, 3.5), (9, 14), (6, -2)):
    w.put(f"kaiser.{n}.{beta}/f64/out", np.kaiser(n, beta))

# ---- where and initial; the second operand chooses
k, c = grid(30, (3, 4)), grid(31, (4,), -0.5, 1.5)
put("nansum.where", [k, c], lambda m, a, b: m.nansum(holed(m, a), axis=1, initial=1.5, where=b > 0))
put("nanprod.where", [k, c], lambda m, a, b: m.nanprod(holed(m, a), axis=1, initial=2, where=b > 0))
put("nanmean.where", [k, c], lambda m, a, b: m.nanmean(holed(m, a), axis=1, where=b > 0))
put("nanvar.where", [k, c], lambda m, a, b: m.nanvar(holed(m, a), axis=1, where=b > 0))
put("nanmax.where", [k, c], lambda m, a, b: m.nanmax(holed(m, a), axis=1, initial=-1, where=b > 0))
put("nanmin.where", [k, c], lambda m, a, b: m.nanmin(holed(m, a), axis=1, initial=1, where=b > 0))
put("std.correction", [k], lambda m, a: m.std(a, axis=1, correction=1))

w.save()
