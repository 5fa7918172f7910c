"""PyTorch's side, eager."""

import os
from functools import partial

import torch
import torch.nn.functional as F

import data
from side import calls, flat, serve, work

MILLION = 1 << 20
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


def tensor(*args, **kwargs):
    return torch.from_numpy(data.uniform(*args, **kwargs))


def of(f, *args):
    def step():
        with torch.no_grad():
            return f(*args)

    return calls(step)


def unary(f, shape, low=-1, high=1):
    return lambda: of(f, tensor(1, shape, low, high))


def values_and_gradients(f, g, *x):
    """f(x...) and the gradients for the cotangent g."""
    x = [a.requires_grad_() for a in x]

    def step():
        value = f(*x)
        return value.detach(), torch.autograd.grad(value, x, g)

    return calls(step)


def gradient(f, shape, result, low=-1, high=1):
    return lambda: values_and_gradients(f, tensor(2, result), tensor(1, shape, low, high))


def product(a, b):
    return lambda: of(torch.matmul, tensor(1, a), tensor(2, b))


def product_gradients():
    a, b = tensor(1, (128, 784)).requires_grad_(), tensor(2, (784, 1024)).requires_grad_()
    g = tensor(3, (128, 1024))

    def step():
        value = a @ b
        return value.detach(), torch.autograd.grad(value, (a, b), g)

    return calls(step)


def affine_tanh_gradient():
    f = lambda x, a: torch.tanh(x * a + 1) * a
    return values_and_gradients(f, tensor(3, (MILLION,)), tensor(1, (MILLION,), -3, 3), tensor(2, (MILLION,)))


def chain(n, dtype=torch.float32):
    def row():
        x = tensor(1, (n,)).to(dtype).requires_grad_()

        def step():
            value = torch.sum(torch.exp(-x * x) * (x + x * x * 0.5))
            return value.detach(), torch.autograd.grad(value, x)[0]

        return calls(step)

    return row


ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu}


def loss(activation):
    def f(params, x, y):
        for w, b in zip(params[:-2:2], params[1:-2:2]):
            x = activation(torch.addmm(b, x, w) if x.ndim == 2 else x @ w + b)
        logits = torch.addmm(params[-1], x, params[-2]) if x.ndim == 2 else x @ params[-2] + params[-1]
        return -torch.mean(torch.sum(F.log_softmax(logits, dim=-1) * y, dim=-1))

    return f


def train_step(sizes, activation, n):
    f = loss(ACTIVATIONS[activation])
    x, y = map(torch.from_numpy, data.batch(sizes, n))
    initial = lambda: [torch.from_numpy(a).requires_grad_() for layer in data.params(sizes) for a in layer]
    state = initial()

    def step(params):
        value = f(params, x, y)
        grads = torch.autograd.grad(value, params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p.add_(g, alpha=-0.01)
        return value.detach()

    def result():
        params = initial()
        values = [step(params) for _ in range(5)]
        return flat([p.detach() for p in params] + [values[-1]])

    return work(lambda: step(state), result)


def per_example():
    sizes = (784, 128, 10)
    x, y = map(torch.from_numpy, data.batch(sizes, 32))
    params = [torch.from_numpy(a) for layer in data.params(sizes) for a in layer]
    f = torch.func.vmap(torch.func.grad(loss(torch.tanh)), in_dims=(None, 0, 0))
    return calls(lambda: f(params, x, y))


def eager_add():
    x, y = tensor(1, (10,)), tensor(2, (10,))

    def loop(n):
        with torch.no_grad():
            for _ in range(n):
                x + y

    return loop, lambda: x + y


def scalars():
    x = tensor(1, (), 0.5, 1).requires_grad_()

    def step():
        y = x
        for _ in range(50):
            y = y * 0.5 + 0.25
        return torch.autograd.grad(y, x)

    return calls(step)


def convolve():
    x, w = tensor(1, (64, 1, 256)), tensor(2, (9,)).flip(0).reshape(1, 1, 9)
    return of(lambda: F.conv1d(x, w, padding=8))


def logistic(transform):
    x, y = tensor(1, (1024, 32)), torch.where(tensor(2, (1024,)) > 0, 1.0, -1.0)
    w = tensor(3, (32,))
    f = transform(lambda w: torch.mean(F.softplus(-y * (x @ w))))
    return calls(lambda: f(w))


def take_gradient():
    index = torch.from_numpy(data.integers(3, 4096, 4096))
    return values_and_gradients(lambda x: torch.index_select(x, 0, index), tensor(2, rows), tensor(1, rows))


rows, square, line = (4096, 1000), (2048, 2048), (MILLION,)
softmax = lambda x: torch.softmax(x, dim=-1)
logsumexp = lambda x: torch.logsumexp(x, dim=-1)
gelu = lambda x: F.gelu(x, approximate="tanh")
cumsum = lambda x: torch.cumsum(x, dim=1)
scale, bias = tensor(3, (1000,)), tensor(4, (1000,))
layer_norm = lambda x: F.layer_norm(x, (1000,), scale, bias)
amax0 = lambda x: torch.amax(x, dim=0)

ROWS = {
    "matmul_128x784x1024": product((128, 784), (784, 1024)),
    "matmul_1024": product((1024, 1024), (1024, 1024)),
    "matmul_bfloat16_1024": lambda: of(lambda a, b: (a @ b).float(), *(tensor(i, (1024, 1024)).bfloat16() for i in (1, 2))),
    "matmul_batched_64x128": product((64, 128, 128), (64, 128, 128)),
    "matmul_and_gradients_128x784x1024": product_gradients,
    "per_example_gradients_784-128-10_32": per_example,
    "affine_tanh_1m": lambda: of(lambda x, a: torch.tanh(x * a + 1) * a, tensor(1, line, -3, 3), tensor(2, line)),
    "gelu_1m": unary(gelu, line, -3, 3),
    "exp_1m": unary(torch.exp, line, -3, 3),
    "log_1m": unary(torch.log, line, 0.1, 10),
    "sin_1m": unary(torch.sin, line, -10, 10),
    "add_1m": lambda: of(torch.add, tensor(1, line), tensor(2, line)),
    "affine_tanh_gradient_1m": affine_tanh_gradient,
    "gelu_gradient_1m": gradient(gelu, line, line, -3, 3),
    "exp_gradient_1m": gradient(torch.exp, line, line, -3, 3),
    "log_gradient_1m": gradient(torch.log, line, line, 0.1, 10),
    "sin_gradient_1m": gradient(torch.sin, line, line, -10, 10),
    "chain_value_and_gradient_4096": chain(4096),
    "chain_value_and_gradient_1m": chain(MILLION),
    "chain_value_and_gradient_double_4096": chain(4096, torch.float64),
    "chain_value_and_gradient_double_1m": chain(MILLION, torch.float64),
    "softmax_4096x1000": unary(softmax, rows),
    "logsumexp_4096x1000": unary(logsumexp, rows),
    "layer_norm_4096x1000": unary(layer_norm, rows),
    "softmax_gradient_4096x1000": gradient(softmax, rows, rows),
    "logsumexp_gradient_4096x1000": gradient(logsumexp, rows, (4096,)),
    "layer_norm_gradient_4096x1000": gradient(layer_norm, rows, rows),
    "sum_16m": unary(torch.sum, (1 << 24,)),
    "sum_axis0_2048": unary(lambda x: torch.sum(x, dim=0), square),
    "sum_axis1_2048": unary(lambda x: torch.sum(x, dim=1), square),
    "max_axis0_2048": unary(amax0, square),
    "argmax_axis1_2048": unary(lambda x: torch.argmax(x, dim=1), square),
    "max_axis0_gradient_2048": gradient(amax0, square, (2048,)),
    "transpose_copy_2048": unary(lambda x: x.T.contiguous(), square),
    "cumsum_axis1_2048": unary(cumsum, square),
    "cumsum_gradient_2048": gradient(cumsum, square, square),
    "take_rows_4096x1000": lambda: of(
        lambda x, i: torch.index_select(x, 0, i), tensor(1, rows), torch.from_numpy(data.integers(3, 4096, 4096))
    ),
    "take_rows_gradient_4096x1000": take_gradient,
    "sort_1m": unary(lambda x: torch.sort(x)[0], line),
    "random_uniform_1m": lambda: calls(lambda: torch.rand(MILLION)),
    "random_normal_1m": lambda: calls(lambda: torch.randn(MILLION)),
    "vmap_matvec_64x64_512": lambda: of(
        torch.func.vmap(torch.mv, in_dims=(None, 0)), tensor(1, (64, 64)), tensor(2, (512, 64))
    ),
    "vmap_convolve_64x256_9": convolve,
    "hessian_logistic_1024x32": lambda: logistic(torch.func.hessian),
    "gradient_logistic_1024x32": lambda: logistic(torch.func.grad),
    "eager_add_10": eager_add,
    "recorded_scalars_100": scalars,
}


def convolution(channels, out, size, kernel, stride):
    after = size // stride
    return lambda: values_and_gradients(
        lambda x, w: F.conv2d(x, w, stride=stride, padding=kernel // 2),
        tensor(3, (8, out, after, after)),
        tensor(1, (8, channels, size, size)),
        tensor(2, (out, channels, kernel, kernel)),
    )


def attention(q, k, v, is_causal=False):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).transpose(1, 2)


def recurrence():
    w, h, xs = tensor(1, (32, 32), -0.2, 0.2).requires_grad_(), tensor(2, (32,)), tensor(3, (1000, 32))

    def step():
        state = h
        for x in xs:
            state = torch.tanh(torch.addmv(x, w.T, state))
        return torch.autograd.grad(state.sum(), w)

    return calls(step)


def gradient_of(f, x, *others):
    """The gradient by x of a scalar function."""
    x.requires_grad_()
    return calls(lambda: torch.autograd.grad(f(x, *others), x))


def matrices(n):
    return tensor(1, (572, n, n)) + 4 * torch.eye(n)


def nearest(centroids, points):
    distances = (points**2).sum(1, keepdim=True) + (centroids**2).sum(1) - 2 * points @ centroids.T
    return distances.min(1)[0].sum()


def stencil(x):
    inner = x[1:-1, 1:-1]
    return ((x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * inner) ** 2).sum()


def hessian_vector():
    x, v = tensor(1, GRID).requires_grad_(), tensor(2, GRID)

    def step():
        (slope,) = torch.autograd.grad((torch.tanh(x * 1.5) * x).sum(), x, create_graph=True)
        return torch.autograd.grad(slope, x, v)

    return calls(step)


GRID, heads = (1000, 1000), (8, 256, 8, 64)
cubic = lambda x: torch.sin(x) * x * x + 1
slope = torch.func.grad(cubic)
other = tensor(3, GRID)
of_grid = lambda f: lambda: gradient_of(f, tensor(1, GRID))
ROWS |= {
    "conv_64_56": convolution(64, 64, 56, 3, 1),
    "conv_512_7": convolution(512, 512, 7, 3, 1),
    "conv_128_28_stride_2": convolution(64, 128, 56, 3, 2),
    "attention_8x8x256x64": lambda: of(attention, *(tensor(i, heads) for i in (1, 2, 3))),
    "attention_gradient_8x8x256x64": lambda: values_and_gradients(attention, *(tensor(i, heads) for i in (4, 1, 2, 3))),
    "attention_gradient_8x8x1024x64": lambda: values_and_gradients(
        attention, *(tensor(i, (8, 1024, 8, 64)) for i in (4, 1, 2, 3))
    ),
    "causal_attention_gradient_8x8x1024x64": lambda: values_and_gradients(
        partial(attention, is_causal=True), *(tensor(i, (8, 1024, 8, 64)) for i in (4, 1, 2, 3))
    ),
    "scan_gradient_1000": recurrence,
    "grad_of_number": lambda: calls(lambda x=tensor(1, ()): slope(x)),
    "grad_of_grad_of_number": lambda: calls(lambda x=tensor(1, ()): torch.func.grad(slope)(x)),
    "jvp_of_grad_of_number": lambda: calls(lambda x=tensor(1, ()): torch.func.jvp(slope, (x,), (x,))[1]),
    "products_4x4_572": product((572, 4, 4), (572, 4, 4)),
    "solve_4x4_572": lambda: of(torch.linalg.solve, matrices(4), tensor(2, (572, 4, 1))),
    "det_4x4_572": lambda: of(torch.linalg.det, matrices(4)),
    "take_rows_of_11": lambda: of(
        lambda x, i: torch.index_select(x, 0, i), tensor(1, (1000, 11)), torch.from_numpy(data.integers(3, 1000, 1000))
    ),
    "concatenate_short": lambda: of(lambda a, b: torch.cat([a, b]), tensor(1, (10,)), tensor(2, (10,))),
    "roll_1000": unary(lambda x: torch.roll(x, 3), (1000,)),
    "stack_axis_1": lambda: of(lambda a, b: torch.stack([a, b], dim=1), tensor(1, (1000,)), tensor(2, (1000,))),
    "sum_of_rows_of_4": unary(lambda x: torch.sum(x, dim=1), (1 << 18, 4)),
    "nearest_centroids_gradient": lambda: gradient_of(nearest, tensor(1, (1000, 8)), tensor(2, (4096, 8))),
    "hessian_vector_tanh": hessian_vector,
    "stencil_gradient": of_grid(stencil),
    "concatenate_gradient": of_grid(lambda x: (torch.cat([x, other, x]) ** 2).sum()),
    "stack_gradient": of_grid(lambda x: (torch.stack([x, other]) ** 2).sum()),
    "clip_gradient": of_grid(lambda x: (torch.clamp(x, -0.5, 0.5) ** 2).sum()),
    "pad_gradient": of_grid(lambda x: (F.pad(x, (1, 1, 1, 1)) ** 2).sum()),
    "var_gradient": of_grid(lambda x: torch.var(x, correction=0)),
    "norm_gradient": of_grid(torch.linalg.norm),
}
for name, case in data.STEPS.items():
    ROWS["step_" + name] = lambda case=case: train_step(*case)

if __name__ == "__main__":
    serve(ROWS)
