"""JAX's promotion of dtypes: the record `promote/<a>/<b>` has the answer as its dtype, and no values.

`weak_int`, `weak_float` and `weak_complex` stand for a scalar of the language. Where JAX answers with a default type
(64 bits with its switch on, 32 with it off), the one of 32 bits is recorded: also for the unsigned 64-bit type next to
a signed one, whose promotion is a weak float.
"""

import goldens
import jax
import jax.numpy as jnp
from goldens import LONG

NAMES = ("bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128")
SCALARS = {"weak_int": 1, "weak_float": 1.0, "weak_complex": 1j}
SIGNED = ("i8", "i16", "i32", "i64")

out = goldens.Writer("promotion")
for a in NAMES:
    for b in NAMES:
        with jax.enable_x64(True):
            result = jnp.promote_types(LONG[a], LONG[b])
        if "u64" in (a, b) and (a in SIGNED or b in SIGNED):
            result = jnp.dtype("float32")
        out.type(f"promote/{a}/{b}", result)
    for name, scalar in SCALARS.items():
        default = a[0] in "bui" and a != "bf16" and (name != "weak_int" or a == "bool")
        with jax.enable_x64(not default):
            result = (jnp.zeros((), LONG[a]) + scalar).dtype
        out.type(f"promote/{a}/{name}", result)
out.save()
