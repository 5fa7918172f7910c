#include "rows.hpp"

namespace bench {
namespace {

constexpr std::int64_t million = 1 << 20;

template <class F>
Work of_one(F f, float low, float high) {
  const auto x = uniform_array(1, {million}, low, high);
  return calls([=] { return f(x); });
}

template <class F>
Work gradient_of_one(F f, float low, float high) {
  return values_and_gradients(f, uniform_array(2, {million}), uniform_array(1, {million}, low, high));
}

template <class T>
Work chain(std::int64_t n) {
  const Array<T> x = uniform_array(1, {n}).astype<T>();
  const auto f = [](const Array<T>& x) { return nax::sum(nax::exp(-x * x) * (x + x * x * 0.5)); };
  return calls([=] { return nax::value_and_grad(f)(x); });
}

Work add() {
  const auto x = uniform_array(1, {million}), y = uniform_array(2, {million});
  return calls([=] { return x + y; });
}

Work affine_tanh() {
  const auto x = uniform_array(1, {million}, -3, 3), a = uniform_array(2, {million});
  return calls([=] { return nax::tanh(x * a + 1) * a; });
}

Work affine_tanh_gradient() {
  const auto f = [](const Array<float>& x, const Array<float>& a) { return nax::tanh(x * a + 1) * a; };
  return values_and_gradients(f, uniform_array(3, {million}), uniform_array(1, {million}, -3, 3),
                              uniform_array(2, {million}));
}

}  // namespace

Rows elementwise_rows() {
  const auto gelu = [](const auto& x) { return nax::nn::gelu(x); };
  const auto exp = [](const auto& x) { return nax::exp(x); };
  const auto log = [](const auto& x) { return nax::log(x); };
  const auto sin = [](const auto& x) { return nax::sin(x); };
  return {
      {"affine_tanh_1m", affine_tanh},
      {"gelu_1m", [=] { return of_one(gelu, -3, 3); }},
      {"exp_1m", [=] { return of_one(exp, -3, 3); }},
      {"log_1m", [=] { return of_one(log, .1f, 10); }},
      {"sin_1m", [=] { return of_one(sin, -10, 10); }},
      {"add_1m", add},
      {"affine_tanh_gradient_1m", affine_tanh_gradient},
      {"gelu_gradient_1m", [=] { return gradient_of_one(gelu, -3, 3); }},
      {"exp_gradient_1m", [=] { return gradient_of_one(exp, -3, 3); }},
      {"log_gradient_1m", [=] { return gradient_of_one(log, .1f, 10); }},
      {"sin_gradient_1m", [=] { return gradient_of_one(sin, -10, 10); }},
      {"chain_value_and_gradient_4096", [] { return chain<float>(4096); }},
      {"chain_value_and_gradient_1m", [] { return chain<float>(million); }},
      {"chain_value_and_gradient_double_4096", [] { return chain<double>(4096); }},
      {"chain_value_and_gradient_double_1m", [] { return chain<double>(million); }},
  };
}

}  // namespace bench
