"""JAX's side: everything under jit, every call waited for."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import data
from side import calls, flat, serve, work

MILLION = 1 << 20


def jitted(f, *args):
    args = [jnp.asarray(a) for a in args]
    compiled = jax.jit(f)
    return calls(lambda: jax.block_until_ready(compiled(*args)))


def loss(activation):
    def f(params, x, y):
        for w, b in params[:-1]:
            x = activation(x @ w + b)
        w, b = params[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, axis=-1))

    return f


def descend(params, grads):
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu}


def training(step, initial, x, y):
    state = [initial()]

    def once():
        state[0], value = step(state[0], x, y)
        jax.block_until_ready((state[0], value))

    def result():
        params = initial()
        for _ in range(4):
            params, _ = step(params, x, y)
        return flat(jax.tree.leaves(step(params, x, y)))

    return work(once, result)


def train_step(sizes, activation, n):
    f = loss(ACTIVATIONS[activation])

    def step(params, x, y):
        value, grads = jax.value_and_grad(f)(params, x, y)
        return descend(params, grads), value

    step = jax.jit(step, donate_argnums=0)
    x, y = map(jnp.asarray, data.batch(sizes, n))
    return training(step, lambda: jax.tree.map(jnp.array, data.params(sizes)), x, y)


def pmap_step(sizes, activation, n):
    f = loss(ACTIVATIONS[activation])
    devices = jax.local_device_count()

    def step(params, x, y):
        value, grads = jax.value_and_grad(f)(params, x, y)
        grads = jax.lax.pmean(grads, "devices")
        return descend(params, grads), jax.lax.pmean(value, "devices")

    x, y = (a.reshape(devices, -1, a.shape[-1]) for a in data.batch(sizes, n))
    step = jax.pmap(step, axis_name="devices", donate_argnums=0)
    # The batch lies on its devices before the clock starts.
    x, y = (jax.pmap(lambda a: a + 0)(a) for a in (x, y))
    replicate = lambda p: jax.pmap(lambda a: a + 0)(np.stack([p] * devices))
    loop, whole = training(step, lambda: jax.tree.map(replicate, data.params(sizes)), x, y)

    def result():
        params = jax.tree.map(replicate, data.params(sizes))
        for _ in range(4):
            params, _ = step(params, x, y)
        return flat([a[0:1] for a in jax.tree.leaves(step(params, x, y))])

    return loop, result


def per_example():
    sizes = (784, 128, 10)
    f = jax.vmap(jax.grad(loss(jnp.tanh)), in_axes=(None, 0, 0))
    x, y = map(jnp.asarray, data.batch(sizes, 32))
    params = jax.tree.map(jnp.asarray, data.params(sizes))
    f = jax.jit(f)
    return work(lambda: jax.block_until_ready(f(params, x, y)), lambda: flat(jax.tree.leaves(f(params, x, y))))


def product(a, b):
    return lambda: jitted(jnp.matmul, data.uniform(1, a), data.uniform(2, b))


def product_gradients(m, k, n):
    def f(a, b, g):
        value, pullback = jax.vjp(jnp.matmul, a, b)
        return value, pullback(g)

    return lambda: jitted(f, data.uniform(1, (m, k)), data.uniform(2, (k, n)), data.uniform(3, (m, n)))


def unary(f, shape, low=-1, high=1):
    return lambda: jitted(f, data.uniform(1, shape, low, high))


def values_and_gradients(f):
    """f(x...) and the gradients for the cotangent g."""

    def both(g, *x):
        value, pullback = jax.vjp(f, *x)
        return value, pullback(g)

    return both


def gradient(f, shape, result, low=-1, high=1):
    return lambda: jitted(values_and_gradients(f), data.uniform(2, result), data.uniform(1, shape, low, high))


def affine_tanh(x, a):
    return jnp.tanh(x * a + 1) * a


def chain(x):
    return jnp.sum(jnp.exp(-x * x) * (x + x * x * 0.5))


def in_double(row):
    """A row whose inputs and arithmetic are double."""

    def double():
        with jax.enable_x64(True):
            loop, result = row()
        return jax.enable_x64(True)(loop), jax.enable_x64(True)(result)

    return double


def chain_in_double(n):
    return in_double(lambda: jitted(jax.value_and_grad(chain), data.uniform(1, (n,)).astype(np.float64)))


def layer_norm(x):
    scale, bias = data.uniform(3, (1000,)), data.uniform(4, (1000,))
    return jax.nn.standardize(x, axis=-1, epsilon=1e-5) * scale + bias


def logistic(transform):
    x, y = jnp.asarray(data.uniform(1, (1024, 32))), jnp.asarray(np.where(data.uniform(2, (1024,)) > 0, 1, -1))
    y = y.astype(jnp.float32)

    def f(w, x, y):
        return jnp.mean(jax.nn.softplus(-y * (x @ w)))

    return jitted(transform(f), data.uniform(3, (32,)), x, y)


def take(x, rows):
    return jnp.take(x, rows, axis=0)


def take_rows():
    return jitted(take, data.uniform(1, (4096, 1000)), data.integers(3, 4096, 4096))


def take_gradient():
    rows = jnp.asarray(data.integers(3, 4096, 4096))
    f = values_and_gradients(lambda x: take(x, rows))
    return jitted(f, data.uniform(2, (4096, 1000)), data.uniform(1, (4096, 1000)))


def random(draw):
    return lambda: jitted(lambda key: draw(key, (MILLION,)), jax.random.key(0))


def scalars(x):
    for _ in range(50):
        x = x * 0.5 + 0.25
    return x


def eager_add():
    x, y = jnp.asarray(data.uniform(1, (10,))), jnp.asarray(data.uniform(2, (10,)))
    return calls(lambda: (x + y).block_until_ready())


rows, square, line = (4096, 1000), (2048, 2048), (MILLION,)
softmax = lambda x: jax.nn.softmax(x, axis=-1)
logsumexp = lambda x: jax.nn.logsumexp(x, axis=-1)
gelu = lambda x: jax.nn.gelu(x, approximate=True)
cumsum = lambda x: jnp.cumsum(x, axis=1)
max0 = lambda x: jnp.max(x, axis=0)

ROWS = {
    "matmul_128x784x1024": product((128, 784), (784, 1024)),
    "matmul_1024": product((1024, 1024), (1024, 1024)),
    "matmul_bfloat16_1024": lambda: jitted(
        lambda a, b: (a @ b).astype(jnp.float32), *(jnp.asarray(data.uniform(i, (1024, 1024)), jnp.bfloat16) for i in (1, 2))
    ),
    "matmul_batched_64x128": product((64, 128, 128), (64, 128, 128)),
    "matmul_and_gradients_128x784x1024": product_gradients(128, 784, 1024),
    "per_example_gradients_784-128-10_32": per_example,
    "affine_tanh_1m": lambda: jitted(affine_tanh, data.uniform(1, line, -3, 3), data.uniform(2, line)),
    "gelu_1m": unary(gelu, line, -3, 3),
    "exp_1m": unary(jnp.exp, line, -3, 3),
    "log_1m": unary(jnp.log, line, 0.1, 10),
    "sin_1m": unary(jnp.sin, line, -10, 10),
    "add_1m": lambda: jitted(jnp.add, data.uniform(1, line), data.uniform(2, line)),
    "affine_tanh_gradient_1m": lambda: jitted(
        values_and_gradients(affine_tanh),
        data.uniform(3, line),
        data.uniform(1, line, -3, 3),
        data.uniform(2, line),
    ),
    "gelu_gradient_1m": gradient(gelu, line, line, -3, 3),
    "exp_gradient_1m": gradient(jnp.exp, line, line, -3, 3),
    "log_gradient_1m": gradient(jnp.log, line, line, 0.1, 10),
    "sin_gradient_1m": gradient(jnp.sin, line, line, -10, 10),
    "chain_value_and_gradient_4096": unary(jax.value_and_grad(chain), (4096,)),
    "chain_value_and_gradient_1m": unary(jax.value_and_grad(chain), line),
    "chain_value_and_gradient_double_4096": chain_in_double(4096),
    "chain_value_and_gradient_double_1m": chain_in_double(MILLION),
    "softmax_4096x1000": unary(softmax, rows),
    "logsumexp_4096x1000": unary(logsumexp, rows),
    "layer_norm_4096x1000": unary(layer_norm, rows),
    "softmax_gradient_4096x1000": gradient(softmax, rows, rows),
    "logsumexp_gradient_4096x1000": gradient(logsumexp, rows, (4096,)),
    "layer_norm_gradient_4096x1000": gradient(layer_norm, rows, rows),
    "sum_16m": unary(jnp.sum, (1 << 24,)),
    "sum_axis0_2048": unary(lambda x: jnp.sum(x, axis=0), square),
    "sum_axis1_2048": unary(lambda x: jnp.sum(x, axis=1), square),
    "max_axis0_2048": unary(max0, square),
    "argmax_axis1_2048": unary(lambda x: jnp.argmax(x, axis=1), square),
    "max_axis0_gradient_2048": gradient(max0, square, (2048,)),
    "transpose_copy_2048": unary(lambda x: x.T, square),
    "cumsum_axis1_2048": unary(cumsum, square),
    "cumsum_gradient_2048": gradient(cumsum, square, square),
    "take_rows_4096x1000": take_rows,
    "take_rows_gradient_4096x1000": take_gradient,
    "sort_1m": unary(jnp.sort, line),
    "random_uniform_1m": random(jax.random.uniform),
    "random_normal_1m": random(jax.random.normal),
    "vmap_matvec_64x64_512": lambda: jitted(
        jax.vmap(jnp.matmul, in_axes=(None, 0)), data.uniform(1, (64, 64)), data.uniform(2, (512, 64))
    ),
    "vmap_convolve_64x256_9": lambda: jitted(
        jax.vmap(jnp.convolve, in_axes=(0, None)), data.uniform(1, (64, 256)), data.uniform(2, (9,))
    ),
    "hessian_logistic_1024x32": lambda: logistic(jax.hessian),
    "gradient_logistic_1024x32": lambda: logistic(jax.grad),
    "eager_add_10": eager_add,
    "recorded_scalars_100": lambda: jitted(jax.grad(scalars), data.uniform(1, (), 0.5, 1)),
}


def convolution(channels, out, size, kernel, stride):
    pad = [(kernel // 2, kernel // 2)] * 2
    f = values_and_gradients(lambda x, w: jax.lax.conv_general_dilated(x, w, (stride, stride), pad))
    after = size // stride
    return lambda: jitted(
        f,
        data.uniform(3, (8, out, after, after)),
        data.uniform(1, (8, channels, size, size)),
        data.uniform(2, (out, channels, kernel, kernel)),
    )


def recurrence(w, h, xs):
    return jnp.sum(jax.lax.scan(lambda h, x: (jnp.tanh(h @ w + x), None), h, xs)[0])


def cubic(x):
    return jnp.sin(x) * x * x + 1


def matrices(n):
    return data.uniform(1, (572, n, n)) + 4 * np.eye(n, dtype=np.float32)


def nearest(centroids, points):
    distances = jnp.sum(points**2, axis=1, keepdims=True) + jnp.sum(centroids**2, axis=1) - 2 * points @ centroids.T
    return jnp.sum(jnp.min(distances, axis=1))


def reach(angles):
    turn, place = jnp.eye(3, dtype=jnp.float32), jnp.zeros(3, jnp.float32)
    link = jnp.array([0.3, 0.1, 0.5], jnp.float32)
    for i in range(6):
        c, s = jnp.cos(angles[i]), jnp.sin(angles[i])
        zero, one = jnp.zeros_like(c), jnp.ones_like(c)
        turn = turn @ jnp.stack([c, -s, zero, s, c, zero, zero, zero, one]).reshape(3, 3)
        place = place + turn @ link
    return jnp.sum(place**2)


def stencil(x):
    inner = x[1:-1, 1:-1]
    return jnp.sum((x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * inner) ** 2)


def of_grid(f):
    return lambda: jitted(jax.grad(f), data.uniform(1, GRID))


GRID = (1000, 1000)
slope, heads = jax.grad(cubic), (8, 256, 8, 64)
other = data.uniform(3, GRID)
attention = jax.nn.dot_product_attention
ROWS |= {
    "conv_64_56": convolution(64, 64, 56, 3, 1),
    "conv_512_7": convolution(512, 512, 7, 3, 1),
    "conv_128_28_stride_2": convolution(64, 128, 56, 3, 2),
    "attention_8x8x256x64": lambda: jitted(attention, *(data.uniform(i, heads) for i in (1, 2, 3))),
    "attention_gradient_8x8x256x64": lambda: jitted(
        values_and_gradients(attention), *(data.uniform(i, heads) for i in (4, 1, 2, 3))
    ),
    "attention_gradient_8x8x1024x64": lambda: jitted(
        values_and_gradients(attention), *(data.uniform(i, (8, 1024, 8, 64)) for i in (4, 1, 2, 3))
    ),
    "causal_attention_gradient_8x8x1024x64": lambda: jitted(
        values_and_gradients(partial(attention, is_causal=True)), *(data.uniform(i, (8, 1024, 8, 64)) for i in (4, 1, 2, 3))
    ),
    "scan_gradient_1000": lambda: jitted(
        jax.grad(recurrence), data.uniform(1, (32, 32), -0.2, 0.2), data.uniform(2, (32,)), data.uniform(3, (1000, 32))
    ),
    "grad_of_number": unary(slope, ()),
    "grad_of_grad_of_number": unary(jax.grad(slope), ()),
    "jvp_of_grad_of_number": unary(lambda x: jax.jvp(slope, (x,), (x,))[1], ()),
    "products_4x4_572": product((572, 4, 4), (572, 4, 4)),
    "solve_4x4_572": lambda: jitted(jnp.linalg.solve, matrices(4), data.uniform(2, (572, 4, 1))),
    "det_4x4_572": lambda: jitted(jnp.linalg.det, matrices(4)),
    "take_rows_of_11": lambda: jitted(take, data.uniform(1, (1000, 11)), data.integers(3, 1000, 1000)),
    "concatenate_short": lambda: jitted(
        lambda a, b: jnp.concatenate([a, b]), data.uniform(1, (10,)), data.uniform(2, (10,))
    ),
    "roll_1000": unary(lambda x: jnp.roll(x, 3), (1000,)),
    "stack_axis_1": lambda: jitted(
        lambda a, b: jnp.stack([a, b], axis=1), data.uniform(1, (1000,)), data.uniform(2, (1000,))
    ),
    "sum_of_rows_of_4": unary(lambda x: jnp.sum(x, axis=1), (1 << 18, 4)),
    "nearest_centroids_gradient": lambda: jitted(
        jax.grad(nearest), data.uniform(1, (1000, 8)), data.uniform(2, (4096, 8))
    ),
    "arm_gradient": unary(jax.grad(reach), (6,)),
    "arms_gradient_1000": unary(jax.vmap(jax.grad(reach)), (1000, 6)),
    "hessian_vector_tanh": lambda: jitted(
        lambda x, v: jax.jvp(jax.grad(lambda x: jnp.sum(jnp.tanh(x * 1.5) * x)), (x,), (v,))[1],
        data.uniform(1, GRID),
        data.uniform(2, GRID),
    ),
    "stencil_gradient": of_grid(stencil),
    "concatenate_gradient": of_grid(lambda x: jnp.sum(jnp.concatenate([x, other, x]) ** 2)),
    "stack_gradient": of_grid(lambda x: jnp.sum(jnp.stack([x, other]) ** 2)),
    "clip_gradient": of_grid(lambda x: jnp.sum(jnp.clip(x, -0.5, 0.5) ** 2)),
    "pad_gradient": of_grid(lambda x: jnp.sum(jnp.pad(x, 1) ** 2)),
    "var_gradient": of_grid(jnp.var),
    "norm_gradient": of_grid(jnp.linalg.norm),
}
for name, case in data.STEPS.items():
    ROWS["step_" + name] = lambda case=case: train_step(*case)
    if case[0][0] == 784:
        ROWS["pmap_" + name] = lambda case=case: pmap_step(*case)

if __name__ == "__main__":
    serve(ROWS)
