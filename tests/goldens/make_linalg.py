"""Golden values of linalg: NumPy's and SciPy's results for matrices on a grid, and JAX's derivatives.

Factors that are unique up to signs or phases (svd, eig, schur) are recorded by what does not depend on them:
singular values, eigenvalues sorted, and products. `<function>[.<case>]/<dtype>/in0`, ..., `out` or `out0`, ...
Gradients are recorded as `<function>.grad[.<case>]/<dtype>`: of sum(f(in0) * weights), with the weights as in1.
"""

import warnings

import goldens
import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import scipy.linalg as sl
from goldens import LONG, grid

warnings.filterwarnings("ignore")
jax.config.update("jax_enable_x64", True)
out = goldens.Writer("linalg")
DTYPES = ("f32", "f64", "c128")


def matrix(seed, shape, dtype):
    a = grid(seed, shape)
    if dtype[0] == "c":
        a = a + 1j * grid(seed + 1000, shape)
    return a.astype(LONG[dtype])


def record(name, f, seeds_shapes, dtypes=DTYPES, prepare=lambda *x: x):
    for dtype in dtypes:
        inputs = prepare(*[matrix(seed, shape, dtype) for seed, shape in seeds_shapes])
        result = f(*inputs)
        many = isinstance(result, (tuple, list))
        out.case(f"{name}/{dtype}", [np.asarray(x) for x in inputs],
                 [np.asarray(r) for r in result] if many else np.asarray(result))


def hermitian(a):
    return (a + a.conj().swapaxes(-1, -2),)


def positive(*x):
    a = x[0]
    n = a.shape[-1]
    return (a @ a.conj().swapaxes(-1, -2) + np.eye(n, dtype=a.dtype), *x[1:])


def by_parts(w):
    return np.sort_complex(w) if w.ndim == 1 else np.stack([by_parts(x) for x in w])


SHAPES = {"square": (3, 3), "tall": (5, 3), "wide": (3, 5), "batch": (2, 1, 4, 3), "one": (1, 1), "large": (18, 18)}
SQUARES = {"3": (3, 3), "batch": (2, 1, 4, 4), "one": (1, 1), "large": (18, 18)}

for case, shape in SHAPES.items():
    few = ("f64",) if case == "large" else DTYPES
    record(f"qr.{case}", lambda a: tuple(np.linalg.qr(a)), [(1, shape)], few)
    record(f"svdvals.{case}", np.linalg.svdvals, [(2, shape)], few)
    record(f"pinv.{case}", np.linalg.pinv, [(3, shape)], few)
    record(f"matrix_rank.{case}", lambda a: np.asarray(np.linalg.matrix_rank(a), np.int32), [(4, shape)], few)
    for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf) if case in ("wide", "batch") else ():
        record(f"matrix_norm.{ord}.{case}", lambda a: np.linalg.matrix_norm(a, ord=ord), [(5, shape)], few[:2])
    if len(shape) == 2:
        # (SciPy's p is real, but of a complex matrix of one element.)
        record(f"lu.{case}", lambda a: (np.real(sl.lu(a)[0]), *sl.lu(a)[1:]), [(6, shape)], few)
record("qr.complete", lambda a: tuple(np.linalg.qr(a, mode="complete")), [(7, (4, 2))])

for case, shape in SQUARES.items():
    few = ("f64",) if case == "large" else DTYPES
    record(f"eigvalsh.{case}", np.linalg.eigvalsh, [(10, shape)], few, hermitian)
    record(f"eigvalsh.U.{case}", lambda a: np.linalg.eigvalsh(a, UPLO="U"), [(10, shape)], few)
    record(f"eigvals.{case}", lambda a: by_parts(np.linalg.eigvals(a).astype(complex)), [(11, shape)], few[1:] or few)
    record(f"cholesky.{case}", np.linalg.cholesky, [(12, shape)], few, positive)
    record(f"cholesky.upper.{case}", lambda a: np.linalg.cholesky(a, upper=True), [(12, shape)], few, positive)
    record(f"slogdet.{case}", lambda a: tuple(np.linalg.slogdet(a)), [(13, shape)], few)
    record(f"solve.{case}", np.linalg.solve, [(14, shape), (15, (*shape[:-1], 2))], few)
    if len(shape) == 2:
        record(f"expm.{case}", sl.expm, [(16, shape)], few)
        record(f"sqrtm.{case}", lambda a: sl.sqrtm(a).astype(complex), [(17, shape)], few[1:] or few, positive)
        if case != "large":
            record(f"lu_factor.{case}", lambda a: (sl.lu_factor(a)[0], sl.lu_factor(a)[1].astype(np.int32)),
                   [(18, shape)], few)
        record(f"cho_solve.{case}", lambda a, b: sl.cho_solve(sl.cho_factor(a), b),
               [(19, shape), (20, (shape[0], 2))], few, positive)
        record(f"solve_sylvester.{case}", sl.solve_sylvester, [(21, shape), (22, (2, 2)), (23, (shape[0], 2))], few)
        for p in (None, "fro", 1, 2, -2, np.inf) if case == "3" else ():
            record(f"cond.{p}.{case}", lambda a: np.linalg.cond(a, p), [(24, shape)], ("f64",))
for trans in (0, 1, 2):
    record(f"lu_solve.{trans}", lambda a, b: sl.lu_solve(sl.lu_factor(a), b, trans=trans), [(25, (4, 4)), (26, (4, 2))])
    record(f"solve_triangular.{trans}", lambda a, b: sl.solve_triangular(a, b, trans=trans, lower=True),
           [(27, (3, 3)), (28, (3,))])
for side in ("left", "right"):
    for shape in ((3, 3), (4, 2), (2, 3)):
        record(f"polar.{side}.{shape[0]}x{shape[1]}", lambda a: tuple(sl.polar(a, side=side)), [(29, shape)])
for scale in (0.01, 0.2, 0.8, 1.9, 5.0, 40.0):
    record(f"expm.{scale}", sl.expm, [(30, (4, 4))], ("f32", "f64", "c128"),
           lambda a: ((a * scale / np.abs(a).sum(-2).max()).astype(a.dtype),))



def lstsq(a, b):
    x, residuals, rank, values = np.linalg.lstsq(a, b)
    return x, residuals, np.int32(rank), values


LSTSQ = {"tall": ((5, 3), (5, 2)), "vector": ((5, 3), (5,)), "wide": ((2, 4), (2, 2)), "square": ((3, 3), (3,))}
for case, (a, b) in LSTSQ.items():
    record(f"lstsq.{case}", lstsq, [(31, a), (32, b)])
record("lstsq.deficient", lstsq, [(33, (5, 2)), (34, (5, 2))], ("f64", "c128"),
       lambda a, b: (np.concatenate([a, a[:, :1]], 1), b))
record("vector_norm.0", lambda a: np.linalg.vector_norm(a, ord=0), [(35, (4,))])
record("vector_norm.axes", lambda a: np.linalg.vector_norm(a, axis=(0, 2), ord=3, keepdims=True), [(36, (2, 3, 2))])
record("multi_dot.4", lambda *x: np.linalg.multi_dot(x), [(37, (2, 5)), (38, (5, 3)), (39, (3, 6)), (40, (6, 1))])
record("multi_dot.vectors", lambda *x: np.linalg.multi_dot(x), [(41, (2,)), (42, (2, 3)), (43, (3,))])
record("tensorsolve", np.linalg.tensorsolve, [(44, (6, 2, 3)), (45, (6,))])
record("tensorsolve.axes", lambda a, b: np.linalg.tensorsolve(a, b, axes=(0, 2)), [(46, (2, 6, 3)), (47, (6,))])
record("tensorinv", lambda a: np.linalg.tensorinv(a, ind=2), [(48, (2, 3, 6))])
record("cross", np.linalg.cross, [(49, (2, 3)), (50, (3,))])
record("trace", lambda a: np.linalg.trace(a, offset=-1), [(55, (2, 3, 4))])
record("diagonal", lambda a: np.linalg.diagonal(a, offset=1), [(56, (2, 3, 4))])
record("block_diag", sl.block_diag, [(57, (2, 2)), (58, (3,)), (59, (1, 2)), (60, ())])
record("toeplitz", sl.toeplitz, [(61, (3,)), (62, (4,))])
record("toeplitz.c", sl.toeplitz, [(63, (3,))])
record("circulant", sl.circulant, [(64, (4,))])
record("hankel", sl.hankel, [(65, (3,)), (66, (4,))])
record("hankel.c", sl.hankel, [(67, (3,))])
record("fiedler", sl.fiedler, [(68, (4,))], ("f64",))
record("leslie", sl.leslie, [(69, (4,)), (72, (3,))], ("f64",))
for n in (2, 3, 6, 7):
    record(f"companion.{n}", sl.companion, [(73, (n,))], ("f64", "c128"), lambda a: (a + 2,))
    record(f"fiedler_companion.{n}", sl.fiedler_companion, [(73, (n,))], ("f64",), lambda a: (a + 2,))
for n in (1, 2, 4, 6):
    for mode in ("full", "same", "valid"):
        record(f"convolution_matrix.{mode}.{n}", lambda a: sl.convolution_matrix(a, n, mode), [(74, (4,))], ("f64",))
for n in (1, 5, 8):
    for kind in ("symmetric", "lower", "upper"):
        record(f"pascal.{kind}.{n}", lambda: np.asarray(sl.pascal(n, kind), np.float64), [], ("f64",))
        record(f"invpascal.{kind}.{n}", lambda: np.asarray(sl.invpascal(n, kind), np.float64), [], ("f64",))
    for scale in (None, "n", "sqrtn"):
        record(f"dft.{scale or ''}.{n}", lambda: sl.dft(n, scale), [], ("f64",))
    record(f"helmert.{n}", lambda: sl.helmert(n, True), [], ("f64",))
    record(f"hilbert.{n}", lambda: sl.hilbert(n), [], ("f64",))
    record(f"invhilbert.{n}", lambda: sl.invhilbert(n), [], ("f64",))
record("hadamard.8", lambda: np.asarray(sl.hadamard(8), np.float64), [], ("f64",))


def gradient(name, f, shape, dtypes=("f64", "c128"), prepare=lambda a: (a,)):
    for dtype in dtypes:
        (a,) = prepare(matrix(70, shape, dtype))
        y = f(jnp.asarray(a))
        w = grid(71, y.shape)
        g = jax.grad(lambda x: jnp.sum(jnp.real(f(x)) * w))(jnp.asarray(a))
        out.case(f"{name}.grad/{dtype}", [a, w], np.asarray(g))


gradient("qr", lambda a: jnp.linalg.qr(a)[1], (4, 3))
gradient("svdvals", lambda a: jnp.linalg.svd(a, compute_uv=False), (4, 3))
gradient("eigvalsh", jnp.linalg.eigvalsh, (3, 3), prepare=hermitian)
gradient("eigvals", lambda a: jnp.sum(jnp.linalg.eigvals(a) ** 3)[None], (3, 3))
gradient("cholesky", jnp.linalg.cholesky, (3, 3), prepare=positive)
gradient("slogdet", lambda a: jnp.linalg.slogdet(a)[1], (3, 3))
gradient("slogdet.sign", lambda a: jnp.linalg.slogdet(a)[0], (3, 3))
gradient("solve", lambda a: jnp.linalg.solve(a, jnp.ones(3, a.dtype)), (3, 3))
gradient("pinv", jnp.linalg.pinv, (4, 3))
gradient("lu", lambda a: jsl.lu(a)[2], (4, 3))
gradient("expm", jsl.expm, (3, 3))
out.save()
