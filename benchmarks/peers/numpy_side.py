"""NumPy's side, where NumPy has the function."""

import numpy as np

import data
from side import calls, serve

MILLION = 1 << 20


def of(f, *args):
    return calls(lambda: f(*args))


def unary(f, shape, low=-1, high=1):
    return lambda: of(f, data.uniform(1, shape, low, high))


def product(a, b):
    return lambda: of(np.matmul, data.uniform(1, a), data.uniform(2, b))


def product_gradients():
    a, b, g = data.uniform(1, (128, 784)), data.uniform(2, (784, 1024)), data.uniform(3, (128, 1024))
    return calls(lambda: (a @ b, g @ b.T, a.T @ g))


def eager_add():
    x, y = data.uniform(1, (10,)), data.uniform(2, (10,))

    def loop(n):
        for _ in range(n):
            x + y

    return loop, lambda: x + y


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def logsumexp(x):
    m = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - m), axis=-1)) + m[:, 0]


def layer_norm(x, scale, bias):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + np.float32(1e-5)) * scale + bias


def matrices(n):
    return data.uniform(1, (572, n, n)) + 4 * np.eye(n, dtype=np.float32)


rows, square, line = (4096, 1000), (2048, 2048), (MILLION,)
generator = np.random.default_rng(0)

ROWS = {
    "matmul_128x784x1024": product((128, 784), (784, 1024)),
    "matmul_1024": product((1024, 1024), (1024, 1024)),
    "matmul_batched_64x128": product((64, 128, 128), (64, 128, 128)),
    "matmul_and_gradients_128x784x1024": product_gradients,
    "affine_tanh_1m": lambda: of(
        lambda x, a: np.tanh(x * a + 1) * a, data.uniform(1, line, -3, 3), data.uniform(2, line)
    ),
    "exp_1m": unary(np.exp, line, -3, 3),
    "log_1m": unary(np.log, line, 0.1, 10),
    "sin_1m": unary(np.sin, line, -10, 10),
    "add_1m": lambda: of(np.add, data.uniform(1, line), data.uniform(2, line)),
    "softmax_4096x1000": unary(softmax, rows),
    "logsumexp_4096x1000": unary(logsumexp, rows),
    "layer_norm_4096x1000": lambda: of(
        layer_norm, data.uniform(1, rows), data.uniform(3, (1000,)), data.uniform(4, (1000,))
    ),
    "sum_16m": unary(np.sum, (1 << 24,)),
    "sum_axis0_2048": unary(lambda x: np.sum(x, axis=0), square),
    "sum_axis1_2048": unary(lambda x: np.sum(x, axis=1), square),
    "max_axis0_2048": unary(lambda x: np.max(x, axis=0), square),
    "argmax_axis1_2048": unary(lambda x: np.argmax(x, axis=1), square),
    "transpose_copy_2048": unary(lambda x: np.ascontiguousarray(x.T), square),
    "cumsum_axis1_2048": unary(lambda x: np.cumsum(x, axis=1), square),
    "take_rows_4096x1000": lambda: of(
        lambda x, i: np.take(x, i, axis=0), data.uniform(1, rows), data.integers(3, 4096, 4096)
    ),
    "sort_1m": unary(np.sort, line),
    "random_uniform_1m": lambda: calls(lambda: generator.random(MILLION, dtype=np.float32)),
    "random_normal_1m": lambda: calls(lambda: generator.standard_normal(MILLION, dtype=np.float32)),
    "eager_add_10": eager_add,
    "products_4x4_572": product((572, 4, 4), (572, 4, 4)),
    "solve_4x4_572": lambda: of(np.linalg.solve, matrices(4), data.uniform(2, (572, 4, 1))),
    "det_4x4_572": lambda: of(np.linalg.det, matrices(4)),
    "take_rows_of_11": lambda: of(
        lambda x, i: np.take(x, i, axis=0), data.uniform(1, (1000, 11)), data.integers(3, 1000, 1000)
    ),
    "concatenate_short": lambda: of(lambda a, b: np.concatenate([a, b]), data.uniform(1, (10,)), data.uniform(2, (10,))),
    "roll_1000": unary(lambda x: np.roll(x, 3), (1000,)),
    "stack_axis_1": lambda: of(
        lambda a, b: np.stack([a, b], axis=1), data.uniform(1, (1000,)), data.uniform(2, (1000,))
    ),
    "sum_of_rows_of_4": unary(lambda x: np.sum(x, axis=1), (1 << 18, 4)),
}

if __name__ == "__main__":
    serve(ROWS)
