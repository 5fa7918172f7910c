#include "composition/programs.hpp"

namespace composition::custom_test {

TEST_F(Composition, vmap_grad_custom_vjp) {
  expect(vmap(grad([](const A& row) { return sum(scaled(row) * row); }))(in(0)));
}

TEST_F(Composition,
       grad_vmap_custom_vjp) {  // one operand of the custom function is batched, the other is not
  const A x = in(1);
  auto loss = [&](const A& w) { return sum(sin(vmap([&](const A& row) { return weigh(w, row); })(x))); };
  expect(grad(loss)(in(0)));
}

TEST_F(Composition, grad_custom_vjp_both_checkpoint) {
  auto inner = checkpoint([](const A& x, const A& y) { return weigh(x, y) * scaled(x); });
  expect(grad<0, 1>([&](const A& x, const A& y) { return sum(inner(x, y)); })(in(0), in(1)));
}

TEST_F(Composition, grad_grad_custom_vjp) {  // the second gradient differentiates the rule
  expect(grad(grad([](const A& x) { return scaled(x) * x; }))(in(0)));
}

TEST_F(Composition, vmap_grad_grad_custom_vjp) {
  expect(vmap(grad(grad([](const A& x) { return scaled(x) * x; })))(in(0)));
}

TEST_F(Composition, hessian_custom_vjp) {
  expect(hessian([](const A& x) { return square(sum(scaled(x) * x)); })(in(0)));
}

TEST_F(Composition, vmap_hessian_custom_vjp) {
  expect(vmap(hessian([](const A& row) { return square(sum(weigh(row, sin(row)))); }))(in(0)));
}

TEST_F(Composition, vmap_grad_custom_jvp_custom_vjp) {
  auto f = [](const A& row, const A& w) { return sum(scaled(bent(row) * w)); };
  expect(vmap(grad<1>(f), {.in_axes = {0, none}})(in(0), in(1)));
}

TEST_F(Composition, grad_checkpoint_checkpoint_custom_vjp) {
  const A w = in(0);
  auto inner = checkpoint([&](const A& x) { return scaled(layer(w, x)); });
  auto outer = checkpoint([&](const A& x) { return inner(inner(x)) * x; });
  expect(grad([&](const A& x) { return sum(outer(x)); })(in(1)));
}

TEST_F(Composition,
       jvp_grad_vmap_checkpoint_deep) {  // three recomputed layers; Hessian times vector of their weight
  const A w = in(0), x = in(1);
  auto chain = [](const A& w, A x) {
    for (int i = 0; i < 3; ++i) x = checkpoint(layer)(w, x) + x;
    return sum(x * x);
  };
  auto loss = [&](const A& w) { return sum(vmap(chain, {.in_axes = {none, 0}})(w, x)); };
  expect(jvp(grad(loss), std::tuple(w), std::tuple(cos(w))));
}

}  // namespace composition::custom_test
