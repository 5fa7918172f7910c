"""Golden values of the functions: inputs away from kinks and poles, outputs from JAX, checked against NumPy and SciPy.

Types of 32 bits and less are computed with 64-bit types off (nax's defaults), the others with them on. Positions
(argmax, argsort, searchsorted) are recorded as int32 throughout.
"""

import warnings

import goldens
import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np
import scipy.special as sp
from goldens import LONG, grid
from jax import lax

warnings.filterwarnings("ignore")
out = goldens.Writer("ops")
worst = {}


def record(name, dtype, f, inputs, reference=None, note=True):
    """`inputs` are NumPy arrays of double, int, bool or complex; those that are floating are cast to `dtype`."""
    wide = dtype in ("f64", "i64", "u64", "c128")
    target = jnp.bfloat16 if dtype == "bf16" else np.dtype(LONG[dtype])
    with jax.enable_x64(wide):
        cast = []
        for a in inputs:
            a = np.asarray(a)
            own = a.dtype.kind in "fc" or (a.dtype.kind in "iu" and dtype[0] in "iu" and a.dtype != np.int32)
            cast.append(a.astype(target) if own else a)
        result = f(*[jnp.asarray(a) for a in cast])
        many = isinstance(result, (tuple, list))
        results = [np.asarray(r) for r in (result if many else [result])]
        if wide and dtype[0] == "f":
            results = [r.astype(np.int32) if r.dtype == np.int64 else r for r in results]
        out.case(f"{name}/{dtype}", cast, results if many else results[0])
        if reference is not None:
            compare(name, dtype, results, reference(*cast))


def compare(name, dtype, results, expected):
    expected = expected if isinstance(expected, (tuple, list)) else [expected]
    for got, want in zip(results, expected, strict=True):
        want = np.asarray(want)
        assert got.shape == want.shape, (name, dtype, got.shape, want.shape)
        if dtype in ("f16", "bf16"):
            continue
        if not np.array_equal(np.isnan(got), np.isnan(want)):
            print("NaN differs from NumPy:", name, dtype, got, want)
        ok = np.isfinite(got) & np.isfinite(want)
        if not np.array_equal(np.isposinf(got.real), np.isposinf(want.real)):
            print("inf differs from NumPy:", name, dtype, got, want)
        if ok.any():
            error = np.abs(got[ok] - want[ok]) if got.dtype != bool else got[ok] != want[ok]
            scale = np.finfo(got.dtype).eps if got.dtype.kind in "fc" else 1
            key = (name.split(".")[0], dtype)
            worst[key] = max(worst.get(key, 0), np.max(error / scale / (np.abs(want[ok]) + 1e-2)))


FLOATS = ("f32", "f64")
HALVES = ("f16", "bf16")
BASE = (3, 7)  # with packets of 2, 4, 8 and 16 lanes every size of tail occurs
UNUSUAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0])


# --- elementwise, one argument: jax, numpy, low, high ---
def gelu_exact(x):
    return x * sp.ndtr(x)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


UNARY = {
    "negative": (jnp.negative, np.negative, -2, 2), "abs": (jnp.abs, np.abs, -2, 2),
    "sign": (jnp.sign, np.sign, -2, 2), "exp": (jnp.exp, np.exp, -2, 2), "exp2": (jnp.exp2, np.exp2, -2, 2),
    "expm1": (jnp.expm1, np.expm1, -2, 2), "log": (jnp.log, np.log, 0.1, 4), "log2": (jnp.log2, np.log2, 0.1, 4),
    "log10": (jnp.log10, np.log10, 0.1, 4), "log1p": (jnp.log1p, np.log1p, -0.9, 3),
    "sqrt": (jnp.sqrt, np.sqrt, 0.1, 4), "cbrt": (jnp.cbrt, np.cbrt, 0.1, 4),
    "rsqrt": (lax.rsqrt, lambda x: 1 / np.sqrt(x), 0.1, 4), "square": (jnp.square, np.square, -2, 2),
    "reciprocal": (jnp.reciprocal, np.reciprocal, 0.25, 3), "sin": (jnp.sin, np.sin, -3, 3),
    "cos": (jnp.cos, np.cos, -3, 3), "tan": (jnp.tan, np.tan, -1.25, 1.25),
    "arcsin": (jnp.arcsin, np.arcsin, -0.95, 0.95), "arccos": (jnp.arccos, np.arccos, -0.95, 0.95),
    "arctan": (jnp.arctan, np.arctan, -3, 3), "sinh": (jnp.sinh, np.sinh, -2, 2), "cosh": (jnp.cosh, np.cosh, -2, 2),
    "tanh": (jnp.tanh, np.tanh, -3, 3), "arcsinh": (jnp.arcsinh, np.arcsinh, -3, 3),
    "arccosh": (jnp.arccosh, np.arccosh, 1.1, 4), "arctanh": (jnp.arctanh, np.arctanh, -0.9, 0.9),
    "erf": (jsp.erf, sp.erf, -2, 2), "erfc": (jsp.erfc, sp.erfc, -2, 2),
    "erfinv": (jsp.erfinv, sp.erfinv, -0.95, 0.95), "lgamma": (jsp.gammaln, sp.gammaln, 0.2, 6),
    "expit": (jsp.expit, sp.expit, -4, 4), "logit": (jsp.logit, sp.logit, 0.05, 0.95),
    "relu": (jax.nn.relu, lambda x: np.maximum(x, 0), -2, 2),
    "gelu": (jax.nn.gelu, gelu_tanh, -3, 3),
    "gelu.exact": (lambda x: jax.nn.gelu(x, approximate=False), gelu_exact, -3, 3),
    "silu": (jax.nn.silu, lambda x: x * sp.expit(x), -3, 3),
    "softplus": (jax.nn.softplus, lambda x: np.logaddexp(x, 0), -3, 3),
    "floor": (jnp.floor, np.floor, -3, 3), "ceil": (jnp.ceil, np.ceil, -3, 3), "round": (jnp.round, np.round, -3, 3),
    "trunc": (jnp.trunc, np.trunc, -3, 3), "isnan": (jnp.isnan, np.isnan, -2, 2),
    "isinf": (jnp.isinf, np.isinf, -2, 2), "isfinite": (jnp.isfinite, np.isfinite, -2, 2),
    "logical_not": (jnp.logical_not, np.logical_not, -2, 2),
}
KINKED = {"abs", "sign", "relu", "negative", "square", "floor", "ceil", "trunc", "round"}


def away_from_kinks(x):
    """Moves numbers off the multiples of 1/2, where floor, round, abs, relu and sign are not smooth."""
    return np.where(np.abs(x * 2 - np.round(x * 2)) < 1 / 64, x + 1 / 32, x)


def unary():
    for i, (name, (f, reference, low, high)) in enumerate(UNARY.items()):
        def data(shape, seed):
            x = grid(1000 * seed + i, shape, low, high)
            return away_from_kinks(x) if name in KINKED else x
        for dtype in FLOATS:
            record(name, dtype, f, [data(BASE, 1)], reference)
            record(name + ".0d", dtype, f, [data((), 2)], reference)
            record(name + ".special", dtype, f, [UNUSUAL], reference)
        record(name + ".empty", "f32", f, [np.zeros((0, 3))], reference)
        for dtype in HALVES:
            record(name, dtype, f, [data((9,), 3)])
    for name in ("negative", "abs", "sign", "square"):
        record(name, "i32", UNARY[name][0], [np.array([-7, -3, -1, 0, 1, 2, 9], np.int64)], UNARY[name][1])
    record("abs", "u8", jnp.abs, [np.array([0, 1, 200, 255], np.int64)], np.abs)
    for name in ("exp", "sqrt", "tanh", "sin", "log1p", "reciprocal"):  # integers become floats, also in reciprocal
        record(name, "i32", UNARY[name][0], [np.array([1, 2, 3, 9], np.int64)])
    for name in ("logical_not",):
        record(name, "bool", UNARY[name][0], [np.array([True, False])], UNARY[name][1])
    z = grid(7, (5,), -1.5, 1.5) + 1j * grid(8, (5,), -1.5, 1.5)
    for name in ("negative", "abs", "exp", "log", "sqrt", "square", "reciprocal", "sin", "cos", "tan", "sinh", "cosh",
                 "tanh"):
        for dtype in ("c64", "c128"):
            record(name, dtype, UNARY[name][0], [z], UNARY[name][1])
    for name, f, reference in (("real", jnp.real, np.real), ("imag", jnp.imag, np.imag), ("conj", jnp.conj, np.conj),
                               ("angle", jnp.angle, np.angle)):
        for dtype in ("c64", "c128"):
            record(name, dtype, f, [z], reference)


# --- elementwise, two arguments ---
BINARY = {
    "add": (jnp.add, np.add), "subtract": (jnp.subtract, np.subtract), "multiply": (jnp.multiply, np.multiply),
    "divide": (jnp.divide, np.divide), "floor_divide": (jnp.floor_divide, np.floor_divide),
    "mod": (jnp.mod, np.mod), "power": (jnp.power, np.power), "maximum": (jnp.maximum, np.maximum),
    "minimum": (jnp.minimum, np.minimum), "arctan2": (jnp.arctan2, np.arctan2), "hypot": (jnp.hypot, np.hypot),
    "logaddexp": (jnp.logaddexp, np.logaddexp), "equal": (jnp.equal, np.equal),
    "not_equal": (jnp.not_equal, np.not_equal), "less": (jnp.less, np.less),
    "less_equal": (jnp.less_equal, np.less_equal), "greater": (jnp.greater, np.greater),
    "greater_equal": (jnp.greater_equal, np.greater_equal), "logical_and": (jnp.logical_and, np.logical_and),
    "logical_or": (jnp.logical_or, np.logical_or), "logical_xor": (jnp.logical_xor, np.logical_xor),
    "isclose": (lambda a, b: jnp.isclose(a, b, rtol=0.25, atol=0.5), lambda a, b: np.isclose(a, b, rtol=0.25, atol=0.5)),
}
ARITHMETIC = ("add", "subtract", "multiply", "divide", "floor_divide", "mod", "maximum", "minimum")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
PAIRS = {"": (BASE, BASE), ".broadcast": ((3, 1), (7,)), ".rows": ((2, 3, 5), (3, 1)), ".scalar": (BASE, ()),
         ".0d": ((), ()), ".empty": ((0, 3), (3,))}


def binary():
    for i, (name, (f, reference)) in enumerate(BINARY.items()):
        for tag, shapes in PAIRS.items():
            a, b = (grid(5000 + 10 * i + j, shape) for j, shape in enumerate(shapes))
            a, b = away_from_kinks(a), away_from_kinks(b) + 1 / 128  # no ties
            if name == "power":
                a = np.abs(a) + 0.25
            if name in ("divide", "floor_divide", "mod"):
                b = np.where(b < 0, b - 0.5, b + 0.5)
            if name in COMPARISONS or name.startswith("logical"):
                a, b = np.round(a), np.round(b)  # ties and zeros
            for dtype in FLOATS:
                record(name + tag, dtype, f, [a, b], reference)
            if tag == "":
                for dtype in HALVES:
                    record(name, dtype, f, [a, b])
        if name not in ("floor_divide", "mod"):  # signed zeros and infinities: see specials_of_mod
            a, b = (m.ravel() for m in np.meshgrid(UNUSUAL, UNUSUAL))
            for dtype in FLOATS:
                record(name + ".special", dtype, f, [a, b], reference)
    a, b = (m.ravel() for m in np.meshgrid(UNUSUAL, UNUSUAL))
    for dtype in FLOATS:
        record("isclose.equal_nan.special", dtype, lambda a, b: jnp.isclose(a, b, equal_nan=True), [a, b],
               lambda a, b: np.isclose(a, b, equal_nan=True))
    n = np.array([-7, -6, -1, 0, 1, 5, 6, 7, 100], np.int64)
    d = np.array([2, -4, 3, 5, -1, 5, -4, 3, 7], np.int64)
    for name in ARITHMETIC + COMPARISONS:
        f, reference = BINARY[name]
        check = None if name == "divide" else reference
        for dtype in ("i8", "i16", "i32", "i64"):
            if name == "divide" and dtype == "i64":
                continue  # JAX's answer depends on its 64-bit switch
            record(name, dtype, f, [n, d], check)
        for dtype in ("u8", "u16", "u32", "u64"):
            if name in ("divide", "subtract") and dtype == "u64":
                continue  # the difference wraps past what a double holds
            record(name, dtype, f, [np.abs(n), np.abs(d)], check)
    record("isclose", "i32", BINARY["isclose"][0], [n, d], BINARY["isclose"][1])
    record("power", "i32", jnp.power, [n, np.array([3, 2, 5, 4, 0, 3, 2, 1, 4], np.int64)], np.power)
    record("power.negative_base", "f32", jnp.power, [np.array([-2.0, -1.5, -0.5]), np.array([3.0, 2.0, -1.0])], np.power)
    record("power.integer_exponent", "f32", jnp.power, [np.array([-2.0, 1.5, 0.5]), np.array([3, 2, -1], np.int32)])
    for name in COMPARISONS[:2] + ("logical_and", "logical_or", "logical_xor", "add", "multiply", "maximum"):
        record(name, "bool", BINARY[name][0], [np.array([True, True, False, False]), np.array([True, False, True, False])],
               BINARY[name][1])
    z = grid(11, (5,), -1.5, 1.5) + 1j * grid(12, (5,), -1.5, 1.5)
    w = grid(13, (5,), 0.5, 1.5) + 1j * grid(14, (5,), -1.5, 1.5)
    for name in ("add", "subtract", "multiply", "divide", "power", "equal", "not_equal", "isclose"):
        for dtype in ("c64", "c128"):
            record(name, dtype, BINARY[name][0], [z, w], BINARY[name][1])
    a, b = np.array([0b1100, 255, 7, 0], np.int64), np.array([0b1010, 1, 8, 77], np.int64)
    bits = {"bitwise_and": (jnp.bitwise_and, np.bitwise_and), "bitwise_or": (jnp.bitwise_or, np.bitwise_or),
            "bitwise_xor": (jnp.bitwise_xor, np.bitwise_xor)}
    for name, (f, reference) in bits.items():
        for dtype in ("i32", "i64", "u8", "u32"):
            record(name, dtype, f, [a, b], reference)
        record(name, "bool", f, [np.array([True, True, False, False]), np.array([True, False, True, False])], reference)
    shift = np.array([1, 3, 0, 5], np.int64)
    for dtype in ("i32", "i64", "u8", "u32"):
        record("bitwise_invert", dtype, jnp.invert, [a], np.invert)
        record("left_shift", dtype, jnp.left_shift, [a, shift], np.left_shift)
        record("right_shift", dtype, jnp.right_shift, [a, shift], np.right_shift)
    record("right_shift.negative", "i32", jnp.right_shift, [-a, shift], np.right_shift)
    record("bitwise_invert", "bool", jnp.invert, [np.array([True, False])], np.invert)


def select_and_clip():
    x, y = grid(21, BASE), grid(22, BASE)
    for dtype in FLOATS:
        record("where", dtype, jnp.where, [grid(23, BASE) > 0, x, y], np.where)
        record("where.broadcast", dtype, jnp.where, [grid(24, (3, 1)) > 0, x, grid(25, (7,))], np.where)
        record("where.0d", dtype, jnp.where, [np.array(True), x, grid(26, ())], np.where)
        record("where.empty", dtype, jnp.where, [np.zeros((0,), bool), np.zeros((0,)), grid(26, ())], np.where)
        record("clip.-1,0.5", dtype, lambda a: jnp.clip(a, -1, 0.5), [x], lambda a: np.clip(a, -1, a.dtype.type(0.5)))
        record("clip.arrays", dtype, jnp.clip, [x, -np.abs(y) - 1 / 128, np.abs(grid(27, (7,))) + 1 / 128], np.clip)
    record("where", "i32", jnp.where, [np.array([True, False, True]), np.array([1, 2, 3], np.int64),
                                       np.array([7, 8, 9], np.int64)], np.where)


# --- reductions ---
def softmax(x, axis):
    return sp.softmax(x, axis=axis)


def log_softmax(x, axis):
    return sp.log_softmax(x, axis=axis)


REDUCE = {
    "sum": (jnp.sum, np.sum), "prod": (jnp.prod, np.prod), "mean": (jnp.mean, np.mean), "max": (jnp.max, np.max),
    "min": (jnp.min, np.min), "var": (jnp.var, np.var), "std": (jnp.std, np.std),
    "logsumexp": (jsp.logsumexp, sp.logsumexp),
    "any": (jnp.any, np.any), "all": (jnp.all, np.all),
}
AXES = {"": {}, ".axis=0": {"axis": 0}, ".axis=-1": {"axis": -1}, ".axis=1.keepdims": {"axis": 1, "keepdims": True},
        ".axis=(0,2)": {"axis": (0, 2)}, ".axis=(-1,0).keepdims": {"axis": (-1, 0), "keepdims": True},
        ".keepdims": {"keepdims": True}}


def bind(f, **options):
    return lambda *a: f(*a, **options)


def reductions():
    for i, (name, (f, reference)) in enumerate(REDUCE.items()):
        x = grid(40 + i, (2, 3, 9))
        if name in ("any", "all"):
            x = np.where(np.abs(x) < 0.6, 0, x) if name == "any" else np.where(np.abs(x) < 0.2, 0, x)
        for tag, options in AXES.items():
            for dtype in FLOATS:
                record(name + tag, dtype, bind(f, **options), [x], bind(reference, **options))
        for dtype in FLOATS:
            record(name + ".0d", dtype, f, [grid(60 + i, ())], reference)
            if name not in ("max", "min"):
                record(name + ".empty.axis=0", dtype, bind(f, axis=0), [np.zeros((0, 3))], bind(reference, axis=0))
            record(name + ".empty.axis=1", dtype, bind(f, axis=1), [np.zeros((0, 3))], bind(reference, axis=1))
        for dtype in HALVES:
            record(name, dtype, bind(f, axis=-1), [x])
        record(name + ".long", "f32", f, [grid(80 + i, (1000,), 0.99, 1.01) if name == "prod" else grid(80 + i, (1000,))],
               lambda a: reference(a.astype(np.float64)).astype(bool if name in ("any", "all") else np.float32))
    n = np.array([[3, -1, 4], [1, -5, 9]], np.int64)
    for name in ("sum", "prod", "max", "min", "any", "all"):
        f, reference = REDUCE[name]
        for dtype in ("i8", "i32", "i64"):
            record(name + ".axis=1", dtype, bind(f, axis=1), [n], bind(reference, axis=1))
        record(name + ".axis=1", "u8", bind(f, axis=1), [np.abs(n)], bind(reference, axis=1))
        record(name, "bool", f, [np.array([True, False, True])], REDUCE[name][1])
    for name in ("mean", "var", "std"):
        record(name, "i32", REDUCE[name][0], [n])
    record("mean", "bool", jnp.mean, [np.array([True, False, True])])
    for dtype in FLOATS:
        x = grid(90, (4, 5))
        for name in ("var", "std"):
            f, reference = REDUCE[name]
            record(name + ".axis=0.ddof=1", dtype, bind(f, axis=0, ddof=1), [x], bind(reference, axis=0, ddof=1))
        for name, start in (("sum", 1.5), ("prod", 2.0), ("max", 0.0), ("min", 0.0)):
            f, reference = REDUCE[name]
            record(f"{name}.axis=1.initial={start:g}", dtype, bind(f, axis=1, initial=start), [x],
                   bind(reference, axis=1, initial=start))
            record(f"{name}.axis=1.initial={start:g}.where", dtype,
                   lambda a, m: f(a, axis=1, initial=start, where=m), [x, grid(91, (4, 5)) > 0],
                   lambda a, m: reference(a, axis=1, initial=start, where=m))
        for name in ("mean", "var"):
            f, reference = REDUCE[name]
            record(name + ".axis=1.where", dtype, lambda a, m: f(a, axis=1, where=m), [x, grid(91, (4, 5)) > -1],
                   lambda a, m: reference(a, axis=1, where=m))
        record("logsumexp.large", dtype, bind(jsp.logsumexp, axis=1), [1000 * x], bind(sp.logsumexp, axis=1))
        record("logsumexp.-inf", dtype, bind(jsp.logsumexp, axis=1),
               [np.array([[-np.inf, -np.inf], [-np.inf, 1.0], [np.inf, 1.0]])], bind(sp.logsumexp, axis=1))
        for name, f, reference in (("argmax", jnp.argmax, np.argmax), ("argmin", jnp.argmin, np.argmin)):
            record(name, dtype, f, [x], reference)
            record(name + ".axis=0", dtype, bind(f, axis=0), [x], bind(reference, axis=0))
            record(name + ".axis=-1.keepdims", dtype, bind(f, axis=-1, keepdims=True), [x],
                   bind(reference, axis=-1, keepdims=True))
            record(name + ".ties", dtype, bind(f, axis=1), [np.round(x)], bind(reference, axis=1))
            record(name + ".nan", dtype, f, [np.array([1.0, np.nan, 3.0, -2.0])], reference)
        for name in ("max", "min", "sum"):
            record(name + ".nan", dtype, REDUCE[name][0], [np.array([1.0, np.nan, 3.0, -2.0])], REDUCE[name][1])
        for name, f, reference in (("cumsum", jnp.cumsum, np.cumsum), ("cumprod", jnp.cumprod, np.cumprod)):
            record(name, dtype, f, [x], reference)
            record(name + ".axis=0", dtype, bind(f, axis=0), [x], bind(reference, axis=0))
            record(name + ".axis=-1", dtype, bind(f, axis=-1), [x], bind(reference, axis=-1))
        for name, f, reference in (("softmax", jax.nn.softmax, softmax), ("log_softmax", jax.nn.log_softmax, log_softmax)):
            record(name, dtype, f, [x], bind(reference, axis=-1))
            record(name + ".axis=0", dtype, bind(f, axis=0), [x], bind(reference, axis=0))
            record(name + ".large", dtype, f, [500 * x], bind(reference, axis=-1))
    record("cumsum", "i32", jnp.cumsum, [n], np.cumsum)
    record("argmax.axis=1", "i32", bind(jnp.argmax, axis=1), [n])
    record("sum", "c64", jnp.sum, [grid(92, (5,)) + 1j * grid(93, (5,))], np.sum)
    record("prod", "c64", jnp.prod, [grid(92, (5,)) + 1j * grid(93, (5,))], np.prod)
    record("mean", "c64", jnp.mean, [grid(92, (5,)) + 1j * grid(93, (5,))], np.mean)


# --- linear algebra ---
MATMUL = [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((2, 3, 4), (4,)), ((4,), (2, 4, 5)),
          ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
          ((1, 3, 4), (6, 4, 2)), ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((0, 3, 4), (4, 2)), ((17, 33), (33, 19)),
          ((1, 1), (1, 1))]
EINSUM = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)),
          ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bij,jk->bik", (2, 3, 4), (4, 5)), ("i,i->", (5,), (5,)),
          ("i,j->ij", (3,), (4,)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("ii->i", (4, 4)),
          ("ii", (4, 4)), ("ij,ij->i", (2, 3), (2, 3)), ("ij,ij->", (2, 3), (2, 3)),
          ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("...i->...", (2, 3, 4)),
          ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
          ("i,ij,j->", (3,), (3, 4), (4,)), ("bi,bo->io", (4, 3), (4, 2)), ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
          ("iij->j", (3, 3, 2)), ("ba", (2, 3))]


def linear():
    def shaped(name, f, reference, shapes, dtypes=FLOATS):
        tag = ".".join("x".join(map(str, s)) or "0d" for s in shapes)
        values = [grid(200 + i, s, -1, 1) for i, s in enumerate(shapes)]
        for dtype in dtypes:
            data = values
            if dtype[0] == "c":
                data = [v + 1j * grid(300 + i, v.shape, -1, 1) for i, v in enumerate(values)]
            if dtype[0] == "i":
                data = [np.round(8 * v).astype(np.int64) for v in values]
            record(f"{name}.{tag}", dtype, f, data, reference)

    for shapes in MATMUL:
        shaped("matmul", jnp.matmul, np.matmul, shapes)
    for name, f, reference in (("matmul", jnp.matmul, np.matmul), ("dot", jnp.dot, np.dot)):
        shaped(name, f, reference, ((2, 3), (3, 2)), ("f16", "bf16", "i8", "i32", "i64", "c64", "c128"))
    for shapes in (((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((3, 4), (4, 5)), ((2, 3, 4), (4,)), ((2, 3, 4), (5, 4, 2)),
                   ((), (3,)), ((2, 2), ()), ((), ()), ((0,), (0,))):
        shaped("dot", jnp.dot, np.dot, shapes)
    for shapes in (((4,), (4,)), ((2, 3), (2, 3)), ((), ())):
        shaped("vdot", jnp.vdot, np.vdot, shapes, ("f32", "f64", "c64", "c128"))
    for shapes in (((4,), (4,)), ((3, 4), (4,)), ((3, 4), (5, 4)), ((2, 3, 4), (5, 4)), ((), (3,))):
        shaped("inner", jnp.inner, np.inner, shapes)
    for shapes in (((3,), (4,)), ((2, 2), (3,)), ((), (3,)), ((0,), (3,))):
        shaped("outer", jnp.outer, np.outer, shapes)
    shaped("tensordot", jnp.tensordot, np.tensordot, ((2, 3, 4), (3, 4, 5)))
    for axes, shapes in ((0, ((2, 3), (2,))), (1, ((2, 3, 4), (4, 5))), (([1, 0], [0, 1]), ((2, 3, 4), (3, 2, 5))),
                         (([0], [1]), ((3, 2), (4, 3))), (([-1], [0]), ((2, 3), (3, 4)))):
        shaped(f"tensordot.axes={axes}".replace(" ", ""), bind(jnp.tensordot, axes=axes), bind(np.tensordot, axes=axes), shapes)
    for spec, *shapes in EINSUM:
        shaped("einsum." + spec, lambda *a: jnp.einsum(spec, *a), lambda *a: np.einsum(spec, *a), shapes)
    shaped("trace", jnp.trace, np.trace, ((3, 4),))


# --- shapes, indexing, sorting ---
def both(function, *args, **options):
    """Returns one call in JAX's form and in NumPy's."""
    return (lambda *a: getattr(jnp, function)(*a, *args, **options),
            lambda *a: getattr(np, function)(*a, *args, **options))


def many(function, *args, **options):
    return (lambda *a: getattr(jnp, function)(list(a), *args, **options),
            lambda *a: getattr(np, function)(list(a), *args, **options))


CUBE, MATRIX, LINE = (2, 3, 4), (3, 4), (6,)
SHAPES = [
    ("transpose", both("transpose"), [CUBE]), ("transpose.axes=(1,2,0)", both("transpose", (1, 2, 0)), [CUBE]),
    ("transpose.axes=(-1,0,1)", both("transpose", (-1, 0, 1)), [CUBE]), ("transpose.0d", both("transpose"), [()]),
    ("reshape.(4,6)", both("reshape", (4, 6)), [CUBE]), ("reshape.(2,-1)", both("reshape", (2, -1)), [CUBE]),
    ("reshape.()", both("reshape", ()), [(1, 1)]), ("reshape.(0,5)", both("reshape", (0, 5)), [(3, 0)]),
    ("ravel", both("ravel"), [CUBE]),
    ("broadcast_to.(2,3,4)", both("broadcast_to", (2, 3, 4)), [(3, 1)]),
    ("broadcast_to.(2,2)", both("broadcast_to", (2, 2)), [()]),
    ("concatenate.axis=0", many("concatenate", axis=0), [(2, 3), (1, 3), (3, 3)]),
    ("concatenate.axis=1", many("concatenate", axis=1), [(2, 3), (2, 1)]),
    ("concatenate.axis=-1", many("concatenate", axis=-1), [(2, 1, 3), (2, 1, 2)]),
    ("concatenate.empty", many("concatenate"), [(0,), (3,)]),
    ("stack.axis=0", many("stack", axis=0), [(2, 3), (2, 3)]), ("stack.axis=1", many("stack", axis=1), [(2, 3), (2, 3)]),
    ("stack.axis=-1", many("stack", axis=-1), [(2, 3), (2, 3), (2, 3)]), ("stack.0d", many("stack"), [(), ()]),
    ("split.3", both("split", 3), [(6, 2)]), ("split.[1,4].axis=1", both("split", [1, 4], axis=1), [(2, 6)]),
    ("split.2.axis=-1", both("split", 2, axis=-1), [MATRIX]), ("array_split.4", both("array_split", 4), [LINE]),
    ("tile.2", both("tile", 2), [MATRIX]), ("tile.(2,1,3)", both("tile", (2, 1, 3)), [MATRIX]),
    ("repeat.2", both("repeat", 2), [(2, 3)]), ("repeat.3.axis=1", both("repeat", 3, axis=1), [(2, 3)]),
    ("repeat.[1,0,2].axis=0", both("repeat", np.array([1, 0, 2]), axis=0), [(3, 2)]),
    ("roll.2", both("roll", 2), [MATRIX]), ("roll.-1.axis=1", both("roll", -1, axis=1), [MATRIX]),
    ("roll.(1,2).axis=(0,1)", both("roll", (1, 2), axis=(0, 1)), [MATRIX]),
    ("flip", both("flip"), [CUBE]), ("flip.axis=1", both("flip", axis=1), [CUBE]),
    ("flip.axis=(0,-1)", both("flip", axis=(0, -1)), [CUBE]),
    ("pad.((1,2),(0,1))", both("pad", ((1, 2), (0, 1))), [MATRIX]),
    ("pad.((1,2),(0,1)).constant_values=2.5", both("pad", ((1, 2), (0, 1)), constant_values=2.5), [MATRIX]),
    ("pad.((2,1),(1,3)).mode=reflect", both("pad", ((2, 1), (1, 3)), mode="reflect"), [MATRIX]),
    ("pad.((2,1),(1,3)).mode=symmetric", both("pad", ((2, 1), (1, 3)), mode="symmetric"), [MATRIX]),
    ("pad.((2,1),(1,3)).mode=edge", both("pad", ((2, 1), (1, 3)), mode="edge"), [MATRIX]),
    ("pad.((2,1),(1,3)).mode=wrap", both("pad", ((2, 1), (1, 3)), mode="wrap"), [MATRIX]),
    ("squeeze", both("squeeze"), [(1, 3, 1)]), ("squeeze.axis=-1", both("squeeze", axis=-1), [(1, 3, 1)]),
    ("expand_dims.axis=0", both("expand_dims", axis=0), [MATRIX]),
    ("expand_dims.axis=-1", both("expand_dims", axis=-1), [MATRIX]),
    ("expand_dims.axis=(0,2)", both("expand_dims", axis=(0, 2)), [MATRIX]),
    ("moveaxis.0,-1", both("moveaxis", 0, -1), [CUBE]),
    ("moveaxis.(0,1),(-1,0)", both("moveaxis", (0, 1), (-1, 0)), [CUBE]),
    ("swapaxes.0,2", both("swapaxes", 0, 2), [CUBE]), ("swapaxes.-1,-2", both("swapaxes", -1, -2), [CUBE]),
    ("tril", both("tril"), [(3, 4)]), ("tril.k=1", both("tril", k=1), [(2, 3, 3)]), ("tril.k=-1", both("tril", k=-1), [(4, 3)]),
    ("triu", both("triu"), [(3, 4)]), ("triu.k=1", both("triu", k=1), [(2, 3, 3)]), ("triu.k=-2", both("triu", k=-2), [(4, 3)]),
    ("diag.vector", both("diag"), [(3,)]), ("diag.vector.k=1", both("diag", k=1), [(3,)]),
    ("diag.vector.k=-2", both("diag", k=-2), [(2,)]),
    ("diag.matrix", both("diag"), [(3, 4)]), ("diag.matrix.k=1", both("diag", k=1), [(3, 4)]),
    ("diag.matrix.k=-1", both("diag", k=-1), [(3, 4)]), ("diagonal.axis1=1.axis2=2", both("diagonal", axis1=1, axis2=2), [(2, 3, 3)]),
    ("sort", both("sort"), [(3, 7)]), ("sort.axis=0", both("sort", axis=0), [(5, 3)]), ("sort.empty", both("sort"), [(0,)]),
    ("argsort", both("argsort"), [(3, 7)]), ("argsort.axis=0", both("argsort", axis=0), [(5, 3)]),
    ("diff", both("diff"), [MATRIX]), ("diff.n=2.axis=0", both("diff", n=2, axis=0), [MATRIX]),
    ("atleast_2d", both("atleast_2d"), [(3,)]), ("vstack", many("vstack"), [(3,), (3,)]), ("hstack", many("hstack"), [(2, 1), (2, 3)]),
]


def shapes():
    for i, (name, (f, reference), operands) in enumerate(SHAPES):
        for dtype in FLOATS:
            record(name, dtype, f, [grid(700 + 10 * i + j, s) for j, s in enumerate(operands)], reference)
    whole = [np.arange(24, dtype=np.int64).reshape(CUBE)]
    for name, (f, reference) in (("transpose", both("transpose")), ("flip.axis=1", both("flip", axis=1)),
                                 ("roll.2", both("roll", 2))):
        record(name, "i32", f, whole, reference)
        record(name, "u8", f, whole, reference)
    for dtype in FLOATS:
        x = grid(900, (3, 4))
        for name, indices, axis in (("1d.axis=0", [2, 0, -1], 0), ("2d.axis=1", [[1, 3], [0, -4]], 1), ("0d.axis=1", 2, 1),
                                    ("1d", [0, 11, 5, 5], None), ("empty.axis=0", np.zeros(0), 0)):
            index = np.array(indices, np.int32)
            record("take." + name, dtype, lambda a, i: jnp.take(a, i, axis=axis, mode="wrap" if (index < 0).any() else "fill"),
                   [x, index], lambda a, i: np.take(a, i, axis=axis))
        index = np.array([[3, 0], [1, 1], [0, 2]], np.int32)
        record("take_along_axis.axis=1", dtype, bind(jnp.take_along_axis, axis=1), [x, index], bind(np.take_along_axis, axis=1))
        index = np.array([[2, 0, 1, 1]], np.int32)
        record("take_along_axis.axis=0", dtype, bind(jnp.take_along_axis, axis=0), [x, index], bind(np.take_along_axis, axis=0))
        ties = np.round(grid(901, (15,)))
        record("argsort.stable", dtype, jnp.argsort, [ties], bind(np.argsort, stable=True))
        record("argsort.descending", dtype, bind(jnp.argsort, descending=True), [ties])
        nans = np.array([2.0, np.nan, -np.inf, 1.0, np.inf, -0.5, np.nan])
        record("sort.nan", dtype, jnp.sort, [nans], np.sort)
        record("argsort.nan", dtype, jnp.argsort, [nans], bind(np.argsort, stable=True))
        ramp, query = np.array([0.0, 1.0, 1.0, 2.5, 4.0]), np.array([[-1.0, 1.0, 1.5], [4.0, 5.0, 0.0]])
        record("searchsorted.left", dtype, jnp.searchsorted, [ramp, query], np.searchsorted)
        record("searchsorted.right", dtype, bind(jnp.searchsorted, side="right"), [ramp, query], bind(np.searchsorted, side="right"))
    record("sort", "i32", jnp.sort, [np.array([5, -2, 9, 0, -2], np.int64)], np.sort)
    record("argsort", "i32", jnp.argsort, [np.array([5, -2, 9, 0, -2], np.int64)], lambda a: np.argsort(a, stable=True).astype(np.int32))
    record("sort", "bool", jnp.sort, [np.array([True, False, True])], np.sort)
    labels = np.array([[2, 0], [3, 1]], np.int32)
    for dtype in FLOATS:
        record("one_hot.4", dtype, lambda i: jax.nn.one_hot(i, 4, dtype=LONG[dtype]), [labels], lambda i: np.eye(4)[i])
        record("one_hot.outside", dtype, lambda i: jax.nn.one_hot(i, 3, dtype=LONG[dtype]), [np.array([-1, 0, 3], np.int32)])
        record("one_hot.4.axis=0", dtype, lambda i: jax.nn.one_hot(i, 4, dtype=LONG[dtype], axis=0), [labels])


def creation():
    """No inputs: the result is all there is."""
    cases = {"arange.7": lambda n, t: n.arange(7, dtype=t), "arange.1,9,2": lambda n, t: n.arange(1, 9, 2, dtype=t),
             "arange.0,1,0.25": lambda n, t: n.arange(0, 1, 0.25, dtype=t), "arange.5,0,-2": lambda n, t: n.arange(5, 0, -2, dtype=t),
             "linspace.0,1,5": lambda n, t: n.linspace(0, 1, 5, dtype=t), "linspace.-2,3,7": lambda n, t: n.linspace(-2, 3, 7, dtype=t),
             "linspace.0,1,5.endpoint=false": lambda n, t: n.linspace(0, 1, 5, endpoint=False, dtype=t),
             "linspace.2,3,1": lambda n, t: n.linspace(2, 3, 1, dtype=t),
             "logspace.0,2,5": lambda n, t: n.logspace(0, 2, 5, dtype=t),
             "eye.3": lambda n, t: n.eye(3, dtype=t), "eye.2,4,k=1": lambda n, t: n.eye(2, 4, k=1, dtype=t),
             "tri.3,4,k=-1": lambda n, t: n.tri(3, 4, k=-1, dtype=t)}
    for name, f in cases.items():
        for dtype in FLOATS:
            record(name, dtype, lambda: f(jnp, LONG[dtype]), [], lambda: f(np, LONG[dtype]))
    for name in ("arange.7", "arange.1,9,2", "arange.5,0,-2", "eye.3"):
        record(name, "i32", lambda: cases[name](jnp, np.int32), [], lambda: cases[name](np, np.int32))


def curves():
    """Functions given by points and by coefficients, and integrals."""
    points, values = np.array([-1.5, -0.25, 0.5, 2.0]), grid(950, (4,))
    at, coefficients = np.array([[-2.0, -0.75, 0.125], [1.25, 1.75, 3.0]]), grid(951, (4,))
    for dtype in FLOATS:
        for name, (f, reference), inputs in (
                ("trapezoid", both("trapezoid"), [grid(952, MATRIX)]),
                ("trapezoid.dx=0.5.axis=0", both("trapezoid", dx=0.5, axis=0), [grid(952, MATRIX)]),
                ("trapezoid.x", both("trapezoid"), [grid(952, MATRIX), points]),
                ("interp", both("interp"), [at, points, values]),
                ("interp.left=-9.right=9", both("interp", left=-9, right=9), [at, points, values]),
                ("polyval", both("polyval"), [coefficients, at])):
            record(name, dtype, f, inputs, reference)


for family in (unary, binary, select_and_clip, reductions, linear, shapes, creation, curves):
    family()
for (name, dtype), error in sorted(worst.items(), key=lambda item: -item[1])[:25]:
    print(f"{name} {dtype}: {error:.1f} eps from NumPy")
out.save()
