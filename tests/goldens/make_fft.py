"""Writes fft.txt: NumPy's transforms in double and complex128, JAX's in single precision, and the cotangents that JAX
pulls through them: <case>/<type>/in0, out, and <case>/c128/cotangent, pulled."""

import goldens

import jax
import jax.numpy as jnp
import numpy as np

writer = goldens.Writer("fft")


def numbers(seed, shape, is_complex):
    x = goldens.grid(seed, shape)
    return x + 1j * goldens.grid(seed + 1, shape) if is_complex else x


# name, function, options, shape, complex operand?
CASES = [
    ("fft", "fft", {}, (12,), True),
    ("fft.real", "fft", {}, (3, 8), False),
    ("fft.n=5", "fft", {"n": 5}, (8,), True),
    ("fft.n=11", "fft", {"n": 11}, (2, 8), True),
    ("fft.axis=0.ortho", "fft", {"axis": 0, "norm": "ortho"}, (7, 3), True),
    ("fft.axis=-2.forward", "fft", {"axis": -2, "norm": "forward"}, (2, 6, 4), True),
    ("fft.1", "fft", {}, (1,), True),
    ("fft.empty", "fft", {}, (0, 4), True),
    ("fft.67", "fft", {}, (67,), True),
    ("ifft", "ifft", {}, (10,), True),
    ("ifft.axis=1.forward", "ifft", {"axis": 1, "norm": "forward"}, (2, 9, 2), True),
    ("ifft.n=16.ortho", "ifft", {"n": 16, "norm": "ortho"}, (2, 5), True),
    ("rfft", "rfft", {}, (12,), False),
    ("rfft.odd", "rfft", {}, (2, 9), False),
    ("rfft.n=7.axis=0", "rfft", {"n": 7, "axis": 0}, (5, 3), False),
    ("rfft.n=6.ortho", "rfft", {"n": 6, "norm": "ortho"}, (3, 10), False),
    ("rfft.1", "rfft", {}, (1,), False),
    ("rfft.2", "rfft", {}, (2,), False),
    ("irfft", "irfft", {}, (7,), True),
    ("irfft.n=9", "irfft", {"n": 9}, (2, 5), True),
    ("irfft.n=4.axis=0.forward", "irfft", {"n": 4, "axis": 0, "norm": "forward"}, (6, 3), True),
    ("irfft.n=20.ortho", "irfft", {"n": 20, "norm": "ortho"}, (3, 6), True),
    ("hfft", "hfft", {}, (6,), True),
    ("hfft.n=7.ortho", "hfft", {"n": 7, "norm": "ortho"}, (2, 4), True),
    ("ihfft", "ihfft", {}, (8,), False),
    ("ihfft.n=5.axis=0.forward", "ihfft", {"n": 5, "axis": 0, "norm": "forward"}, (5, 2), False),
    ("fft2", "fft2", {}, (4, 6), True),
    ("fft2.s=(3,8)", "fft2", {"s": (3, 8)}, (2, 4, 6), True),
    ("ifft2.axes=(0,2)", "ifft2", {"axes": (0, 2)}, (4, 2, 5), True),
    ("rfft2", "rfft2", {}, (3, 4, 6), False),
    ("irfft2", "irfft2", {}, (3, 4), True),
    ("irfft2.s=(5,7)", "irfft2", {"s": (5, 7)}, (2, 4, 4), True),
    ("fftn", "fftn", {}, (3, 4, 5), True),
    ("fftn.axes=(1,-1).ortho", "fftn", {"axes": (1, -1), "norm": "ortho"}, (2, 3, 2, 4), True),
    ("ifftn.s=(4,2)", "ifftn", {"s": (4, 2), "axes": (0, 1)}, (3, 3, 2), True),
    ("rfftn", "rfftn", {}, (2, 3, 4), False),
    ("rfftn.axes=(2,0)", "rfftn", {"axes": (2, 0)}, (5, 2, 4), False),
    ("irfftn", "irfftn", {}, (2, 3, 4), True),
    ("irfftn.s=(4,9).forward", "irfftn", {"s": (4, 9), "axes": (0, 1), "norm": "forward"}, (3, 5, 2), True),
    ("fftshift", "fftshift", {}, (4, 5), False),
    ("fftshift.axes=1", "fftshift", {"axes": 1}, (3, 6), True),
    ("ifftshift", "ifftshift", {}, (4, 5), False),
    ("ifftshift.axes=(0,)", "ifftshift", {"axes": (0,)}, (5, 2), True),
]

for seed, (name, function, options, shape, is_complex) in enumerate(CASES):
    x = numbers(100 + 3 * seed, shape, is_complex)
    y = getattr(np.fft, function)(x, **options)
    wide = "c128" if is_complex else "f64"
    writer.case(f"{name}/{wide}", [x], y)
    jax.config.update("jax_enable_x64", False)
    narrow = x.astype(np.complex64 if is_complex else np.float32)
    if y.size:
        writer.case(f"{name}/{'c64' if is_complex else 'f32'}", [narrow], getattr(jnp.fft, function)(narrow, **options))
    jax.config.update("jax_enable_x64", True)
    if y.size and "shift" not in name:
        _, pull = jax.vjp(lambda a: getattr(jnp.fft, function)(a, **options), jnp.asarray(x))
        g = numbers(1000 + 3 * seed, y.shape, np.iscomplexobj(y))
        writer.put(f"{name}/{wide}/cotangent", g)
        writer.put(f"{name}/{wide}/pulled", pull(jnp.asarray(g))[0])

for n, d in ((1, 1.0), (8, 0.1), (9, 2.0)):
    writer.put(f"fftfreq.{n}/f64", np.fft.fftfreq(n, d))
    writer.put(f"rfftfreq.{n}/f64", np.fft.rfftfreq(n, d))
writer.save()
