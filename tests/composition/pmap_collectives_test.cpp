#include "composition/programs.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/parallel/pmap.hpp"
#include "support/four_devices.hpp"

namespace composition::pmap_collectives_test {

TEST_F(Composition, pmap_pmean_grad_vmap) {  // the training idiom: local loss, mean of the gradients
  auto step = [](const A& w, const A& x, const A& y) {
    auto loss = [&](const A& w) { return -mean(vmap(error, {.in_axes = {none, 0, 0}})(w, x, y)); };
    return pmean(grad(loss)(w), "devices");
  };
  expect(pmap(step, {.in_axes = {none, 0, 0}, .axis_name = "devices"})(in(0), in(1), in(2)));
}

// A collective inside a differentiated and recomputed function.
A summed(const A& x, const A& w) {
  return sum(psum(checkpoint([](const A& x) { return sin(x) * x; })(x), "i") * w);
}

TEST_F(Composition, pmap_grad_psum_checkpoint) {
  expect(pmap(grad(summed), {.axis_name = "i"})(in(0), in(1)));
}

TEST_F(Composition, vmap_grad_psum_checkpoint) {
  expect(vmap(grad(summed), {.axis_name = "i"})(in(0), in(1)));
}

TEST_F(Composition, pmap_vmap_psum_both_grad) {  // two named axes, and both at once
  auto inner = [](const A& x) {
    const A y = psum(tanh(x), {"i", "j"}) + pmean(x * x, "j");
    return sum(sin(y) * x);
  };
  expect(pmap(vmap(grad(inner), {.axis_name = "j"}), {.axis_name = "i"})(in(0)));
}

TEST_F(Composition, jvp_pmap_psum_grad) {
  auto inner = grad([](const A& row) { return sum(sin(psum(row, "i")) * row); });
  expect(jvp(pmap(inner, {.axis_name = "i"}), std::tuple(in(0)), std::tuple(in(1))));
}

TEST_F(Composition, grad_pmap_grad_pmean) {  // grad on both sides of pmap, a collective within
  const A w = in(1);
  auto inner = [](const A& x, const A& w) {
    return grad([&](const A& x) { return sum(sin(pmean(x, "i")) * x) * sum(w); })(x);
  };
  const auto mapped = pmap(inner, {.axis_name = "i"});
  expect(grad([&](const A& x) { return sum(square(mapped(x, w))); })(in(0)));
}

}  // namespace composition::pmap_collectives_test
