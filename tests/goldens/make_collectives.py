"""Every collective over an axis of four, under vmap and pmap, with its derivative on either side. float32.

Records: `<case>/in0`, ... are shared; `<case>/vmap/out` and `<case>/pmap/out` are what JAX gives under each. Where JAX
refuses under vmap (a partial ppermute) there is only the record of pmap. The leading axis is the mapped one. Each case
with a derivative is there as `<case>.grad_inside` and `<case>.grad_outside`:

    inside:   map(grad(lambda x, w: sum(f(x) * w)))(x, w)
    outside:  grad(lambda x: sum(map(lambda x, w: f(x) * w)(x, w)))(x)
"""

import goldens
import jax
import jax.numpy as jnp
import numpy as np
from goldens import grid
from jax import grad, lax, pmap, vmap

out = goldens.Writer("collectives")
N = 4


def under(name, f, inputs, maps=("vmap", "pmap")):
    inputs = [np.asarray(a, np.float32) if np.asarray(a).dtype.kind == "f" else np.asarray(a, np.int32) for a in inputs]
    for i, a in enumerate(inputs):
        out.put(f"{name}/in{i}", a)
    results = {}
    for m in maps:
        wrap = {"vmap": vmap, "pmap": pmap}[m]
        try:
            results[m] = jax.tree.leaves(f(wrap)(*[jnp.asarray(a) for a in inputs]))
        except Exception as e:  # recorded by its absence
            print(f"{name} under {m}: {type(e).__name__}: {str(e).splitlines()[0][:90]}")
            continue
        for i, r in enumerate(results[m]):
            out.put(f"{name}/{m}/out" + (str(i) if len(results[m]) > 1 else ""), r)
    if len(results) == 2:
        for a, b in zip(results["vmap"], results["pmap"], strict=True):
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-5, atol=1e-6):
                print(name, "differs between vmap and pmap:", a.shape, b.shape)


def collective(name, f, shape, derivative=True, seed=[0]):
    """f takes one device's part, of this shape."""
    seed[0] += 10
    x = grid(5000 + seed[0], (N, *shape))
    under(name, lambda wrap: wrap(f, axis_name="i"), [x])
    if not derivative:
        return
    y = jax.eval_shape(pmap(f, axis_name="i"), jax.ShapeDtypeStruct(x.shape, jnp.float32))
    w = grid(5001 + seed[0], y.shape)

    def weighed(x, w):
        return f(jnp.sin(x) * x) * w

    under(name + ".grad_inside", lambda wrap: wrap(grad(lambda x, w: jnp.sum(weighed(x, w))), axis_name="i"), [x, w])
    under(name + ".grad_outside", lambda wrap: grad(lambda x, w: jnp.sum(wrap(weighed, axis_name="i")(x, w))), [x, w])
    under(name + ".jvp", lambda wrap: lambda x, t: jax.jvp(wrap(lambda x: f(jnp.sin(x) * x), axis_name="i"), (x,), (t,))[1],
          [x, grid(5002 + seed[0], x.shape)])


CYCLE = [(0, 1), (1, 2), (2, 3), (3, 0)]
MIRROR = [(i, N - 1 - i) for i in range(N)]
PARTIAL = [(0, 2), (3, 1)]

for shape in ((2, 3), ()):
    tag = ".0d" if shape == () else ""
    collective("psum" + tag, lambda x: lax.psum(x, "i"), shape)
    collective("pmean" + tag, lambda x: lax.pmean(x, "i"), shape)
    collective("pmax" + tag, lambda x: lax.pmax(x, "i"), shape, derivative=False)
    collective("pmin" + tag, lambda x: lax.pmin(x, "i"), shape, derivative=False)
    collective("all_gather" + tag, lambda x: lax.all_gather(x, "i"), shape)
    collective("ppermute.cycle" + tag, lambda x: lax.ppermute(x, "i", CYCLE), shape)
under("psum.empty", lambda wrap: wrap(lambda x: lax.psum(x, "i"), axis_name="i"), [np.zeros((N, 0, 3))],
      maps=("vmap",))  # pmap's empty result cannot be read back in this JAX
collective("all_gather.axis=1", lambda x: lax.all_gather(x, "i", axis=1), (2, 3))
collective("all_gather.axis=2", lambda x: lax.all_gather(x, "i", axis=2), (2, 3))
collective("all_gather.tiled", lambda x: lax.all_gather(x, "i", tiled=True), (2, 3))
collective("all_gather.axis=1.tiled", lambda x: lax.all_gather(x, "i", axis=1, tiled=True), (2, 3))
collective("psum_scatter", lambda x: lax.psum_scatter(x, "i"), (4, 3))
collective("psum_scatter.scatter_dimension=1", lambda x: lax.psum_scatter(x, "i", scatter_dimension=1), (2, 4))
collective("psum_scatter.tiled", lambda x: lax.psum_scatter(x, "i", tiled=True), (8, 3))
collective("psum_scatter.scatter_dimension=1.tiled",
           lambda x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True), (3, 8))
for split, concat, shape in ((0, 0, (4, 3)), (0, 1, (4, 3)), (1, 0, (3, 4)), (1, 1, (3, 4)), (0, 2, (4, 2, 3)), (2, 0, (2, 3, 4))):
    collective(f"all_to_all.{split},{concat}", lambda x: lax.all_to_all(x, "i", split, concat), shape)
for split, concat, shape in ((0, 0, (8, 3)), (0, 1, (8, 3)), (1, 0, (3, 8)), (1, 1, (3, 8))):
    collective(f"all_to_all.{split},{concat}.tiled", lambda x: lax.all_to_all(x, "i", split, concat, tiled=True), shape)
collective("ppermute.mirror", lambda x: lax.ppermute(x, "i", MIRROR), (2, 3))
collective("ppermute.partial", lambda x: lax.ppermute(x, "i", PARTIAL), (2, 3))
collective("axis_index", lambda x: x * 0 + lax.axis_index("i"), (2,), derivative=False)
collective("axis_size", lambda x: x * 0 + lax.axis_size("i"), (2,), derivative=False)

# The derivative where the output is used in full, as a normalisation would.
x = grid(7000, (N, 3))
under("normalise", lambda wrap: wrap(lambda x: x / lax.psum(jnp.exp(x), "i"), axis_name="i"), [x])
under("normalise.grad_inside",
      lambda wrap: wrap(grad(lambda x: jnp.sum(jnp.sin(x / lax.psum(jnp.exp(x), "i")))), axis_name="i"), [x])
under("normalise.grad_outside",
      lambda wrap: grad(lambda x: jnp.sum(jnp.sin(wrap(lambda x: x / lax.psum(jnp.exp(x), "i"), axis_name="i")(x)))), [x])

# An unmapped operand: grad inside gives each its own gradient, grad outside the sum over the axis.
w = grid(7001, (3,))
under("unmapped.grad_inside",
      lambda wrap: wrap(grad(lambda w, x: jnp.sum(lax.pmean(jnp.sin(w * x), "i") * x)), axis_name="i", in_axes=(None, 0)), [w, x])
under("unmapped.grad_outside",
      lambda wrap: grad(lambda w, x: jnp.sum(
          wrap(lambda w, x: lax.pmean(jnp.sin(w * x), "i") * x, axis_name="i", in_axes=(None, 0))(w, x))), [w, x])
under("unmapped.psum_constant", lambda wrap: wrap(lambda w, x: lax.psum(w, "i") + x, axis_name="i", in_axes=(None, 0)), [w, x])
under("out_axes=none", lambda wrap: wrap(lambda x: lax.psum(x, "i"), axis_name="i", out_axes=None), [x])
under("out_axes=1", lambda wrap: wrap(lambda x: x + lax.psum(x, "i"), axis_name="i", out_axes=1), [x])
under("in_axes=1", lambda wrap: wrap(lambda x: x + lax.psum(x, "i"), axis_name="i", in_axes=1), [grid(7005, (3, N))])

# A tree, integers, and two axes: the outer is the map of the record, the inner one a vmap.
under("psum.tree", lambda wrap: wrap(lambda a, b: lax.psum((a, jnp.sum(b)), "i"), axis_name="i"), [x, grid(7002, (N, 2))])
under("psum.int", lambda wrap: wrap(lambda x: lax.psum(x, "i"), axis_name="i"), [np.arange(12).reshape(N, 3)])
under("pmean.int", lambda wrap: wrap(lambda x: lax.pmean(x, "i"), axis_name="i"), [np.arange(12).reshape(N, 3)])
x2 = grid(7003, (N, 3, 2))
for name, f in (("psum.i", lambda x: lax.psum(x, "i")), ("psum.j", lambda x: lax.psum(x, "j")),
                ("psum.ij", lambda x: lax.psum(x, ("i", "j"))), ("pmean.ij", lambda x: lax.pmean(x, ("i", "j"))),
                ("pmax.ij", lambda x: lax.pmax(x, ("i", "j"))), ("all_gather.i", lambda x: lax.all_gather(x, "i")),
                ("all_gather.j", lambda x: lax.all_gather(x, "j")),
                ("axis_index.ij", lambda x: x * 0 + lax.axis_index("i") * 10 + lax.axis_index("j"))):
    under("two_axes." + name, lambda wrap: wrap(vmap(f, axis_name="j"), axis_name="i"), [x2])
    if name.startswith(("psum", "pmean", "all_gather")):
        under(f"two_axes.{name}.grad_inside",
              lambda wrap: wrap(vmap(grad(lambda x: jnp.sum(jnp.sin(f(x * x)))), axis_name="j"), axis_name="i"), [x2])
        under(f"two_axes.{name}.grad_outside",
              lambda wrap: grad(lambda x: jnp.sum(jnp.sin(wrap(vmap(lambda x: f(x * x), axis_name="j"), axis_name="i")(x)))), [x2])

# psum's transpose: cotangents 1, 10, 100, 1000 on the four. 1111 on each shows that they are summed.
for name, f in (("psum", lambda x: lax.psum(x, "i")), ("pmean", lambda x: lax.pmean(x, "i"))):
    ones, weights = np.ones(N), 10.0 ** np.arange(N)
    under(f"transpose.{name}.inside", lambda wrap: wrap(grad(lambda x, w: f(x) * w), axis_name="i"), [ones, weights])
    under(f"transpose.{name}.outside", lambda wrap: grad(lambda x, w: jnp.sum(wrap(lambda x, w: f(x) * w, axis_name="i")(x, w))),
          [ones, weights])
out.save()
