"""Writes golden records as plain text; tests/support/golden.hpp reads them.

A record is two lines: `name dtype ndim d0 d1 ...`, then the values in row-major order. Floats are printed so that
they read back exactly, complex numbers as pairs, bools as 0 and 1. 64-bit integers past 2**53 do not fit the reader's
doubles: `words` stores them as uint32 pairs (high, low) along a new last axis.
"""

import os

# Before JAX is imported: four CPU devices for pmap, and 64-bit types where a script asks for them.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import numpy as np  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))

SHORT = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "c64", "complex128": "c128",
}
LONG = {short: long for long, short in SHORT.items()}


def _text(a):
    kind = a.dtype.name
    flat = a.reshape(-1)
    if kind in ("float64", "complex128"):
        form = "%.17g"
    elif kind in ("float16", "bfloat16", "float32", "complex64"):
        form = "%.9g"
    else:
        return " ".join(str(int(v)) for v in flat)
    if a.dtype.kind == "c":
        return " ".join(form % part for v in flat for part in (v.real, v.imag))
    return " ".join(form % float(v) for v in flat)


class Writer:
    """Collects the records of one suite; `save` writes them to <suite>.txt."""

    def __init__(self, suite):
        self.suite = suite
        self.records = {}

    def put(self, name, value):
        a = np.asarray(value)
        assert " " not in name and name not in self.records, name
        if a.dtype.kind in "iu" and a.size:
            assert max(abs(int(a.max())), abs(int(a.min()))) < 2**53, name
        shape = "".join(f" {d}" for d in a.shape)
        self.records[name] = f"{name} {SHORT[a.dtype.name]} {a.ndim}{shape}\n{_text(a)}\n"

    def words(self, name, value):
        a = np.asarray(value)
        u = a.astype(np.uint64)
        self.put(name, np.stack([u >> np.uint64(32), u & np.uint64(0xFFFFFFFF)], axis=-1).astype(np.uint32))

    def case(self, name, inputs, outputs):
        """Records name/in0, name/in1, ... and name/out, or name/out0, name/out1, ... for several outputs."""
        for i, value in enumerate(inputs):
            self.put(f"{name}/in{i}", value)
        if isinstance(outputs, (tuple, list)):
            for i, value in enumerate(outputs):
                self.put(f"{name}/out{i}", value)
        else:
            self.put(f"{name}/out", outputs)

    def type(self, name, dtype):
        """Records a dtype: an empty array of that type."""
        self.put(name, np.zeros((0,), dtype))

    def save(self):
        path = os.path.join(FOLDER, self.suite + ".txt")
        with open(path, "w") as f:
            f.write("".join(self.records.values()))
        print(f"{self.suite}: {len(self.records)} records, {os.path.getsize(path)} bytes, jax {jax.__version__}")


def grid(seed, shape, low=-2.0, high=2.0, step=1 / 64):
    """Deterministic numbers on a grid of 1/64: exact in every floating type, distinct as far as the range allows."""
    rng = np.random.default_rng(seed)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    size = int(np.prod(shape))
    pick = rng.choice(last - first + 1, size, replace=size > last - first + 1)
    return ((pick + first) * step).reshape(shape)
