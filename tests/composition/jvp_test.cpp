#include "nax/transform/jvp.hpp"

#include "composition/programs.hpp"

namespace composition::jvp_test {

// The tangent of f at x along t.
template <class F>
auto tangent(const F& f, const A& x, const A& t) {
  return jvp(f, std::tuple(x), std::tuple(t)).second;
}

TEST_F(Composition, jvp_jvp_jvp) {
  const A x = in(0), t = in(1);
  auto once = [&](const A& x) { return tangent(wave, x, t); };
  auto twice = [&](const A& x) { return tangent(once, x, t); };
  expect(jvp(twice, std::tuple(x), std::tuple(t)));
}

TEST_F(Composition, jvp_grad_checkpoint) {  // Hessian times vector through recomputation
  expect(jvp(grad(checkpoint(bowl)), std::tuple(in(0)), std::tuple(in(1))));
}

TEST_F(Composition, jvp_vmap_grad) {
  const A x = in(2);
  auto by_example = [&](const A& w) { return vmap(grad(energy), {.in_axes = {none, 0}})(w, x); };
  expect(jvp(by_example, std::tuple(in(0)), std::tuple(in(1))));
}

TEST_F(Composition, vmap_jvp_grad) {  // Hessian times each of four vectors
  const A w = in(0), x = in(2);
  auto gradient = grad([&](const A& w) { return energy(w, x); });
  expect(vmap([&](const A& t) { return tangent(gradient, w, t); })(in(1)));
}

TEST_F(Composition, grad_jvp_vmap) {
  const A t = in(1);
  expect(grad([&](const A& x) { return sum(square(tangent(vmap(bowl), x, t))); })(in(0)));
}

TEST_F(Composition, grad_vmap_jvp) {
  const A t = in(1);
  auto along = [&](const A& row) { return tangent(bowl, row, t); };
  expect(grad([&](const A& x) { return sum(sin(vmap(along)(x))); })(in(0)));
}

TEST_F(Composition, jvp_grad_custom_jvp) {
  auto f = [](const A& x) { return sum(bent(x) * x); };
  expect(jvp(grad(f), std::tuple(in(0)), std::tuple(in(1))));
}

TEST_F(Composition, jvp_vmap_custom_jvp_checkpoint) {
  auto f = [](const A& row) { return sum(checkpoint([](const A& r) { return product(bent(r), r); })(row)); };
  expect(jvp(vmap(f), std::tuple(in(0)), std::tuple(in(1))));
}

}  // namespace composition::jvp_test
