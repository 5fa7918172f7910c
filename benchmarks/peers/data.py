"""Inputs of the benchmarks: the numbers of ../support/data.hpp."""

import numpy as np


def _hashes(seed, n):
    x = np.arange(n, dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def uniform(seed, shape, low=-1.0, high=1.0):
    low, high = np.float32(low), np.float32(high)
    unit = (_hashes(seed, int(np.prod(shape))) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)
    return (low + (high - low) * unit).reshape(shape)


def integers(seed, n, high):
    return (_hashes(seed, n) % np.uint32(high)).astype(np.int32)


def params(sizes):
    """A weight and a bias for each layer of a perceptron."""
    layers = []
    for i, (n, m) in enumerate(zip(sizes[:-1], sizes[1:])):
        limit = np.float32(1) / np.sqrt(np.float32(n))
        layers.append((uniform(10 + 2 * i, (n, m), -limit, limit), uniform(11 + 2 * i, (m,), -limit, limit)))
    return layers


def batch(sizes, n):
    """Examples and one-hot labels."""
    return uniform(1, (n, sizes[0])), np.eye(sizes[-1], dtype=np.float32)[integers(2, n, sizes[-1])]


STEPS = {
    "784-1024-1024-10_tanh_128": ((784, 1024, 1024, 10), "tanh", 128),
    "784-512-512-10_relu_128": ((784, 512, 512, 10), "relu", 128),
    "784-512-512-10_tanh_128": ((784, 512, 512, 10), "tanh", 128),
    "784-128-10_tanh_32": ((784, 128, 10), "tanh", 32),
    "16-16-4_tanh_8": ((16, 16, 4), "tanh", 8),
}
