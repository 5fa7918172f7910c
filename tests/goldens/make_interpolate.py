"""Writes interpolate.txt: SciPy's interpolants, as <class>.<case>/f64/in0 (x), in1 (y), in2 (points), out (the value), out1, out2, out3
(derivatives). RegularGridInterpolator: in0, in1, ... the grid, values, points."""

import goldens

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator, RegularGridInterpolator

writer = goldens.Writer("interpolate")


def ascending(seed, n):
    return np.cumsum(goldens.grid(seed, (n,), 0.25, 2))


def record(name, x, y, curve):
    points = np.concatenate([[x[0] - 0.75], x, np.linspace(x[0] + 0.0625, x[-1] - 0.03125, 9), [x[-1] + 1.25]])
    writer.put(f"{name}/f64/in0", x)
    writer.put(f"{name}/f64/in1", y)
    writer.put(f"{name}/f64/in2", points)
    writer.put(f"{name}/f64/out", curve(points))
    for nu in (1, 2, 3):
        writer.put(f"{name}/f64/out{nu}", curve(points, nu))


for ends in ("not-a-knot", "natural", "clamped", "periodic"):
    for n in (2, 3, 4, 5, 9, 40):
        x, y = ascending(n, n), goldens.grid(50 + n, (n,), -2, 2)
        if ends == "periodic":
            y[-1] = y[0]
        record(f"CubicSpline.{ends}.{n}", x, y, CubicSpline(x, y, bc_type=ends))
    x, y = ascending(7, 6), goldens.grid(8, (6, 2, 3), -2, 2)
    if ends == "periodic":
        y[-1] = y[0]
    record(f"CubicSpline.{ends}.tails", x, y, CubicSpline(x, y, bc_type=ends))
for n in (2, 3, 4, 12):
    x, y = ascending(n, n), goldens.grid(60 + n, (n,), -2, 2)
    record(f"PchipInterpolator.{n}", x, y, PchipInterpolator(x, y))
x = ascending(3, 8)
for name, y in {
    "flat": [1, 1, 0.5, 0.5, 2, 3, 3, 3],
    "steep": [0, 8, 8.25, 8.5, 0, 0.25, 9, 8],
    "monotone": [0, 0.25, 0.5, 4, 4.25, 8, 8.5, 16],
}.items():
    record(f"PchipInterpolator.{name}", x, np.array(y, dtype=float), PchipInterpolator(x, y))
y = goldens.grid(9, (6, 3), -2, 2)
record("PchipInterpolator.tails", ascending(7, 6), y, PchipInterpolator(ascending(7, 6), y))

grid = [ascending(1, 5), ascending(2, 4), ascending(3, 3)]
for d in (1, 2, 3):
    for tail in ((), (2,)):
        values = goldens.grid(4, tuple(len(g) for g in grid[:d]) + tail, -2, 2)
        unit = goldens.grid(5, (7, d), 0, 1)
        unit[0], unit[1] = 0, 1
        points = np.stack([g[0] + unit[:, i] * (g[-1] - g[0]) for i, g in enumerate(grid[:d])], axis=-1)
        points[2] = [g[1] for g in grid[:d]]
        outside = np.concatenate([points, points[:1] - 0.5, points[1:2] + 0.75])
        for method in ("linear", "nearest"):
            name = f"RegularGridInterpolator.{method}.{d}.{len(tail)}/f64"
            f = RegularGridInterpolator(tuple(grid[:d]), values, method=method, bounds_error=False)
            writer.case(name, [*grid[:d], values, outside], f(outside))
            f = RegularGridInterpolator(tuple(grid[:d]), values, method=method, bounds_error=False, fill_value=None)
            writer.put(f"{name}/beyond", f(outside))
writer.save()
