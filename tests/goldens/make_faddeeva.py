"""Writes faddeeva.txt: the Faddeeva function and the Fresnel integrals by mpmath with 60 digits, spherical harmonics
by their explicit sums with as many, the ends of the domains as SciPy has them."""

import goldens

import mpmath as mp
import numpy as np
import scipy.special as sp

mp.mp.dps = 60
writer = goldens.Writer("faddeeva")
rng = np.random.default_rng(11)


def w(z):
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def complex_list(f, points):
    return np.array([complex(f(mp.mpmathify(complex(z)))) for z in points])


# Every branch of the algorithm: near 0, beside the real axis, far out, below it.
z = list(rng.uniform(-6, 6, 40) + 1j * rng.uniform(-4, 7, 40))
z += list(10 ** rng.uniform(-8, 4, 40) * np.exp(1j * rng.uniform(0, np.pi, 40)))
z += [x + 1j * y for x in (1e-9, 3e-4, 0.3, 5.9, 6.1, 7.9, 8.5, 9.9, 10.1, 15.0, 27.0, 29.0, 100.0)
      for y in (1e-12, 1e-5, 0.05, 0.5)]
z += [x + 1j * y for x in (-9.0, -2.0, 0.0, 1e-6, 2.0) for y in (-3.0, -8.0, 5.5, 8.0, 1e5)]
z += [0, 1, -2.5, 6.5, 30.0, 1j, -2j, 12j, 1e8 + 1e3j, 1e3 + 1e8j, -1e8 + 1j]
z = np.array(z)
writer.case("wofz/c128", [z], complex_list(w, z))
writer.case("wofz_dz/c128", [z[:60]], complex_list(lambda v: 2j / mp.sqrt(mp.pi) - 2 * v * w(v), z[:60]))
inf, nan = np.inf, np.nan
ends = np.array([complex(a, b) for a, b in ((inf, 0), (-inf, 0), (0, inf), (inf, 1), (nan, 1), (1, nan), (0, -40), (inf, inf))])
writer.case("wofz.ends/c128", [ends], sp.wofz(ends))

x = np.concatenate([rng.uniform(-6, 6, 30), 10 ** rng.uniform(-6, 5, 20), [0, 1.49, 1.51, -1.5, 36, 1e6 + 0.5]])
for name, f in (("fresnel_s", mp.fresnels), ("fresnel_c", mp.fresnelc)):
    writer.case(f"{name}/f64", [x], np.array([float(f(mp.mpf(float(v)))) for v in x]))
slopes = x[np.abs(x) < 1e4]
writer.case("fresnel_s_dx/f64", [slopes],
            np.array([float(mp.sin(mp.pi / 2 * mp.mpf(float(v)) ** 2)) for v in slopes]))
writer.case("fresnel_c_dxx/f64", [slopes],
            np.array([float(-mp.pi * mp.mpf(float(v)) * mp.sin(mp.pi / 2 * mp.mpf(float(v)) ** 2)) for v in slopes]))
ends = np.array([inf, -inf, nan])
writer.case("fresnel_s.ends/f64", [ends], sp.fresnel(ends)[0])
writer.case("fresnel_c.ends/f64", [ends], sp.fresnel(ends)[1])


def harmonic(n, m, theta, phi):
    """Y by the polynomial's coefficients (DLMF 14.30.1)."""
    k = abs(m)
    t, p = mp.mpf(theta), mp.mpf(phi)
    c, s = mp.cos(t), mp.sin(t)
    total = mp.mpf(0)  # d^k/dc^k of P_n, term by term
    for j in range(n // 2 + 1):
        power = n - 2 * j
        if power >= k:
            total += (mp.mpf(-1) ** j * mp.binomial(n, j) * mp.binomial(2 * n - 2 * j, n)
                      * mp.ff(power, k) * c ** (power - k)) / mp.mpf(2) ** n
    size = mp.sqrt((2 * n + 1) / (4 * mp.pi) * mp.factorial(n - k) / mp.factorial(n + k)) * (-s) ** k * total
    return size * (-1 if m < 0 and k % 2 else 1) * mp.expj(m * p)


n = np.array([0, 1, 1, 1, 2, 2, 3, 4, 5, 7, 10, 10, 20, 30, 30, 60, 60, 100, 6, 6, 3, 2])
m = np.array([0, 0, 1, -1, 2, -1, -3, 2, 0, -5, 10, 3, -13, 0, 29, -60, 7, 55, 0, 1, 2, -2])
theta = np.concatenate([rng.uniform(0.05, 3.1, 18), [0, 0, np.pi, 1e-3]])
phi = rng.uniform(0, 2 * np.pi, 22)
values = [harmonic(int(a), int(b), float(t), float(p)) for a, b, t, p in zip(n, m, theta, phi)]
columns = [n.astype(np.float64), m.astype(np.float64), theta, phi]
writer.case("sph_harm_y/c128", columns, np.array([complex(v) for v in values]))
for name, order in (("dtheta", 1), ("dtheta2", 2)):
    some = [complex(mp.diff(lambda t: harmonic(int(a), int(b), t, float(p)), mp.mpf(float(c)), order))
            for a, b, c, p in zip(n[:18], m[:18], theta[:18], phi[:18])]
    writer.case(f"sph_harm_y_{name}/c128", [c[:18] for c in columns], np.array(some))
ends = [np.array(c, dtype=np.float64) for c in ([2, 1, 3, 2, 2], [3, -2, 1, 1, 1], [1, 1, nan, 4.0, -0.5], [1, 2, 1, 1, 1])]
writer.case("sph_harm_y.ends/c128", ends, sp.sph_harm_y(ends[0].astype(int), ends[1].astype(int), ends[2], ends[3]))
writer.save()
