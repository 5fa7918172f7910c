"""Convolutions, windows, attention and activations: `<function>.<case>/f64/in0`, ..., `/out`, as in ops.txt."""

import goldens
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

jax.config.update("jax_enable_x64", True)
out = goldens.Writer("conv")


def case(name, f, *shapes, low=-2.0, high=2.0):
    values = [goldens.grid(len(out.records) + i, s, low, high) if isinstance(s, tuple) else s for i, s in enumerate(shapes)]
    out.case(name + "/f64", [np.asarray(v) for v in values], np.asarray(f(*map(jnp.asarray, values))))


def conv(name, x, w, strides, padding, dn=None, **options):
    case("conv_general_dilated." + name,
         lambda a, b: lax.conv_general_dilated(a, b, strides, padding, dimension_numbers=dn, **options), x, w)


NHWC = ("NHWC", "HWIO", "NHWC")
conv("valid", (2, 5, 6, 3), (3, 2, 3, 4), (1, 1), "VALID", NHWC)
conv("same", (2, 5, 6, 3), (3, 2, 3, 4), (1, 1), "SAME", NHWC)
conv("same.strides", (1, 7, 6, 2), (3, 3, 2, 3), (2, 3), "SAME", NHWC)
conv("same_lower", (1, 6, 6, 1), (2, 4, 1, 2), (1, 2), "SAME_LOWER", NHWC)
conv("explicit", (1, 4, 5, 2), (3, 3, 2, 2), (1, 2), ((2, 1), (0, 3)), NHWC)
conv("negative", (1, 6, 6, 2), (2, 2, 2, 2), (1, 1), ((-1, 2), (1, -2)), NHWC)
conv("rhs_dilation", (1, 7, 8, 2), (3, 2, 2, 2), (1, 1), "VALID", NHWC, rhs_dilation=(2, 3))
conv("lhs_dilation", (1, 4, 3, 2), (3, 3, 2, 2), (1, 2), ((1, 2), (2, 1)), NHWC, lhs_dilation=(2, 3))
conv("both_dilations", (1, 4, 5, 2), (2, 2, 2, 3), (2, 1), ((1, 1), (1, 0)), NHWC, lhs_dilation=(2, 2), rhs_dilation=(2, 3))
conv("groups", (2, 5, 5, 4), (3, 3, 2, 6), (1, 1), "SAME", NHWC, feature_group_count=2)
conv("depthwise", (2, 5, 5, 3), (3, 3, 1, 3), (2, 1), "SAME", NHWC, feature_group_count=3)
conv("multiplier", (2, 5, 5, 3), (3, 3, 1, 6), (2, 1), "SAME", NHWC, feature_group_count=3)
conv("batch_groups", (4, 5, 5, 2), (3, 3, 2, 4), (1, 1), "SAME", NHWC, batch_group_count=2)
conv("pointwise", (2, 3, 4, 3), (1, 1, 3, 5), (1, 1), "VALID", NHWC)
conv("pointwise.strides", (2, 5, 4, 3), (1, 1, 3, 5), (2, 2), "VALID", NHWC)
conv("nchw", (2, 3, 5, 4), (4, 3, 3, 2), (1, 2), "SAME")
conv("mixed", (3, 5, 2, 4), (2, 3, 4, 3), (1, 1), "SAME", ("HWNC", "OHIW", "CNWH"))
conv("1d", (2, 3, 9), (4, 3, 3), (2,), "SAME")
conv("1d.nhc", (2, 9, 3), (3, 3, 4), (2,), "VALID", ("NHC", "HIO", "NHC"), rhs_dilation=(2,))
conv("3d", (1, 2, 4, 3, 4), (2, 2, 2, 3, 2), (1, 2, 1), "SAME")
conv("3d.groups", (1, 3, 3, 3, 4), (2, 2, 2, 2, 4), (1, 1, 2), "VALID", ("NDHWC", "DHWIO", "NDHWC"), feature_group_count=2)
conv("large_window", (1, 2, 2, 2), (3, 3, 2, 2), (1, 1), "VALID", NHWC)
conv("no_images", (0, 4, 4, 2), (3, 3, 2, 2), (1, 1), "VALID", NHWC)

for padding in ("SAME", "VALID"):
    for k, s in ((3, 2), (2, 3), (4, 1)):
        case(f"conv_transpose.{padding}.{k}.{s}", lambda a, b: lax.conv_transpose(a, b, (s, 1), padding), (1, 4, 3, 2), (k, 2, 2, 3))
case("conv_transpose.kernel", lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME", transpose_kernel=True), (1, 4, 3, 2), (3, 3, 3, 2))
case("conv_transpose.explicit", lambda a, b: lax.conv_transpose(a, b, (2,), ((1, 2),), rhs_dilation=(2,)), (2, 5, 2), (3, 2, 2))

case("reduce_window.max", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (1, 2), "SAME"), (5, 6))
case("reduce_window.add", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (2, 1), ((1, 0), (-1, 2)), base_dilation=(2, 1), window_dilation=(1, 2)), (4, 6))
case("reduce_window.mul", lambda x: lax.reduce_window(x, 1.0, lax.mul, (1, 2, 2), (1, 1, 1), "VALID"), (2, 3, 3))


def pool(f, init, window, strides, padding):
    pads = padding if isinstance(padding, str) else ((0, 0), *padding, (0, 0))
    return lambda x: lax.reduce_window(x, init, f, (1, *window, 1), (1, *strides, 1), pads)


for name, f, init in (("max_pool", lax.max, -jnp.inf), ("min_pool", lax.min, jnp.inf)):
    case(name + ".2x2", pool(f, init, (2, 2), (2, 2), "VALID"), (2, 4, 5, 3))
    case(name + ".same", pool(f, init, (3, 2), (2, 1), "SAME"), (1, 5, 4, 2))
    case(name + ".overlapping", pool(f, init, (3, 3), (1, 1), "VALID"), (1, 5, 4, 1))
case("avg_pool.2x2", lambda x: pool(lax.add, 0.0, (2, 2), (2, 2), "VALID")(x) / 4, (2, 4, 5, 3))
case("avg_pool.same", lambda x: pool(lax.add, 0.0, (3, 2), (2, 1), "SAME")(x) / 6, (1, 5, 4, 2))
case("avg_pool.without_pad", lambda x: pool(lax.add, 0.0, (3, 2), (2, 1), "SAME")(x) / pool(lax.add, 0.0, (3, 2), (2, 1), "SAME")(jnp.ones_like(x)), (1, 5, 4, 2))
relu = np.maximum(goldens.grid(7, (1, 6, 6, 2)), 0)  # many equal elements
g = goldens.grid(8, (1, 3, 3, 2))
out.case("max_pool_ties/f64", (relu, g), jax.vjp(pool(lax.max, -jnp.inf, (2, 2), (2, 2), "VALID"), relu)[1](g)[0])

Q, K, V = (2, 3, 4, 5), (2, 4, 2, 5), (2, 4, 2, 5)
MASK = np.random.default_rng(0).random((2, 4, 3, 4)) < 0.7
MASK[:, :, :, 0] = True
attend = nn.dot_product_attention
case("attention.plain", lambda q, k, v: attend(q, k, v), (2, 3, 2, 5), (2, 4, 2, 5), (2, 4, 2, 5))
case("attention.grouped", lambda q, k, v: attend(q, k, v), Q, K, V)
case("attention.single", lambda q, k, v: attend(q, k, v, scale=0.5), (3, 2, 5), (4, 2, 5), (4, 2, 5))
case("attention.causal", lambda q, k, v: attend(q, k, v, is_causal=True), Q, K, V)
case("attention.mask", lambda q, k, v, m: attend(q, k, v, mask=m), Q, K, V, MASK)
case("attention.bias", lambda q, k, v, b: attend(q, k, v, bias=b, is_causal=True), Q, K, V, (1, 4, 3, 4))
case("attention.window", lambda q, k, v: attend(q, k, v, local_window_size=(1, 0)), Q, K, V)
case("attention.lengths", lambda q, k, v: attend(q, k, v, query_seq_lengths=jnp.array([2, 3], jnp.int32), key_value_seq_lengths=jnp.array([4, 1], jnp.int32)), Q, K, V)

for f in (nn.hard_sigmoid, nn.hard_silu, nn.mish, nn.squareplus, nn.sparse_plus, nn.sparse_sigmoid):
    case(f.__name__, f, (3, 5), low=-7.0, high=7.0)
case("log1mexp", nn.log1mexp, (3, 5), low=0.1, high=4.0)
case("glu", nn.glu, (3, 4))
case("glu.axis=0", lambda x: nn.glu(x, axis=0), (4, 3))
case("logmeanexp", nn.logmeanexp, (3, 4))
case("logmeanexp.axis=1", lambda x: nn.logmeanexp(x, axis=1, keepdims=True), (3, 4))
# The first and last windows lie in the padding.
for name, f, init in (("max_pool", lax.max, -jnp.inf), ("min_pool", lax.min, jnp.inf)):
    padded = pool(f, init, (2, 2), (1, 2), ((2, 1), (3, 4)))
    x = goldens.grid(9, (1, 3, 4, 1))
    y, pull = jax.vjp(padded, x)
    g = goldens.grid(10, y.shape)
    out.case(name + "_padded/f64", (x,), y)
    out.case(name + "_padded_vjp/f64", (x, g), pull(g)[0])
# Rows whose biases lie below the logit of keys that are ruled out: some keys of both kinds, all ruled out, one
# of usual size, all seen.
draw = np.random.default_rng(0)
q, k, v, g = (draw.normal(size=(1, n, 1, 3)).astype(np.float32) for n in (4, 5, 5, 4))
mask = np.ones((1, 1, 4, 5), bool)
mask[0, 0, 0, 2:] = mask[0, 0, 1] = mask[0, 0, 2, 0] = False
most = np.finfo(np.float32).max
for name, least in (("lowest", -most), ("above", -0.6 * most), ("equal", -0.7 * most), ("infinite", -np.inf)):
    bias = np.zeros((1, 1, 4, 5), np.float32)
    bias[0, 0, 0] = bias[0, 0, 1] = bias[0, 0, 2, :3] = least
    bias[0, 0, 3] = least if name != "infinite" else 0  # NaN
    y, pull = jax.vjp(lambda *a: attend(*a, bias=jnp.asarray(bias), mask=jnp.asarray(mask)), q, k, v)
    out.case(f"attention_low.{name}/f32", (q, k, v, g, bias, mask), y)
    for operand, share in zip("qkv", pull(g)):
        out.case(f"attention_low.{name}.{operand}/f32", (), share)
out.save()
