"""lint_side.py NumPy|JAX|PyTorch: a peer's side of lint.sh, rows by the protocol of peers/side.py."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
import data
import side
from functions import functions

sizes = (1_000_000, 100)
ranges = {
    "real": (-2, 2),
    "positive": (0.1, 5),
    "unit": (-0.95, 0.95),
    "above_one": (1.1, 5),
    "probability": (0.05, 0.95),
    "near_one": (0.99999, 1.00001),
    "real_int": (-2, 2),
    "indices": (-2, 2),
}


def uniform(seed, shape, low, high):
    return data.uniform(seed, shape, low, high)


def inputs(kind, n):
    """x, y and i as lint.hpp makes them, in NumPy."""
    if kind in ranges:
        x, y = (uniform(seed, (n,), *ranges[kind]) for seed in (1, 2))
        i = data.integers(3, n, 8 if kind == "real_int" else n) if kind in ("real_int", "indices") else None
        return x, y, i
    if kind in ("int", "int_small"):
        high = 1000 if kind == "int" else 8
        return data.integers(1, n, high) + 1, data.integers(2, n, high) + 1, None
    if kind == "bool":
        x, y, _ = inputs("real", n)
        return x > 0, y > 1, None
    if kind == "complex":
        x, y, _ = inputs("real", n)
        return x * np.complex64(1 + 2j), y * np.complex64(1 + 2j), None
    if kind in ("matrix", "matrix_indices"):
        m = int(n**0.5)
        i = data.integers(3, m, m) if kind == "matrix_indices" else None
        return uniform(1, (m, m), -2, 2), uniform(2, (m, m), -2, 2), i
    if kind == "matrices":
        a = uniform(1, (n // 100, 10, 10), -1, 1)
        return a @ a.swapaxes(1, 2) + 10 * np.eye(10, dtype=np.float32), uniform(2, a.shape, -1, 1), None
    return None, None, None  # a key


def numpy_rows():
    import scipy.special as sp

    def value(function, n):
        f = eval(
            f"lambda x, y, i: {function.peers['NumPy']}", {"np": np, "sp": sp, "n": n, "rng": np.random.default_rng(0)}
        )
        given = inputs(function.inputs, n)
        return side.calls(lambda: f(*given))

    return {"value": value}


def jax_rows():
    import jax
    import jax.numpy as jnp
    import jax.scipy.special as jsp

    def prepare(function, n):
        f = eval(f"lambda x, y, i: {function.peers['JAX']}", {"jax": jax, "jnp": jnp, "jsp": jsp, "n": n})
        given = inputs(function.inputs, n)
        if function.inputs == "key":
            return f, (jax.random.key(0), None, None)
        return f, tuple(None if a is None else jnp.asarray(a) for a in given)

    def run(f, given):
        f = jax.jit(f)
        return side.work(lambda: jax.block_until_ready(f(*given)), lambda: jax.tree.leaves(f(*given)))

    def gradient(function, n):
        f, given = prepare(function, n)
        return run(jax.grad(lambda *a: jnp.sum(f(*a))), given)

    return {"value": lambda function, n: run(*prepare(function, n)), "grad": gradient}


def torch_rows():
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)

    def prepare(function, n):
        f = eval(f"lambda x, y, i: {function.peers['PyTorch']}", {"torch": torch, "F": F, "n": n})
        return f, [None if a is None else torch.from_numpy(np.ascontiguousarray(a)) for a in inputs(function.inputs, n)]

    def leaves(result):
        return [np.asarray(a) for a in (result if isinstance(result, (tuple, list)) else [result])]

    def value(function, n):
        f, given = prepare(function, n)
        if given[2] is not None and "index" in function.peers["PyTorch"]:
            given[2] = given[2].long()
        return side.work(lambda: f(*given), lambda: leaves(f(*given)))

    def gradient(function, n):
        f, (x, y, i) = prepare(function, n)
        x.requires_grad_(True)

        def step():
            x.grad = None
            f(x, y, i).sum().backward()
            return x.grad

        return side.work(step, lambda: leaves(step()))

    return {"value": value, "grad": gradient}


which = sys.argv[1]
try:
    made = {"NumPy": numpy_rows, "JAX": jax_rows, "PyTorch": torch_rows}[which]()
except ImportError as error:
    sys.exit(f"{which}: {error}")
rows = {}
for function in functions():
    if which not in function.peers:
        continue
    for n in sizes:
        rows[f"{function.name}@{n}"] = lambda function=function, n=n: made["value"](function, n)
        if function.gradient and "grad" in made:
            rows[f"{function.name}.grad@{n}"] = lambda function=function, n=n: made["grad"](function, n)
side.serve(rows)
