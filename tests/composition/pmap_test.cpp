#include "nax/parallel/pmap.hpp"

#include "composition/programs.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "support/four_devices.hpp"

namespace composition::pmap_test {

TEST_F(Composition, pmap_grad_checkpoint) { expect(pmap(grad(checkpoint(bowl)))(in(0))); }

TEST_F(Composition, pmap_vmap_grad) {  // gradients by example, on each device
  expect(pmap(vmap(grad(energy), {.in_axes = {none, 0}}), {.in_axes = {none, 0}})(in(0), in(1)));
}

TEST_F(Composition, pmap_vmap_hessian) { expect(pmap(vmap(hessian(bowl)))(in(0))); }

TEST_F(Composition, grad_pmap_vmap) {
  const A x = in(1);
  const auto mapped = pmap(vmap(energy, {.in_axes = {none, 0}}), {.in_axes = {none, 0}});
  expect(grad([&](const A& w) { return sum(square(mapped(w, x))); })(in(0)));
}

TEST_F(Composition, grad_pmap_checkpoint) {
  expect(grad([](const A& x) { return sum(sin(pmap(checkpoint(bowl))(x))); })(in(0)));
}

TEST_F(Composition, grad_pmap_custom_vjp) {
  const auto mapped = pmap([](const A& row) { return scaled(row) * row; });
  expect(grad([&](const A& x) { return sum(square(mapped(x))); })(in(0)));
}

TEST_F(Composition, pmap_grad_vmap_custom_vjp) {
  auto of_row = [](const A& row) { return sum(scaled(row) * row); };
  expect(pmap(grad([&](const A& x) { return sum(square(vmap(of_row)(x))); }))(in(0)));
}

TEST_F(Composition, jvp_pmap_grad) { expect(jvp(pmap(grad(bowl)), std::tuple(in(0)), std::tuple(in(1)))); }

TEST_F(Composition, grad_pmap_grad) {
  expect(grad([](const A& x) { return sum(square(pmap(grad(bowl))(x))); })(in(0)));
}

TEST_F(Composition, vmap_pmap_grad) { expect(vmap(pmap(grad(bowl)))(in(0))); }

TEST_F(Composition, hessian_pmap_checkpoint) {
  expect(hessian([](const A& x) { return square(sum(pmap(checkpoint(bowl))(x))); })(in(0)));
}

TEST_F(Composition, jacfwd_pmap_vmap) {
  const A w = in(1);
  expect(jacfwd([&](const A& x) { return pmap(vmap(bowl))(x(_, newaxis, _) * w); })(in(0)));
}

TEST_F(Composition, jacrev_pmap_custom_jvp) {
  expect(jacrev(pmap([](const A& row) { return sum(bent(row) * row); }))(in(0)));
}

}  // namespace composition::pmap_test
