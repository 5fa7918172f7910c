#include "rows.hpp"

namespace bench {
namespace {

const nax::Shape square = {1000, 1000};
Array<float> grid(std::uint32_t seed) { return uniform_array(seed, square); }

template <class F>
Work gradient_of(F f) {
  return calls([f = nax::grad(f), x = grid(1)] { return f(x); });
}

auto product_of_tanh(const Array<float>& x) { return nax::sum(nax::tanh(x * 1.5f) * x); }

Work hessian_vector() {
  const auto slope = [](const Array<float>& x) { return nax::grad(product_of_tanh)(x); };
  return calls(
      [=, x = grid(1), v = grid(2)] { return nax::jvp(slope, std::tuple{x}, std::tuple{v}).second; });
}

// The five-point stencil, squared.
auto stencil(const Array<float>& x) {
  const auto inner = nax::slice(1, -1), before = nax::slice(0, -2), after = nax::slice(2, nax::none);
  return nax::sum(nax::square(x(before, inner) + x(after, inner) + x(inner, before) + x(inner, after) -
                              4.f * x(inner, inner)));
}

}  // namespace

Rows second_order_rows() {
  const auto squares = [](const Array<float>& x) { return nax::sum(nax::square(x)); };
  const auto w = [] { return grid(3); };
  return {
      {"hessian_vector_tanh", hessian_vector},
      {"stencil_gradient", [] { return gradient_of(stencil); }},
      {"concatenate_gradient",
       [=] {
         return gradient_of([=, w = w()](const Array<float>& x) {
           return squares(nax::concatenate({x, w, x}));
         });
       }},
      {"stack_gradient",
       [=] {
         return gradient_of([=, w = w()](const Array<float>& x) { return squares(nax::stack({x, w})); });
       }},
      {"clip_gradient",
       [=] { return gradient_of([=](const Array<float>& x) { return squares(nax::clip(x, -.5f, .5f)); }); }},
      {"var_gradient", [] { return gradient_of([](const Array<float>& x) { return nax::var(x); }); }},
      {"norm_gradient",
       [] { return gradient_of([](const Array<float>& x) { return nax::linalg::norm(x); }); }},
      {"pad_gradient",
       [=] {
         return gradient_of([=](const Array<float>& x) { return squares(nax::pad(x, {{1, 1}, {1, 1}})); });
       }},
  };
}

}  // namespace bench
