#include "composition/programs.hpp"
#include "nax/numpy/indexing/indexing.hpp"

namespace composition::grad_test {

TEST_F(Composition, vmap_grad_grad_grad) { expect(vmap(grad(grad(grad(wave))))(in(0))); }

TEST_F(Composition, grad_vmap_grad) {
  expect(grad([](const A& x) { return sum(square(vmap(grad(wave))(x))); })(in(0)));
}

TEST_F(Composition, grad_vmap_grad_unbatched) {  // w is shared by the examples
  const A x = in(1);
  auto loss = [&](const A& w) {
    return sum(square(vmap(grad([&](const A& row) { return sum(sin(w * row) * row); }))(x)));
  };
  expect(grad(loss)(in(0)));
}

TEST_F(Composition, vmap_grad_vmap) {
  expect(vmap(grad([](const A& row) { return square(sum(vmap(wave)(row))); }))(in(0)));
}

TEST_F(Composition, grad_vmap_checkpoint) {
  const A x = in(1);
  auto loss = [&](const A& w) { return mean(vmap(checkpoint(energy), {.in_axes = {none, 0}})(w, x)); };
  expect(grad(loss)(in(0)));
}

TEST_F(Composition, vmap_vmap_grad) {  // every w with every x
  expect(vmap(vmap(grad(energy), {.in_axes = {none, 0}}), {.in_axes = {0, none}})(in(0), in(1)));
}

TEST_F(Composition,
       vmap_axes_grad_grad) {  // x by its last axis; the result's new axis is the last; gradient of <grad, v>
  auto inner = [](const A& w, const A& x, const A& v) { return sum(grad(energy)(w, x)(_, 0) * v); };
  expect(vmap(grad(inner), {.in_axes = {none, -1, 0}, .out_axes = -1})(in(0), in(1), in(2)));
}

}  // namespace composition::grad_test
