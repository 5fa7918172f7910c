"""Programs that nest three and four combinators, in float64. tests transcribe each function below, by its name.

A program takes the recorded inputs `name/in0`, ... and gives `name/out`, or `name/out0`, ... where it returns a tuple.
pmap has four devices. `grad`, `hessian` and the like differentiate the first argument unless argnums say otherwise.
"""

import goldens
import jax
import jax.numpy as jnp
from goldens import grid
from jax import checkpoint, custom_jvp, custom_vjp, grad, hessian, jacfwd, jacrev, jvp, lax, pmap, value_and_grad, vjp, vmap

jax.config.update("jax_enable_x64", True)
out = goldens.Writer("composition")
count = 0


def program(*shapes):
    """Runs the function below on deterministic inputs of these shapes and records both."""

    def run(f):
        global count
        inputs = [grid(3000 + 10 * count + i, shape, -1, 1) for i, shape in enumerate(shapes)]
        out.case(f.__name__, inputs, f(*[jnp.asarray(a) for a in inputs]))
        count += 1

    return run


# --- what the programs differentiate and map ---
def wave(x):  # scalar to scalar
    return jnp.tanh(x) * jnp.sin(2 * x)


def bowl(x):  # vector to scalar, no zero mixed derivatives
    return jnp.sum(jnp.sin(x) * x) * jnp.sum(jnp.exp(-x * x))


def layer(w, x):  # (o, i), (i,) to (o,)
    return jnp.tanh(jnp.matmul(w, x))


def energy(w, x):  # (o, i), (i,) to scalar
    return jnp.sum(layer(w, x) ** 2)


def error(w, x, y):  # (i, o), (i,), (o,) to scalar: log-likelihood of a softmax regression
    logits = jnp.matmul(x, w)
    return jnp.sum((logits - jnp.log(jnp.sum(jnp.exp(logits)))) * y)


@custom_vjp
def scaled(x):  # sin, with a derivative that is wrong on purpose: cos times 3
    return jnp.sin(x)


scaled.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (3 * g * jnp.cos(x),))


@custom_vjp
def weigh(x, y):  # x * y; the gradient of x is halved, that of y is g * sin(x)
    return x * y


weigh.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (0.5 * g * r[1], g * jnp.sin(r[0])))


@custom_jvp
def bent(x):  # tanh, with a derivative that is wrong on purpose: 2 * (1 - tanh^2)
    return jnp.tanh(x)


@bent.defjvp
def bent_rule(primals, tangents):
    y = jnp.tanh(primals[0])
    return y, 2 * (1 - y * y) * tangents[0]


@custom_jvp
def product(x, y):  # x * y, with the tangent 3 dx y + 5 x dy
    return x * y


@product.defjvp
def product_rule(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    return x * y, 3 * dx * y + 5 * x * dy


# --- grad of grad ---
@program(())
def grad_grad_grad(x):
    return grad(grad(grad(wave)))(x)


@program(())
def grad_grad_grad_grad(x):
    return grad(grad(grad(grad(wave))))(x)


@program((5,))
def vmap_grad_grad_grad(x):
    return vmap(grad(grad(grad(wave))))(x)


@program((5,))
def grad_vmap_grad(x):
    return grad(lambda x: jnp.sum(vmap(grad(wave))(x) ** 2))(x)


@program((3,), (4, 3))
def grad_vmap_grad_unbatched(w, x):  # w is shared by the examples
    return grad(lambda w: jnp.sum(vmap(grad(lambda x: jnp.sum(jnp.sin(w * x) * x)))(x) ** 2))(w)


@program((4, 5))
def vmap_grad_vmap(x):
    return vmap(grad(lambda row: jnp.sum(vmap(wave)(row)) ** 2))(x)


@program((2, 3), (4, 3))
def grad_vmap_checkpoint(w, x):
    return grad(lambda w: jnp.mean(vmap(checkpoint(energy), in_axes=(None, 0))(w, x)))(w)


@program((4, 2, 3), (5, 3))
def vmap_vmap_grad(w, x):  # every w with every x
    return vmap(vmap(grad(energy), in_axes=(None, 0)), in_axes=(0, None))(w, x)


@program((2, 3), (3, 4), (4, 2))
def vmap_axes_grad_grad(w, x, v):  # x by its last axis; the result's new axis is the last; gradient of <grad, v>
    def inner(w, x, v):
        return jnp.sum(grad(energy)(w, x)[:, 0] * v)

    return vmap(grad(inner), in_axes=(None, -1, 0), out_axes=-1)(w, x, v)


# --- jvp ---
@program((), ())
def jvp_jvp_jvp(x, t):
    def once(x):
        return jvp(wave, (x,), (t,))[1]

    def twice(x):
        return jvp(once, (x,), (t,))[1]

    return jvp(twice, (x,), (t,))


@program((3,), (3,))
def jvp_grad_checkpoint(x, t):  # Hessian times vector through recomputation
    return jvp(grad(checkpoint(bowl)), (x,), (t,))


@program((2, 3), (2, 3), (4, 3))
def jvp_vmap_grad(w, t, x):
    return jvp(lambda w: vmap(grad(energy), in_axes=(None, 0))(w, x), (w,), (t,))


@program((2, 3), (4, 2, 3), (3,))
def vmap_jvp_grad(w, ts, x):  # Hessian times each of four vectors
    return vmap(lambda t: jvp(grad(lambda w: energy(w, x)), (w,), (t,))[1])(ts)


@program((4, 3), (4, 3))
def grad_jvp_vmap(x, t):
    return grad(lambda x: jnp.sum(jvp(vmap(bowl), (x,), (t,))[1] ** 2))(x)


@program((4, 3), (3,))
def grad_vmap_jvp(x, t):
    return grad(lambda x: jnp.sum(jnp.sin(vmap(lambda row: jvp(bowl, (row,), (t,))[1])(x))))(x)


@program((3,), (3,))
def jvp_grad_custom_jvp(x, t):
    return jvp(grad(lambda x: jnp.sum(bent(x) * x)), (x,), (t,))


@program((4, 3), (4, 3))
def jvp_vmap_custom_jvp_checkpoint(x, t):
    return jvp(vmap(lambda row: jnp.sum(checkpoint(lambda r: product(bent(r), r))(row))), (x,), (t,))


# --- Jacobians and Hessians ---
@program((3,))
def jacfwd_jacrev_grad(x):  # third derivatives
    return jacfwd(jacrev(grad(bowl)))(x)


@program((3,))
def jacrev_jacfwd_grad(x):
    return jacrev(jacfwd(grad(bowl)))(x)


@program((4, 3))
def vmap_hessian_checkpoint(x):
    return vmap(hessian(checkpoint(bowl)))(x)


@program((3,))
def grad_hessian_checkpoint(x):
    return grad(lambda x: jnp.sum(hessian(checkpoint(bowl))(x) ** 2))(x)


@program((4, 2), (3, 2))
def hessian_vmap_checkpoint(x, w):  # of a 4 by 2 array: (4, 2, 4, 2)
    return hessian(lambda x: jnp.sum(vmap(checkpoint(lambda row: energy(w, row)))(x)) ** 2)(x)


@program((3,), (4, 3))
def grad_vmap_hessian(w, x):
    return grad(lambda w: jnp.sum(vmap(hessian(lambda row: bowl(w * row)))(x)))(w)


@program((2, 3), (3,))
def vmap_jacrev_vmap(w, x):
    return vmap(jacrev(lambda row: vmap(wave)(row * x)))(w)


@program((4, 3), (2, 3))
def vmap_jacfwd_jacrev_checkpoint(x, w):
    return vmap(jacfwd(jacrev(checkpoint(lambda row: layer(w, row)))))(x)


@program((3, 2), (4, 3), (4, 2))
def hessian_checkpoint_vmap(w, x, y):  # softmax regression
    return hessian(checkpoint(lambda w: jnp.mean(vmap(error, in_axes=(None, 0, 0))(w, x, y))))(w)


@program((3,), (3,))
def jacrev_argnums_jvp_custom_jvp(x, y):
    def pushed(x, y):
        return jvp(lambda y: product(jnp.sin(x), y) * x, (y,), (x,))[1]

    return jacrev(pushed, argnums=(0, 1))(x, y)


@program((3,))
def hessian_custom_jvp_vmap(x):
    return hessian(lambda x: jnp.sum(vmap(lambda a: bent(a) * a)(x)) ** 2)(x)


# --- custom rules under the others ---
@program((4, 3))
def vmap_grad_custom_vjp(x):
    return vmap(grad(lambda row: jnp.sum(scaled(row) * row)))(x)


@program((3,), (4, 3))
def grad_vmap_custom_vjp(w, x):  # one operand of the custom function is batched, the other is not
    return grad(lambda w: jnp.sum(jnp.sin(vmap(lambda row: weigh(w, row))(x))))(w)


@program((3,), (3,))
def grad_custom_vjp_both_checkpoint(x, y):
    return grad(lambda x, y: jnp.sum(checkpoint(lambda x, y: weigh(x, y) * scaled(x))(x, y)), argnums=(0, 1))(x, y)


@program(())
def grad_grad_custom_vjp(x):  # the second gradient differentiates the rule
    return grad(grad(lambda x: scaled(x) * x))(x)


@program((4,))
def vmap_grad_grad_custom_vjp(x):
    return vmap(grad(grad(lambda x: scaled(x) * x)))(x)


@program((3,))
def hessian_custom_vjp(x):
    return hessian(lambda x: jnp.sum(scaled(x) * x) ** 2)(x)


@program((4, 3))
def vmap_hessian_custom_vjp(x):
    return vmap(hessian(lambda row: jnp.sum(weigh(row, jnp.sin(row))) ** 2))(x)


@program((4, 3), (3,))
def vmap_grad_custom_jvp_custom_vjp(x, w):
    return vmap(grad(lambda row, w: jnp.sum(scaled(bent(row) * w)), argnums=1), in_axes=(0, None))(x, w)


@program((3, 3), (3,))
def grad_checkpoint_checkpoint_custom_vjp(w, x):
    inner = checkpoint(lambda x: scaled(layer(w, x)))
    return grad(lambda x: jnp.sum(checkpoint(lambda x: inner(inner(x)) * x)(x)))(x)


@program((3, 3), (4, 3))
def jvp_grad_vmap_checkpoint_deep(w, x):  # three recomputed layers; Hessian times vector with regard to their weight
    def chain(w, x):
        for _ in range(3):
            x = checkpoint(layer)(w, x) + x
        return jnp.sum(x * x)

    return jvp(grad(lambda w: jnp.sum(vmap(chain, in_axes=(None, 0))(w, x))), (w,), (jnp.cos(w),))


# --- vjp, value_and_grad, linear maps, trees ---
@program((3,), (4, 2), (2, 3))
def vmap_vjp_checkpoint(x, cotangents, w):  # one vjp, four cotangents at once
    _, pullback = vjp(checkpoint(lambda x: layer(w, x)), x)
    return vmap(lambda g: pullback(g)[0])(cotangents)


@program((2, 3), (2,), (4, 3))
def vmap_value_and_grad_tree(w, b, x):  # a tree of parameters; three outputs: values, gradients of w and b
    def loss(params, x):
        w, b = params
        return jnp.sum(jnp.tanh(jnp.matmul(w, x) + b) ** 2)

    value, (gw, gb) = vmap(value_and_grad(loss), in_axes=(None, 0))((w, b), x)
    return value, gw, gb


@program((3,), (3,))
def grad_vjp_jvp(x, t):
    def inner(x):
        y, pullback = vjp(lambda x: jvp(bowl, (x,), (t,))[1], x)
        return jnp.sum(pullback(y)[0] * t)

    return grad(inner)(x)


@program((6,))
def vmap_grad_where_grad(x):
    return vmap(grad(lambda a: jnp.where(a > 0, grad(wave)(a), a * a * a)))(x)


@program((4, 3))
def vmap_grad_stop_gradient_grad(x):
    return vmap(grad(lambda row: jnp.sum(lax.stop_gradient(row) * grad(bowl)(row))))(x)


@program((4, 3, 3), (4, 3))
def grad_vmap_loop_jvp(w, x):  # dot, slices and a matrix chain
    def chain(w, x):
        for i in range(3):
            x = jnp.sin(jnp.dot(w, x)) + x[i] * x
        return x

    def loss(w):
        return jnp.sum(vmap(lambda w, x: jvp(lambda x: chain(w, x), (x,), (jnp.ones(3),))[1])(w, x))

    return grad(loss)(w)


# --- pmap ---
@program((4, 3))
def pmap_grad_checkpoint(x):
    return pmap(grad(checkpoint(bowl)))(x)


@program((2, 3), (4, 5, 3))
def pmap_vmap_grad(w, x):  # gradients by example, on each device
    return pmap(vmap(grad(energy), in_axes=(None, 0)), in_axes=(None, 0))(w, x)


@program((4, 2, 3))
def pmap_vmap_hessian(x):
    return pmap(vmap(hessian(bowl)))(x)


@program((2, 3), (4, 5, 3))
def grad_pmap_vmap(w, x):
    return grad(lambda w: jnp.sum(pmap(vmap(energy, in_axes=(None, 0)), in_axes=(None, 0))(w, x) ** 2))(w)


@program((4, 3))
def grad_pmap_checkpoint(x):
    return grad(lambda x: jnp.sum(jnp.sin(pmap(checkpoint(bowl))(x))))(x)


@program((4, 3))
def grad_pmap_custom_vjp(x):
    return grad(lambda x: jnp.sum(pmap(lambda row: scaled(row) * row)(x) ** 2))(x)


@program((4, 5, 3))
def pmap_grad_vmap_custom_vjp(x):
    return pmap(grad(lambda x: jnp.sum(vmap(lambda row: jnp.sum(scaled(row) * row))(x) ** 2)))(x)


@program((4, 3), (4, 3))
def jvp_pmap_grad(x, t):
    return jvp(pmap(grad(bowl)), (x,), (t,))


@program((4, 3))
def grad_pmap_grad(x):
    return grad(lambda x: jnp.sum(pmap(grad(bowl))(x) ** 2))(x)


@program((5, 4, 3))
def vmap_pmap_grad(x):
    return vmap(pmap(grad(bowl)))(x)


@program((4, 2))
def hessian_pmap_checkpoint(x):
    return hessian(lambda x: jnp.sum(pmap(checkpoint(bowl))(x)) ** 2)(x)


@program((4, 2), (3, 2))
def jacfwd_pmap_vmap(x, w):
    return jacfwd(lambda x: pmap(vmap(bowl, in_axes=0))(x[:, None, :] * w))(x)


@program((4, 3))
def jacrev_pmap_custom_jvp(x):
    return jacrev(pmap(lambda row: jnp.sum(bent(row) * row)))(x)


@program((3, 2), (4, 5, 3), (4, 5, 2))
def pmap_pmean_grad_vmap(w, x, y):  # the training idiom: local loss, mean of the gradients
    def step(w, x, y):
        g = grad(lambda w: -jnp.mean(vmap(error, in_axes=(None, 0, 0))(w, x, y)))(w)
        return lax.pmean(g, "devices")

    return pmap(step, axis_name="devices", in_axes=(None, 0, 0))(w, x, y)


@program((4, 3), (4, 3))
def pmap_grad_psum_checkpoint(x, w):  # a collective inside what is differentiated and recomputed
    def inner(x, w):
        return jnp.sum(lax.psum(checkpoint(lambda x: jnp.sin(x) * x)(x), "i") * w)

    return pmap(grad(inner), axis_name="i")(x, w)


@program((4, 3), (4, 3))
def vmap_grad_psum_checkpoint(x, w):  # the same under vmap's axis
    def inner(x, w):
        return jnp.sum(lax.psum(checkpoint(lambda x: jnp.sin(x) * x)(x), "i") * w)

    return vmap(grad(inner), axis_name="i")(x, w)


@program((4, 3, 2))
def pmap_vmap_psum_both_grad(x):  # two named axes, and both at once
    def inner(x):
        y = lax.psum(jnp.tanh(x), ("i", "j")) + lax.pmean(x * x, "j")
        return jnp.sum(jnp.sin(y) * x)

    return pmap(vmap(grad(inner), axis_name="j"), axis_name="i")(x)


@program((4, 3), (4, 3))
def jvp_pmap_psum_grad(x, t):
    inner = grad(lambda row: jnp.sum(jnp.sin(lax.psum(row, "i")) * row))
    return jvp(pmap(inner, axis_name="i"), (x,), (t,))


@program((4, 3), (4, 2))
def grad_pmap_grad_pmean(x, w):  # grad on both sides of pmap, a collective within
    def inner(x, w):
        return grad(lambda x: jnp.sum(jnp.sin(lax.pmean(x, "i")) * x) * jnp.sum(w))(x)

    return grad(lambda x: jnp.sum(pmap(inner, axis_name="i")(x, w) ** 2))(x)


print(f"{count} programs")
out.save()
