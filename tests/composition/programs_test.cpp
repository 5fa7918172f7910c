#include "composition/programs.hpp"

#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/transform/custom.hpp"

namespace composition {

A wave(const A& x) { return tanh(x) * sin(2 * x); }

A bowl(const A& x) { return sum(sin(x) * x) * sum(exp(-x * x)); }

A layer(const A& w, const A& x) { return tanh(matmul(w, x)); }

A energy(const A& w, const A& x) { return sum(square(layer(w, x))); }

A error(const A& w, const A& x, const A& y) {  // log-likelihood of a softmax regression
  const A logits = matmul(x, w);
  return sum((logits - log(sum(exp(logits)))) * y);
}

A scaled(const A& x) {
  static const auto f = custom_vjp([](const A& x) { return sin(x); },  //
                                   [](const A& x) { return std::pair(sin(x), x); },
                                   [](const A& x, const A& g) { return std::tuple(3 * g * cos(x)); });
  return f(x);
}

A weigh(const A& x, const A& y) {
  static const auto f = custom_vjp(
      [](const A& x, const A& y) { return x * y; },
      [](const A& x, const A& y) { return std::pair(x * y, std::pair(x, y)); },
      [](const std::pair<A, A>& r, const A& g) { return std::tuple(0.5 * g * r.second, g * sin(r.first)); });
  return f(x, y);
}

A bent(const A& x) {
  static const auto f = custom_jvp([](const A& x) { return tanh(x); },
                                   [](const std::tuple<A>& primals, const std::tuple<A>& tangents) {
                                     const A y = tanh(std::get<0>(primals));
                                     return std::pair(y, 2 * (1 - y * y) * std::get<0>(tangents));
                                   });
  return f(x);
}

A product(const A& x, const A& y) {
  static const auto f = custom_jvp([](const A& x, const A& y) { return x * y; },
                                   [](const std::tuple<A, A>& primals, const std::tuple<A, A>& tangents) {
                                     const auto& [x, y] = primals;
                                     const auto& [dx, dy] = tangents;
                                     return std::pair(x * y, 3 * dx * y + 5 * x * dy);
                                   });
  return f(x, y);
}

TEST_F(Composition, grad_grad_grad) { expect(grad(grad(grad(wave)))(in(0))); }

TEST_F(Composition, grad_grad_grad_grad) { expect(grad(grad(grad(grad(wave))))(in(0))); }

}  // namespace composition
