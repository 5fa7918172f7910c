"""Control flow, convolutions and windows of jax.lax.

Programs (functions of a vector that return a number): `<program>/in` (4,), `/batch` (3, 4), `/tangent` (4,), and
`/value`, `/jvp`, `/vmap`, `/vmap_jvp` (tangents are the batch reversed), `/jacfwd`; where reverse mode exists also `/grad`,
`/vmap_grad`, `/grad_vmap` (of the sum over the batch), `/hessian`.
Everything else: `<function>.<case>/f64/in0`, ..., `/out`, as in ops.txt.
"""

import functools

import goldens
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
out = goldens.Writer("lax")
W = jnp.asarray(goldens.grid(100, (4, 4), -1, 1))
out.put("W", W)


def rnn(x):
    def step(h, u):
        h = jnp.tanh(W @ h + u)
        return h, jnp.sum(h * h)

    h, ys = lax.scan(step, x, jnp.stack([x, 2 * x, jnp.sin(x)]))
    return jnp.sum(h) + jnp.sum(ys * jnp.arange(3.0))


def rnn_reverse(x):
    def step(carry, u):
        a, b = carry
        return (a * 0.5 + u, b + a * u), {"p": a * b, "q": u}

    (a, b), ys = lax.scan(step, (0.0, 1.0), x, reverse=True)
    return a * b + jnp.sum(ys["p"] * jnp.arange(4.0)) + jnp.sum(ys["q"] ** 2)


def counted(x):
    def step(c):
        return jnp.sin(c) * x, c[0]

    c, ys = lax.scan(lambda c, _: step(c), x, None, length=5)
    return jnp.sum(c) + jnp.sum(ys**2)


def captured(x):
    c, _ = lax.scan(lambda c, u: (c * jnp.sum(x) * 0.25 + u, None), 1.0, jnp.cos(x))
    return c


def nested_scan(x):
    def outer(c, u):
        d, _ = lax.scan(lambda d, v: (jnp.sin(d + u * v), None), c, x)
        return d, d * u

    c, ys = lax.scan(outer, 0.5, x)
    return c + jnp.sum(ys)


def branch(x):
    return lax.cond(jnp.sum(x) > 0, lambda v: jnp.sum(jnp.sin(v) ** 2), lambda v: jnp.prod(v), x)


def branch_in_scan(x):
    def step(c, u):
        return lax.cond(u > 0, lambda a, b: a * b + 1, lambda a, b: jnp.sin(a) - b, c, u), None

    return lax.scan(step, 1.0, x)[0]


def branch_is_safe(x):
    return lax.cond(x[0] > 0.5, lambda v: jnp.log(v[0]) + v[1], lambda v: v[2] * v[3], x)


def switched(x):
    index = jnp.floor(jnp.abs(x[0]) * 3).astype(int)
    return lax.switch(index, [lambda v: jnp.sum(v**2), lambda v: jnp.sum(jnp.exp(v)), lambda v: jnp.prod(v) + v[0]], x)


def power(x):
    def body(i, v):
        v = W @ v + i * 0.1
        return v / jnp.sqrt(jnp.sum(v * v))

    return jnp.sum(lax.fori_loop(0, 4, body, x) * jnp.arange(1.0, 5.0))


def mapped(x):
    return jnp.sum(lax.map(lambda u: jnp.sin(u) * jnp.sum(x * u), x) ** 2)


def associative(x):
    def op(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    p, q = lax.associative_scan(op, (jnp.cos(x), x))
    return jnp.sum(q * jnp.arange(1.0, 5.0)) + jnp.sum(p)


def halving(x):  # while_loop: as many steps as the numbers ask for
    return lax.while_loop(lambda c: jnp.sum(c * c) > 0.3, lambda c: c * 0.6 + 0.01 * x, x).sum()


def newton(x):
    s = jnp.sum(x * x) + 1
    y, _ = lax.while_loop(lambda c: jnp.abs(c[0] ** 2 - s) > 1e-13 * s, lambda c: (0.5 * (c[0] + s / c[0]), c[1] + 1), (s, 0))
    return y


def while_in_scan(x):
    def step(c, u):
        d = lax.while_loop(lambda v: v < 2, lambda v: v * 1.5 + u * u, c)
        return d * 0.25, d

    c, ys = lax.scan(step, 0.5, x)
    return c + jnp.sum(ys)


def root(x):  # of y^3 + a y = b in each element
    a, b = x * x + 1, jnp.sin(x)
    f = lambda y: y**3 + a * y - b

    def solve(f, y0):
        def body(i, y):
            value, slope = jax.jvp(f, (y,), (jnp.ones_like(y),))
            return y - value / slope

        return lax.fori_loop(0, 30, body, y0)

    y = lax.custom_root(f, jnp.zeros_like(x), solve, lambda g, y: y / g(jnp.ones_like(y)))
    return jnp.sum(y * jnp.arange(1.0, 5.0))


def linear(x):
    A = W @ W.T + jnp.diag(x * x + 1)
    solve = lambda mv, b: jnp.linalg.solve(jax.jacobian(mv)(b), b)
    y = lax.custom_linear_solve(lambda v: A @ v, jnp.cos(x), solve, solve)
    return jnp.sum(y * y)


def windowed(x):
    v = lax.dynamic_slice(x, (jnp.floor(jnp.abs(x[0]) * 2).astype(int),), (2,))
    w = lax.dynamic_update_slice(x, jnp.sin(v), (jnp.floor(jnp.abs(x[1]) * 2).astype(int),))
    return jnp.sum(w * w * jnp.arange(1.0, 5.0)) + v[0]


PROGRAMS = [rnn, rnn_reverse, counted, captured, nested_scan, branch, branch_in_scan, branch_is_safe, switched, power,
            mapped, associative, halving, newton, while_in_scan, root, linear, windowed]
FORWARD_ONLY = {halving, newton, while_in_scan}
for n, f in enumerate(PROGRAMS):
    name = f.__name__
    x = jnp.asarray(goldens.grid(10 * n + 1, (4,), -1.5, 1.5))
    batch = jnp.asarray(goldens.grid(10 * n + 2, (3, 4), -1.5, 1.5))
    t = jnp.asarray(goldens.grid(10 * n + 3, (4,)))
    put = lambda what, value: out.put(f"{name}/{what}", np.asarray(value))
    put("in", x)
    put("batch", batch)
    put("tangent", t)
    put("value", f(x))
    put("jvp", jax.jvp(f, (x,), (t,))[1])
    put("vmap", jax.vmap(f)(batch))
    put("vmap_jvp", jax.vmap(lambda a, b: jax.jvp(f, (a,), (b,))[1])(batch, batch[::-1]))
    put("jacfwd", jax.jacfwd(f)(x))
    if f not in FORWARD_ONLY:
        put("grad", jax.grad(f)(x))
        put("vmap_grad", jax.vmap(jax.grad(f))(batch))
        put("grad_vmap", jax.grad(lambda b: jnp.sum(jax.vmap(f)(b)))(batch))
        put("hessian", jax.hessian(f)(x))


def case(name, f, *inputs):
    values = [goldens.grid(len(out.records) + i, shape) if isinstance(shape, tuple) else shape for i, shape in enumerate(inputs)]
    result = f(*map(jnp.asarray, values))
    out.case(name + "/f64", [np.asarray(v) for v in values], jax.tree.map(np.asarray, result))


for shape in [(5,), (3, 4), (2, 3, 2)]:
    for axis in range(-len(shape), len(shape)):
        for reverse in (False, True):
            for f in (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp):
                tag = "x".join(map(str, shape))
                case(f"{f.__name__}.{tag}.axis={axis}.reverse={int(reverse)}", functools.partial(f, axis=axis % len(shape), reverse=reverse), shape)
for n in (1, 2, 3, 7, 8):
    for reverse in (False, True):
        case(f"associative_scan.{n}.reverse={int(reverse)}",
             lambda x: lax.associative_scan(lambda a, b: jnp.einsum("ijk,ikl->ijl", a, b), x, reverse=reverse), (n, 2, 2))
case("associative_scan.axis=1", lambda x: lax.associative_scan(jnp.add, x, axis=1), (2, 5))
IDS = np.array([0, 2, 2, 5, -1, 0], np.int32)
for f in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_max, jax.ops.segment_min):
    case(f.__name__, lambda x, ids: f(x, ids, num_segments=4), (6, 3), IDS)
case("sort_key_val", lambda k, v: lax.sort_key_val(k, v, dimension=0), (4, 3), (4, 3))
case("dynamic_slice", lambda x: lax.dynamic_slice(x, (1, 7), (2, 3)), (4, 5))
case("dynamic_update_slice", lambda x, u: lax.dynamic_update_slice(x, u, (-1, 1)), (4, 5), (2, 3))
out.save()
