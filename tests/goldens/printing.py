"""Writes printing.txt: what NumPy's str() makes of several hundred arrays.

A case is a line `case dtype shape precision threshold edgeitems linewidth suppress`, a line of element bits in
hexadecimal (the array repeats them cyclically in row-major order), `text N` and the N lines of the text.
bfloat16 is the ml_dtypes one, as JAX prints it.
"""
import os
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(20)
out = []
seen = set()
DTYPES = {
    **{n: np.dtype(n) for n in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
                                "complex64 complex128").split()},
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}


def case(values, dtype, shape=None, **options):
    dt = DTYPES[dtype]
    values = np.asarray(values).astype(dt).ravel()
    shape = (values.size,) if shape is None else shape
    size = int(np.prod(shape, dtype=np.int64))
    array = np.resize(values, size).reshape(shape) if size else np.zeros(shape, dt)
    o = dict(precision=8, threshold=1000, edgeitems=3, linewidth=75, suppress=False)
    o.update(options)
    with np.printoptions(**o):
        text = str(array)
    values = values[:size]
    part = dt.itemsize // (2 if dt.kind == "c" else 1)
    words = " ".join(f"{int(w):x}" for w in values.view(f"u{part}")) if values.size else "0"
    lines = text.split("\n")
    entry = [
        f"case {dtype} {','.join(map(str, shape)) or '-'} {o['precision']} {o['threshold']} {o['edgeitems']} "
        f"{o['linewidth']} {int(o['suppress'])}", words, f"text {len(lines)}", *lines
    ]
    key = "\n".join(entry)
    if key not in seen:
        seen.add(key)
        out.extend(entry)


FLOATS = ["float16", "float32", "float64", "bfloat16"]
COMPLEX = ["complex64", "complex128"]
INTS = [n for n in DTYPES if "int" in n]
nan, inf = np.nan, np.inf

nasty = [
    [0.0], [-0.0], [1.0], [3.5], [1, 2, 3], [1.5, 2.25, 3], [0.1, 0.2, 0.3], [1 / 3], [-1 / 3, 2 / 3], [nan], [inf], [-inf],
    [nan, inf], [nan, -inf, 1], [nan, 1.5, 22.25], [inf, -1], [1e-5], [1e-4], [9.9e-5], [1e-4, 1], [1e-3, 1],
    [1e-3, 1.001], [1e8], [99999999.0], [1e7, 1], [1e6], [999999.0], [999.0], [1000.0], [1e16, 1e-16], [1e100, 1],
    [1e300, 1e-300], [5e-324, 1], [1.7976931348623157e308], [1e10, nan, -inf], [-1e10, 1e-10], [2**-20, 2**-10, 1],
    [2.0**-k for k in range(30)], [2.0**k for k in range(30)], [10.0**k for k in range(-6, 9)], [0.5, 100.25, -3],
    [1e-5, 12345.678], [1e-5, 1.2345679e10], [123456.789, 0.001], [0.1 + 0.2], [1 - 1e-16], [9.99999999], [0.999999999],
    [0.99999999951], [9.5, 99.5, 0.5], [1e22], [1e23], [9007199254740993.0], [4.35, 4.349999999999999], [0.0, 1e-9],
    [0.0, nan], [65504.0, 1], [6e-8, 1], [3.14159265358979, 2.71828182845905, 1.4142135623731], [1e5, 1e-2], [-0.0, 0.0],
    [1.0, 1000.0], [1.0, 1001.0], [0.00012345678912], [1234567.25, 0.25], [16777216.0, 1], [33554432.0, 0.125],
]
for dtype in FLOATS:
    for values in nasty:
        case(values, dtype)
        case(values[:1], dtype, ())
    for value in (999.5, 1e15, 9.999e15, 1e16, 1e-3, 1.1e-4, 123456, 1234567, 1e38, 2.0**-24):
        case([value], dtype, ())
for dtype in COMPLEX:
    for values in ([1 + 2j], [1j], [0], [-0.0 - 1j], [1 + 2j, 3.5 - 0.25j], [nan + 1j, 2 - inf * 1j], [1e10 + 1j, 1e-10j],
                   [1.5, 2.25j, -3], [complex(nan, nan), 1], [complex(inf, -inf), 0.5], [1e-5 + 1e5j, 1],
                   [complex(0, -0.0)], [1e16 + 1e-5j], [123456789 + 1e6j], [1 / 3 - 2j / 3, 100]):
        case(values, dtype)
        case(values[:1], dtype, ())
for dtype in INTS:
    info = np.iinfo(dtype)
    for values in ([0], [1, 2, 3], [info.min, info.max], [info.min], [info.max, 0], [7, 77, 100]):
        case(np.array(values, dtype), dtype)
    case(np.array([info.max], dtype), dtype, ())
for values in ([True], [False], [True, False], [True, True]):
    case(values, "bool")
    case(values[:1], "bool", ())

for dtype in DTYPES:
    for shape in ((0,), (0, 3), (2, 0), (1, 0, 2)):
        case([], dtype, shape)
    count = np.arange(37) % 11
    for shape in ((1, 1), (2, 3), (3, 1), (2, 2, 2), (1, 2, 1, 3), (2, 1, 2, 1, 2), (40,), (3, 40), (1001,), (40, 50),
                  (1001, 1), (7, 7, 30), (1, 1001), (4, 6, 70), (10, 101), (1000,), (25, 5, 8, 2)):
        if np.prod(shape) <= 200 or np.prod(shape) > 1000 or dtype in ("float32", "bool"):
            case(count / 4 if dtype in FLOATS else count, dtype, shape)

# Numbers of every size, and the distributions people print.
for i in range(260):
    dtype = (FLOATS + COMPLEX)[i % 6]
    n = int(rng.integers(1, 9))
    kind = int(rng.integers(0, 5))

    def draw():
        if kind == 0:
            return rng.normal(size=n) * 10.0**rng.integers(-3, 3)
        if kind == 1:
            return rng.normal(size=n) * 10.0**rng.integers(-12, 12, size=n)
        if kind == 2:
            return np.round(rng.normal(size=n) * 100, int(rng.integers(0, 4)))
        if kind == 3:
            return rng.integers(-50, 50, size=n) * 2.0**rng.integers(-30, 20)
        return np.where(rng.random(n) < 0.3, rng.choice([nan, inf, -inf, 0.0, -0.0], n), rng.normal(size=n))

    values = draw() + 1j * draw() if dtype in COMPLEX else draw()
    shape = (n,) if i % 3 else (int(rng.integers(1, 4)), int(rng.integers(1, 15)))
    options = {}
    if i % 4 == 0:
        options["precision"] = int(rng.integers(0, 18))
    if i % 5 == 0:
        options["suppress"] = True
    if i % 7 == 0:
        options["linewidth"] = int(rng.integers(1, 60))
    if i % 11 == 0:
        options.update(threshold=int(rng.integers(0, 8)), edgeitems=int(rng.integers(1, 3)))
    case(values, dtype, shape, **options)

for precision in range(0, 12):  # powers of two and half-way digits, at every precision
    for dtype in ("float32", "float64"):
        case([2.0**-k for k in range(1, 28)], dtype, precision=precision)
        case([2.0**-20, 2.0**-33, 2.0**-51], dtype, precision=precision)
        case([0.5, 1.5, 2.5, 0.125, 0.0625, 0.375], dtype, precision=precision)
        case([1e-12, 1, 0.00000005], dtype, precision=precision, suppress=True)
        case([1e-12, 1e-9], dtype, precision=precision, suppress=True)

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "printing.txt")
with open(path, "w", encoding="utf-8") as f:
    f.write("\n".join(out) + "\n")
print(len(seen), "cases")
