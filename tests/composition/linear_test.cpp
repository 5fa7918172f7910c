#include "composition/programs.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/products/matmul.hpp"

// Pullbacks and pushforwards as functions, trees, where, loops.
namespace composition::linear_test {

TEST_F(Composition, vmap_vjp_checkpoint) {  // one vjp, four cotangents at once
  const A w = in(2);
  const auto both = vjp(checkpoint([&](const A& x) { return layer(w, x); }), in(0));
  expect(vmap([&](const A& g) { return std::get<0>(both.second(g)); })(in(1)));
}

TEST_F(Composition,
       vmap_value_and_grad_tree) {  // a tree of parameters; three outputs: values, gradients of w and b
  struct Params {
    A w, b;
  };
  auto loss = [](const Params& p, const A& x) { return sum(square(tanh(matmul(p.w, x) + p.b))); };
  const auto [value, g] = vmap(value_and_grad(loss), {.in_axes = {none, 0}})(Params{in(0), in(1)}, in(2));
  expect(std::tuple(value, g.w, g.b));
}

TEST_F(Composition, grad_vjp_jvp) {
  const A t = in(1);
  auto inner = [&](const A& x) {
    auto along = [&](const A& x) { return jvp(bowl, std::tuple(x), std::tuple(t)).second; };
    const auto [y, pullback] = vjp(along, x);
    return sum(std::get<0>(pullback(y)) * t);
  };
  expect(grad(inner)(in(0)));
}

TEST_F(Composition, vmap_grad_where_grad) {
  expect(vmap(grad([](const A& a) { return where(a > 0, grad(wave)(a), a * a * a); }))(in(0)));
}

TEST_F(Composition, vmap_grad_stop_gradient_grad) {
  expect(vmap(grad([](const A& row) { return sum(stop_gradient(row) * grad(bowl)(row)); }))(in(0)));
}

TEST_F(Composition, grad_vmap_loop_jvp) {  // dot, slices and a matrix chain
  const A x = in(1);
  auto chain = [](const A& w, A x) {
    for (int i = 0; i < 3; ++i) x = sin(dot(w, x)) + x(i) * x;
    return x;
  };
  auto along = [&](const A& w, const A& x) {
    return jvp([&](const A& x) { return chain(w, x); }, std::tuple(x), std::tuple(ones<double>({3}))).second;
  };
  expect(grad([&](const A& w) { return sum(vmap(along)(w, x)); })(in(0)));
}

}  // namespace composition::linear_test
