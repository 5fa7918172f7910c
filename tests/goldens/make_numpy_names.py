"""Golden values of indices, grids, padding, replacing and other functions of jax.numpy, held against NumPy's.

A record's name spells the call. Rows with inputs are checked under every transform by the table; those without (index
makers) have an output only. Where JAX has no such function or another result by design, NumPy's is recorded.
"""

import goldens
import jax
import jax.numpy as jnp
import numpy as np
from goldens import grid

jax.config.update("jax_enable_x64", True)
out = goldens.Writer("numpy_names")


def record(name, f, inputs, reference=None, dtype="f64"):
    """f of JAX, checked against NumPy's (the same expression with np for jnp where none is given)."""
    arrays = [np.asarray(a) for a in inputs]
    want = np.asarray(reference(*arrays) if reference else f(np, *arrays))
    got = np.asarray(f(jnp, *[jnp.asarray(a) for a in arrays]))
    if got.dtype.kind in "iu":
        assert np.array_equal(got, want), name
    else:
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13, err_msg=name)
    out.case(f"{name}/{dtype}", arrays, got)


def numpy_only(name, value):
    out.put(f"{name}/f64/out", np.asarray(value))


matrix, cube, line = grid(1, (3, 4)), grid(2, (2, 3, 4)), grid(3, (5,))

# --- pad: every mode
for mode in ("edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap", "constant"):
    record(f"pad.{mode}", lambda np, x, m=mode: np.pad(x, ((1, 2), (0, 3)), mode=m), [matrix])
    record(f"pad.{mode}.long", lambda np, x, m=mode: np.pad(x, (11, 7), mode=m), [line])
for mode in ("reflect", "symmetric"):
    record(f"pad.{mode}.odd", lambda np, x, m=mode: np.pad(x, ((2, 1), (3, 2)), mode=m, reflect_type="odd"), [matrix])
    record(f"pad.{mode}.odd.long", lambda np, x, m=mode: np.pad(x, (11, 7), mode=m, reflect_type="odd"), [line])
    record(f"pad.{mode}.single", lambda np, x, m=mode: np.pad(x, (2, 3), mode=m), [line[:1]])
for mode in ("maximum", "mean", "median", "minimum"):
    record(f"pad.{mode}.length", lambda np, x, m=mode: np.pad(x, ((2, 1), (1, 2)), mode=m, stat_length=((1, 2), (3, 2))),
           [matrix])
record("pad.values", lambda np, x: np.pad(x, ((1, 2), (2, 1)), constant_values=((1, 2), (3, 4))), [matrix])
record("pad.pair", lambda np, x: np.pad(x, ((1, 2), (2, 1)), constant_values=(5, 6)), [matrix])
record("pad.ends", lambda np, x: np.pad(x, ((1, 2), (2, 1)), mode="linear_ramp", end_values=((1, 2), (3, 4))), [matrix])
whole = np.array([1, 2, 5, 9], np.int32)
record("pad.ramp.int", lambda np, x: np.pad(x, (3, 4), mode="linear_ramp", end_values=(-4, 20)), [whole], dtype="i32")
record("pad.mean.int", lambda np, x: np.pad(x, (1, 2), mode="mean", stat_length=2), [whole], dtype="i32")

# --- gradient
record("gradient", lambda np, x: np.gradient(x), [line])
record("gradient.both", lambda np, x: np.stack(np.gradient(x)), [matrix])
record("gradient.h=0.5.axis=0", lambda np, x: np.gradient(x, 0.5, axis=0), [matrix])
out.case("gradient.edge_order=2/f64", [matrix], np.gradient(matrix, 0.5, axis=1, edge_order=2))  # not in JAX
points = np.array([0.0, 0.25, 1.0, 2.5, 3.0])
for order in (1, 2):
    out.case(f"gradient.points.edge_order={order}/f64", [line, points], np.gradient(line, points, edge_order=order))
out.case("gradient.mixed/f64", [matrix, points[:4]], np.stack(np.gradient(matrix, 2.0, points[:4])))

# --- shapes
record("rollaxis.2", lambda np, x: np.rollaxis(x, 2), [cube])
record("rollaxis.0.start=3", lambda np, x: np.rollaxis(x, 0, 3), [cube])
record("rollaxis.-1.start=1", lambda np, x: np.rollaxis(x, -1, 1), [cube])
record("block", lambda np, x, y: np.block([[x, y], [y, x]]), [matrix, matrix + 1])
record("block.row", lambda np, x, y: np.block([x, y]), [matrix, matrix[:, :2]])
record("block.ndim", lambda np, x, y: np.block([[x, x], [y]]), [line[:4], grid(9, (2, 8))])
record("apply_over_axes", lambda np, x: np.apply_over_axes(np.sum, x, (0, 2)), [cube])
record("apply_along_axis", lambda np, x: np.apply_along_axis(lambda v: v * v[0], 1, x), [cube])
record("apply_along_axis.sum", lambda np, x: np.apply_along_axis(lambda v: v.sum(), 0, x), [matrix])
record("apply_along_axis.outer", lambda np, x: np.apply_along_axis(lambda v: v[:, None] * v[:2], -2, x), [cube])


def matvec(np):
    return np.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")


record("vectorize.matvec", lambda np, a, b: matvec(np)(a, b), [grid(4, (2, 3, 4)), grid(5, (4,))])
record("vectorize.broadcast", lambda np, a, b: matvec(np)(a, b), [grid(6, (2, 1, 3, 4)), grid(7, (3, 4))])
record("vectorize.scalar", lambda np, a, b: np.vectorize(lambda x, y: x * y + x)(a, b), [grid(6, (3, 1)), grid(7, (4,))])

# --- replacing
def changed(f, x, *args, **options):
    x = x.copy()
    f(x, *args, **options)
    return x


record("put", lambda np, x, v: jnp.put(x, np.array([0, -1, 5]), v, inplace=False), [matrix, line[:3]],
       lambda x, v: changed(np.put, x, [0, -1, 5], v))
record("put.repeated", lambda np, x, v: jnp.put(x, np.array([0, 3, 4, 5, 7]), v, inplace=False), [matrix, line[:2]],
       lambda x, v: changed(np.put, x, [0, 3, 4, 5, 7], v))
record("put.wrap", lambda np, x, v: jnp.put(x, np.array([13, -2]), v, mode="wrap", inplace=False), [matrix, line[:2]],
       lambda x, v: changed(np.put, x, [13, -2], v, mode="wrap"))
record("put.clip", lambda np, x, v: jnp.put(x, np.array([99, -2]), v, mode="clip", inplace=False), [matrix, line[:2]],
       lambda x, v: changed(np.put, x, [99, -2], v, mode="clip"))


record("place", lambda np, x, v: jnp.place(x, x > 0, v, inplace=False), [matrix, line[:3]],
       lambda x, v: changed(np.place, x, x > 0, v))
tall, wide = grid(8, (7, 3)), grid(9, (3, 5))
for name, x in (("", matrix), (".tall", tall), (".wide", wide), (".cube", grid(10, (3, 3, 3)))):
    record(f"fill_diagonal{name}", lambda np, x, v: jnp.fill_diagonal(x, v, inplace=False), [x, line[:2]],
           lambda x, v: changed(np.fill_diagonal, x, v))
out.case("fill_diagonal.wrap/f64", [tall, line[:1]], changed(np.fill_diagonal, tall, line[:1], wrap=True))  # not in JAX
record("select", lambda np, x, y: np.select([x < -0.5, x > 0.5, x > 0], [x, y, x * y], 7), [matrix, matrix + 1])
record("piecewise", lambda np, x: np.piecewise(x, [x < 0, x >= 1], [lambda v: v * v, 3, np.exp]), [matrix])
record("piecewise.last", lambda np, x: np.piecewise(x, [x < 1, x < 0], [lambda v: -v, lambda v: v * v]), [matrix])

# --- numbers taken apart
odd = np.array([0.0, -0.0, 1.0, -2.5, 1e-310, 1e300, np.inf, -np.inf, np.nan, 0.75, -8])
record("modf.fractional", lambda np, x: np.modf(x)[0], [matrix])
record("modf.integral", lambda np, x: np.modf(x)[1], [matrix])
numpy_only("modf.fractional.special", np.modf(odd)[0])
numpy_only("modf.integral.special", np.modf(odd)[1])
record("frexp.mantissa", lambda np, x: np.frexp(x)[0], [matrix])
record("frexp.exponent", lambda np, x: np.frexp(x)[1], [matrix])
numpy_only("frexp.mantissa.special", np.frexp(odd)[0])
numpy_only("frexp.exponent.special", np.frexp(odd)[1])
with np.errstate(all="ignore"):
    numpy_only("spacing.special", np.spacing(odd))
out.put("special", odd)
record("divmod.quotient", lambda np, x, y: np.divmod(x, y)[0], [matrix, matrix + 2.1])
record("divmod.remainder", lambda np, x, y: np.divmod(x, y)[1], [matrix, matrix + 2.1])

# --- indices: outputs only
for name, value in {
        "indices": np.indices((2, 3)),
        "tril_indices": np.stack(np.tril_indices(4, 1, 3)),
        "triu_indices": np.stack(np.triu_indices(3, -1, 5)),
        "diag_indices": np.stack(np.diag_indices(3, 3)),
        "mask_indices": np.stack(np.mask_indices(4, np.triu, 2)),
        "ravel_multi_index": np.ravel_multi_index((np.array([[1], [2]]), np.array([0, 3, 2])), (3, 4)),
        "ravel_multi_index.F": np.ravel_multi_index((np.array([1, 2]), np.array([3, 0])), (3, 4), order="F"),
        "ravel_multi_index.wrap": np.ravel_multi_index((np.array([-1, 4]), np.array([5, -6])), (3, 4), mode="wrap"),
        "ravel_multi_index.clip": np.ravel_multi_index((np.array([-1, 4]), np.array([5, -6])), (3, 4), mode="clip"),
        "unravel_index": np.stack(np.unravel_index(np.array([[22, 41], [37, 0]]), (7, 6))),
        "unravel_index.F": np.stack(np.unravel_index(np.array([22, 41, 37]), (7, 6), order="F")),
        "mgrid": np.mgrid[0:3, 1:7:2],
        "fromfunction": np.fromfunction(lambda i, j: i * 10 + j, (2, 3)),
        "packbits": np.packbits(np.arange(26).reshape(2, 13) % 3 == 0, axis=1),
        "packbits.little": np.packbits(np.arange(26).reshape(2, 13) % 3 == 0, bitorder="little"),
        "unpackbits": np.unpackbits(np.array([[2, 7], [23, 255]], np.uint8), axis=0),
        "unpackbits.count": np.unpackbits(np.array([[2], [7], [23]], np.uint8), axis=1, count=-3, bitorder="little"),
        "bitwise_count": np.bitwise_count(np.array([-128, -1, 0, 7, 127], np.int8)),
}.items():
    numpy_only(name, np.asarray(value, np.float64))

out.save()
