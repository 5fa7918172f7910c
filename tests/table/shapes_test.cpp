// Shapes: views, joins, splits, repeats, pads.

#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/edit.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/manipulation/split.hpp"
#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "table/harness.hpp"

namespace shapes_test {
using namespace table;
using nax::Shape;

// These are linear: their second derivative is 0, and one order says all.
Row of(std::string name, Real (*f)(const Real&), Shape shape) {
  return row(
      std::move(name), [f](const Operands& x) { return f(x[0]); }, {{{shape}}}, Smooth::once);
}
Row of_many(std::string name, Real (*f)(const Operands&), std::vector<Shape> shapes) {
  std::vector<Operand> operands;
  for (const Shape& shape : shapes) operands.push_back({shape});
  return row(std::move(name), f, {operands}, Smooth::once);
}
#define OF_ONE(call) [](const Real& x) -> Real { return call; }
#define MANY(call) [](const Operands& x) -> Real { return call; }
const Shape cube = {2, 3, 4}, matrix = {3, 4}, line = {6};

const bool views = add({
    of("transpose", OF_ONE(nax::transpose(x)), cube),
    of("transpose.axes=(1,2,0)", OF_ONE(nax::transpose(x, {1, 2, 0})), cube),
    of("transpose.axes=(-1,0,1)", OF_ONE(nax::transpose(x, {-1, 0, 1})), cube),
    of("transpose.0d", OF_ONE(nax::transpose(x)), {}),
    unrecorded(of("permute_dims", OF_ONE(nax::permute_dims(x, {1, 0, 2})), cube)),
    unrecorded(of("matrix_transpose", OF_ONE(nax::matrix_transpose(x)), cube)),
    of("reshape.(4,6)", OF_ONE(nax::reshape(x, {4, 6})), cube),
    of("reshape.(2,-1)", OF_ONE(nax::reshape(x, {2, -1})), cube),
    of("reshape.()", OF_ONE(nax::reshape(x, {})), {1, 1}),
    of("reshape.(0,5)", OF_ONE(nax::reshape(x, {0, 5})), {3, 0}),
    of("ravel", OF_ONE(nax::ravel(x)), cube),
    of("broadcast_to.(2,3,4)", OF_ONE(nax::broadcast_to(x, {2, 3, 4})), {3, 1}),
    of("broadcast_to.(2,2)", OF_ONE(nax::broadcast_to(x, {2, 2})), {}),
    unrecorded(of("broadcast_to.nothing", OF_ONE(nax::broadcast_to(x, {0, 3})), {3})),
    of("squeeze", OF_ONE(nax::squeeze(x)), {1, 3, 1}),
    of("squeeze.axis=-1", OF_ONE(nax::squeeze(x, {.axis = -1})), {1, 3, 1}),
    of("expand_dims.axis=0", OF_ONE(nax::expand_dims(x, 0)), matrix),
    of("expand_dims.axis=-1", OF_ONE(nax::expand_dims(x, -1)), matrix),
    of("expand_dims.axis=(0,2)", OF_ONE(nax::expand_dims(x, {0, 2})), matrix),
    of("moveaxis.0,-1", OF_ONE(nax::moveaxis(x, 0, -1)), cube),
    of("moveaxis.(0,1),(-1,0)", OF_ONE(nax::moveaxis(x, {0, 1}, {-1, 0})), cube),
    of("swapaxes.0,2", OF_ONE(nax::swapaxes(x, 0, 2)), cube),
    of("swapaxes.-1,-2", OF_ONE(nax::swapaxes(x, -1, -2)), cube),
    of("atleast_2d", OF_ONE(nax::atleast_2d(x)), {3}),
    unrecorded(of("atleast_3d", OF_ONE(nax::atleast_3d(x)), {3})),
    of("flip", OF_ONE(nax::flip(x)), cube),
    of("flip.axis=1", OF_ONE(nax::flip(x, {.axis = 1})), cube),
    of("flip.axis=(0,-1)", OF_ONE(nax::flip(x, {.axis = {0, -1}})), cube),
    unrecorded(of("rot90", OF_ONE(nax::rot90(x)), matrix)),
    unrecorded(of("rot90.k", OF_ONE(nax::rot90(x, {.k = -1})), matrix)),
});

const bool joins = add({
    of_many("concatenate.axis=0", MANY(nax::concatenate(x)), {{2, 3}, {1, 3}, {3, 3}}),
    of_many("concatenate.axis=1", MANY(nax::concatenate(x, {.axis = 1})), {{2, 3}, {2, 1}}),
    of_many("concatenate.axis=-1", MANY(nax::concatenate(x, {.axis = -1})), {{2, 1, 3}, {2, 1, 2}}),
    of_many("concatenate.empty", MANY(nax::concatenate(x)), {{0}, {3}}),
    unrecorded(of_many("concatenate.flat", MANY(nax::concatenate(x, {.axis = nax::none})), {{2, 2}, {3}})),
    of_many("stack.axis=0", MANY(nax::stack(x)), {{2, 3}, {2, 3}}),
    of_many("stack.axis=1", MANY(nax::stack(x, {.axis = 1})), {{2, 3}, {2, 3}}),
    of_many("stack.axis=-1", MANY(nax::stack(x, {.axis = -1})), {{2, 3}, {2, 3}, {2, 3}}),
    of_many("stack.0d", MANY(nax::stack(x)), {{}, {}}),
    of_many("vstack", MANY(nax::vstack(x)), {{3}, {3}}),
    of_many("hstack", MANY(nax::hstack(x)), {{2, 1}, {2, 3}}),
    unrecorded(of_many("dstack", MANY(nax::dstack(x)), {{2, 3}, {2, 3}})),
    unrecorded(of_many("column_stack", MANY(nax::column_stack(x)), {{3}, {3, 2}})),
    unrecorded(of("split",
                  OF_ONE(nax::concatenate(nax::split(x, {1, 4}, {.axis = 1}), {.axis = 1})(
                      nax::_, nax::slice(nax::_, nax::_, -1))),
                  {2, 6})),
    unrecorded(of("array_split", OF_ONE(nax::array_split(x, 4)[1] * 2.0 - nax::array_split(x, 4)[0]), line)),
    unrecorded(of("unstack", OF_ONE(nax::stack(nax::unstack(x, {.axis = 1}))), matrix)),
    unrecorded(of_many("append", MANY(nax::append(x[0], x[1], {.axis = 0})), {{2, 3}, {1, 3}})),
    unrecorded(of("delete", OF_ONE(nax::delete_(x, 1, {.axis = 1})), matrix)),
    unrecorded(of_many("insert", MANY(nax::insert(x[0], 1, x[1], {.axis = 0})), {{2, 3}, {3}})),
    unrecorded(of("resize", OF_ONE(nax::resize(x, {2, 5})), {3})),
});

const bool repeats = add({
    of("tile.2", OF_ONE(nax::tile(x, {2})), matrix),
    of("tile.(2,1,3)", OF_ONE(nax::tile(x, {2, 1, 3})), matrix),
    of("repeat.2", OF_ONE(nax::repeat(x, 2)), {2, 3}),
    of("repeat.3.axis=1", OF_ONE(nax::repeat(x, 3, {.axis = 1})), {2, 3}),
    of("repeat.[1,0,2].axis=0", OF_ONE(nax::repeat(x, std::vector<int>{1, 0, 2}, {.axis = 0})), {3, 2}),
    of("roll.2", OF_ONE(nax::roll(x, 2)), matrix),
    of("roll.-1.axis=1", OF_ONE(nax::roll(x, -1, {.axis = 1})), matrix),
    of("roll.(1,2).axis=(0,1)", OF_ONE(nax::roll(x, {1, 2}, {.axis = {0, 1}})), matrix),
    of("pad.((1,2),(0,1))", OF_ONE(nax::pad(x, {{1, 2}, {0, 1}})), matrix),
    of("pad.((1,2),(0,1)).constant_values=2.5",
       OF_ONE(nax::pad(x, {{1, 2}, {0, 1}}, {.constant_values = 2.5})), matrix),
    of("pad.((2,1),(1,3)).mode=reflect", OF_ONE(nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "reflect"})), matrix),
    of("pad.((2,1),(1,3)).mode=symmetric", OF_ONE(nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "symmetric"})),
       matrix),
    of("pad.((2,1),(1,3)).mode=edge", OF_ONE(nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "edge"})), matrix),
    of("pad.((2,1),(1,3)).mode=wrap", OF_ONE(nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "wrap"})), matrix),
    of("tril", OF_ONE(nax::tril(x)), {3, 4}),
    of("tril.k=1", OF_ONE(nax::tril(x, {.k = 1})), {2, 3, 3}),
    of("tril.k=-1", OF_ONE(nax::tril(x, {.k = -1})), {4, 3}),
    of("triu", OF_ONE(nax::triu(x)), {3, 4}),
    of("triu.k=1", OF_ONE(nax::triu(x, {.k = 1})), {2, 3, 3}),
    of("triu.k=-2", OF_ONE(nax::triu(x, {.k = -2})), {4, 3}),
    of("diag.vector", OF_ONE(nax::diag(x)), {3}),
    of("diag.vector.k=1", OF_ONE(nax::diag(x, {.k = 1})), {3}),
    of("diag.vector.k=-2", OF_ONE(nax::diag(x, {.k = -2})), {2}),
    of("diag.matrix", OF_ONE(nax::diag(x)), {3, 4}),
    of("diag.matrix.k=1", OF_ONE(nax::diag(x, {.k = 1})), {3, 4}),
    of("diag.matrix.k=-1", OF_ONE(nax::diag(x, {.k = -1})), {3, 4}),
    of("diagonal.axis1=1.axis2=2", OF_ONE(nax::diagonal(x, {.axis1 = 1, .axis2 = 2})), {2, 3, 3}),
    unrecorded(of("diagflat", OF_ONE(nax::diagflat(x)), {2, 2})),
    of("trace.3x4", OF_ONE(nax::trace(x)), {3, 4}),
});

}  // namespace shapes_test

#undef OF_ONE
#undef MANY
