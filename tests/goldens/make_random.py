"""Draws of jax.random with its default generator (threefry2x32, partitionable).

Cases are named after the call. A key is recorded as its two uint32 words, 64-bit integers as (high, low) uint32 words
along a last axis. Seeds are made with 64-bit types on, so that all 64 bits of a seed count; draws of 32 bits and less
with them off (nax's defaults), draws of 64 bits with them on. Unless a record says otherwise the key is `key(42)`.
"""

import goldens
import jax
import jax.numpy as jnp
import numpy as np
from goldens import SHORT
from jax import random, vmap

assert jax.config.jax_threefry_partitionable
out = goldens.Writer("random")


def key(seed):
    with jax.enable_x64(True):
        return random.key(seed)


def words(k):
    return np.asarray(random.key_data(k))


def put(name, draw, wide=False):
    """Records draw(); `wide` turns 64-bit types on around it."""
    with jax.enable_x64(wide):
        value = draw()
        value = words(value) if jnp.issubdtype(value.dtype, jax.dtypes.prng_key) else np.asarray(value)
    if value.dtype in (np.uint64, np.int64):
        out.words(name + "/words", value)
    else:
        out.put(name, value)


K = key(42)

# --- keys ---
for seed in (0, 1, 42, -1, -12345, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 5, 2**63 - 1, -(2**63)):
    put(f"key/{seed}", lambda: key(seed))
    put(f"split/{seed}", lambda: random.split(key(seed)))
    put(f"bits/{seed}", lambda: random.bits(key(seed), (5,)))
for n in (1, 2, 3, 5, 7, 16):
    put(f"split/42,{n}", lambda: random.split(K, n))
put("split/42,(2,3)", lambda: random.split(K, (2, 3)))
put("split/42,3/split/[1],2", lambda: random.split(random.split(K, 3)[1], 2))
for data in (0, 1, 7, 12345, 2**31, 2**32 - 1):
    put(f"fold_in/42,{data}", lambda: random.fold_in(K, np.uint32(data)))
put("fold_in/0,7/fold_in/3", lambda: random.fold_in(random.fold_in(key(0), 7), 3))

# --- bits ---
SHAPES = ((), (1,), (2,), (3,), (7,), (8,), (3, 5), (2, 3, 4), (0,), (2, 0), (101,))


def text(shape):
    return "(" + ",".join(map(str, shape)) + ")"


for shape in SHAPES:
    put(f"bits/u32/{text(shape)}", lambda: random.bits(K, shape, np.uint32))
for t in (np.uint8, np.uint16):
    put(f"bits/{SHORT[t.__name__]}/(9,)", lambda: random.bits(K, (9,), t))
for shape in ((), (3,), (3, 5)):
    put(f"bits/u64/{text(shape)}", lambda: random.bits(K, shape, np.uint64), True)

# --- floating draws ---
FLOATS = {"f32": jnp.float32, "f64": jnp.float64, "f16": jnp.float16, "bf16": jnp.bfloat16}
CONTINUOUS = {
    "uniform": lambda k, s, t: random.uniform(k, s, t),
    "uniform.minval=-3.maxval=5": lambda k, s, t: random.uniform(k, s, t, -3, 5),
    "uniform.minval=1.maxval=1.5": lambda k, s, t: random.uniform(k, s, t, 1, 1.5),
    "normal": lambda k, s, t: random.normal(k, s, t),
    "gumbel": lambda k, s, t: random.gumbel(k, s, t),
    "exponential": lambda k, s, t: random.exponential(k, s, t),
    "laplace": lambda k, s, t: random.laplace(k, s, t),
    "cauchy": lambda k, s, t: random.cauchy(k, s, t),
    "logistic": lambda k, s, t: random.logistic(k, s, t),
    "truncated_normal.-2,2": lambda k, s, t: random.truncated_normal(k, -2, 2, s, t),
    "truncated_normal.-0.5,3": lambda k, s, t: random.truncated_normal(k, -0.5, 3, s, t),
    "rayleigh": lambda k, s, t: random.rayleigh(k, 1.5, s, t),
    "pareto.3": lambda k, s, t: random.pareto(k, 3.0, s, t),
}
for name, f in CONTINUOUS.items():
    for short, t in FLOATS.items():
        if short in ("f16", "bf16") and not name.startswith(("uniform", "normal")):
            continue
        put(f"{name}/{short}/(4,5)", lambda: f(K, (4, 5), t), short == "f64")
        if short[0] == "f" and short != "f16":
            put(f"{name}/{short}/()", lambda: f(K, (), t), short == "f64")
for short in ("f32", "f64"):
    for shape in ((101,), (0,), (3, 1, 2)):
        put(f"uniform/{short}/{text(shape)}", lambda: random.uniform(K, shape, FLOATS[short]), short == "f64")
        put(f"normal/{short}/{text(shape)}", lambda: random.normal(K, shape, FLOATS[short]), short == "f64")
for seed in (0, -1, 2**32 + 5):
    put(f"uniform/f32/(5,)/seed={seed}", lambda: random.uniform(key(seed), (5,)))
    put(f"normal/f32/(5,)/seed={seed}", lambda: random.normal(key(seed), (5,)))
put("normal/f32/(1000,)", lambda: random.normal(K, (1000,)))  # tails included

# --- integers ---
def bound(value, t):
    return np.uint32(value) if t == np.uint32 else value  # past int32 a Python int is refused


RANGES = {
    np.int32: ((0, 10), (-5, 5), (0, 1), (0, 2**31 - 1), (-(2**31), 2**31 - 1), (3, 3), (7, 2), (100, 1000003)),
    np.uint8: ((0, 10), (0, 255), (0, 256), (17, 201)), np.int8: ((-128, 127), (-3, 4)),
    np.uint16: ((0, 1000),), np.int16: ((-1000, 1000),), np.uint32: ((0, 10), (5, 2**32 - 1)),
}
for t, ranges in RANGES.items():
    for low, high in ranges:
        put(f"randint.{low},{high}/{SHORT[t.__name__]}/(12,)", lambda: random.randint(
            K, (12,), bound(low, t), bound(high, t), t))
for low, high in ((0, 10), (-5, 5), (0, 10**12), (-(2**63), 2**63 - 1)):
    put(f"randint.{low},{high}/i64/(7,)", lambda: random.randint(K, (7,), low, high, np.int64), True)
put("randint.0,10/i32/()", lambda: random.randint(K, (), 0, 10, np.int32))
put("randint.0,10/i32/(3,5)", lambda: random.randint(K, (3, 5), 0, 10, np.int32))
put("randint.[0,10,-7],[3,20,100]/i32/(2,3)", lambda: random.randint(
    K, (2, 3), jnp.array([0, 10, -7]), jnp.array([3, 20, 100]), np.int32))
for p in (0.0, 0.3, 0.5, 1.0):
    put(f"bernoulli.{p:g}/(24,)", lambda: random.bernoulli(K, p, (24,)))
put("bernoulli.0.3/()", lambda: random.bernoulli(K, 0.3))
put("bernoulli.[0.1,0.5,0.9]/(4,3)", lambda: random.bernoulli(K, jnp.array([0.1, 0.5, 0.9]), (4, 3)))
put("rademacher/i32/(20,)", lambda: random.rademacher(K, (20,), np.int32))
put("rademacher/f32/(20,)", lambda: random.rademacher(K, (20,), np.float32))

# --- permutations and choices ---
for n in (1, 2, 5, 10, 64, 1000, 2000):  # past 1625 JAX shuffles twice
    put(f"permutation/{n}", lambda: random.permutation(K, n))
put("permutation/60000/first64", lambda: random.permutation(K, 60000)[:64])
put("permutation/60000/last64", lambda: random.permutation(K, 60000)[-64:])
put("permutation/10/seed=0", lambda: random.permutation(key(0), 10))
MATRIX = (np.arange(12, dtype=np.float32) / 4).reshape(4, 3)
out.put("matrix/in0", MATRIX)
put("permutation/matrix", lambda: random.permutation(K, MATRIX))
put("permutation/matrix.axis=1", lambda: random.permutation(K, MATRIX, axis=1))
put("permutation/matrix.axis=0.independent", lambda: random.permutation(K, MATRIX, axis=0, independent=True))
put("permutation/matrix.axis=1.independent", lambda: random.permutation(K, MATRIX, axis=1, independent=True))
P = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
out.put("p/in0", P)
put("choice/10/(5,)", lambda: random.choice(K, 10, (5,)))
put("choice/10/()", lambda: random.choice(K, 10))
put("choice/10/(2,3)", lambda: random.choice(K, 10, (2, 3)))
put("choice/10/(5,).replace=false", lambda: random.choice(K, 10, (5,), replace=False))
put("choice/matrix/(6,)", lambda: random.choice(K, MATRIX, (6,)))
put("choice/matrix/(3,).replace=false", lambda: random.choice(K, MATRIX, (3,), replace=False))
put("choice/matrix/(5,).axis=1", lambda: random.choice(K, MATRIX, (5,), axis=1))
put("choice/4/(12,).p", lambda: random.choice(K, 4, (12,), p=P))
put("choice/4/(3,).replace=false.p", lambda: random.choice(K, 4, (3,), replace=False, p=P))
LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], np.float32))
out.put("logits/in0", LOGITS)
put("categorical/logits", lambda: random.categorical(K, LOGITS))
put("categorical/logits.axis=0", lambda: random.categorical(K, LOGITS, axis=0))
put("categorical/logits.shape=(5,2)", lambda: random.categorical(K, LOGITS, shape=(5, 2)))
put("categorical/logits[0].shape=(20,)", lambda: random.categorical(K, LOGITS[0], shape=(20,)))

# --- the rest of the family, from the ones above ---
put("ball/f32/3,(4,)", lambda: random.ball(K, 3, shape=(4,)))
put("weibull_min.1.5,2/f32/(6,)", lambda: random.weibull_min(K, 1.5, 2.0, (6,)))
put("triangular.-1,0.5,2/f32/(6,)", lambda: random.triangular(K, -1.0, 0.5, 2.0, (6,)))
put("lognormal.0.5/f32/(6,)", lambda: random.lognormal(K, 0.5, (6,)))
put("geometric.0.3/i32/(8,)", lambda: random.geometric(K, 0.3, (8,), np.int32))
put("orthogonal/f32/3", lambda: random.orthogonal(K, 3))

# --- batches of keys: as a loop over split(key(42), 4) ---
BATCH = random.split(K, 4)
BATCHED = {
    "split": lambda k: random.split(k), "split,3": lambda k: random.split(k, 3), "fold_in,7": lambda k: random.fold_in(k, 7),
    "bits": lambda k: random.bits(k, (3,)), "uniform": lambda k: random.uniform(k, (3,)),
    "normal": lambda k: random.normal(k, (2, 3)), "randint.0,10": lambda k: random.randint(k, (5,), 0, 10, np.int32),
    "bernoulli.0.3": lambda k: random.bernoulli(k, 0.3, (5,)), "permutation,7": lambda k: random.permutation(k, 7),
    "choice,10.replace=false": lambda k: random.choice(k, 10, (3,), replace=False),
    "categorical": lambda k: random.categorical(k, LOGITS), "gumbel": lambda k: random.gumbel(k, (3,)),
    "truncated_normal.-2,2": lambda k: random.truncated_normal(k, -2, 2, (3,)),
}
for name, f in BATCHED.items():
    put(f"vmap/{name}", lambda: vmap(f)(BATCH))
put("vmap/fold_in/range(5)", lambda: vmap(lambda i: random.fold_in(K, i))(jnp.arange(5)))
put("vmap/unbatched/normal+x", lambda: vmap(lambda x: random.normal(K, (3,)) + x)(jnp.arange(4.0)))
put("vmap/vmap/uniform", lambda: vmap(vmap(lambda k: random.uniform(k, (2,))))(random.split(K, (2, 3))))

# --- initialisers ---
INITIALIZERS = ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform", "lecun_normal", "orthogonal")
for name in INITIALIZERS:
    put(f"initializers/{name}/(5,4)", lambda: getattr(jax.nn.initializers, name)()(K, (5, 4), jnp.float32))
    if name != "orthogonal":
        put(f"initializers/{name}/(3,3,2,4)", lambda: getattr(jax.nn.initializers, name)()(K, (3, 3, 2, 4), jnp.float32))
out.save()

# One check on the switch: for all but `choice` and the default randint it changes no 32-bit draw.
with jax.enable_x64(True):
    for name, draw in (("permutation", lambda: random.permutation(K, 1000)), ("normal", lambda: random.normal(K, (9,), jnp.float32))):
        wide = np.asarray(draw())
        with jax.enable_x64(False):
            assert np.array_equal(wide, np.asarray(draw())), name
print("key(-1) with 64-bit types off:", words(random.key(-1)), "on:", words(key(-1)))
