#include "rows.hpp"

namespace bench {
namespace {

const nax::Shape square = {1000, 1000};
Array<float> grid(std::uint32_t seed) { return uniform_array(seed, square); }

// The gradient of a function of a grid, plain and under jit.
template <class F>
void add_gradients(Rows& rows, const std::string& name, F f) {
  rows.push_back({name, [f] { return calls([g = nax::grad(f), x = grid(1)] { return g(x); }); }});
  rows.push_back(
      {"jit_" + name, [f] { return calls([g = nax::jit(nax::grad(f)), x = grid(1)] { return g(x); }); }});
}

auto product_of_tanh(const Array<float>& x) { return nax::sum(nax::tanh(x * 1.5f) * x); }

Array<float> hessian_vector(const Array<float>& x, const Array<float>& v) {
  const auto slope = [](const Array<float>& at) { return nax::grad(product_of_tanh)(at); };
  return nax::jvp(slope, std::tuple{x}, std::tuple{v}).second;
}

// The five-point stencil, squared.
auto stencil(const Array<float>& x) {
  const auto inner = nax::slice(1, -1), before = nax::slice(0, -2), after = nax::slice(2, nax::none);
  return nax::sum(nax::square(x(before, inner) + x(after, inner) + x(inner, before) + x(inner, after) -
                              4.f * x(inner, inner)));
}

}  // namespace

Rows second_order_rows() {
  Rows rows = {
      {"hessian_vector_tanh",
       [] { return calls([x = grid(1), v = grid(2)] { return hessian_vector(x, v); }); }},
      {"jit_hessian_vector_tanh",
       [] { return calls([f = nax::jit(hessian_vector), x = grid(1), v = grid(2)] { return f(x, v); }); }},
  };
  const auto squares = [](const Array<float>& x) { return nax::sum(nax::square(x)); };
  const Array<float> w = grid(3);
  add_gradients(rows, "stencil_gradient", stencil);
  add_gradients(rows, "concatenate_gradient", [=](const Array<float>& x) {
    return squares(nax::concatenate({x, w, x}));
  });
  add_gradients(rows, "stack_gradient", [=](const Array<float>& x) { return squares(nax::stack({x, w})); });
  add_gradients(rows, "clip_gradient",
                [=](const Array<float>& x) { return squares(nax::clip(x, -.5f, .5f)); });
  add_gradients(rows, "pad_gradient", [=](const Array<float>& x) {
    return squares(nax::pad(x, {{1, 1}, {1, 1}}));
  });
  add_gradients(rows, "var_gradient", [](const Array<float>& x) { return nax::var(x); });
  add_gradients(rows, "norm_gradient", [](const Array<float>& x) { return nax::linalg::norm(x); });
  return rows;
}

}  // namespace bench
