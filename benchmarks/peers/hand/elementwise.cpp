#include <cmath>

#include "hand.hpp"

namespace bench {
namespace {

constexpr std::int64_t million = 1 << 20;

template <class F>
Work unary(F f, float low, float high) {
  const Floats x = uniform(1, million, low, high);
  return fills(million, [=](float* __restrict out) {
    const float* from = x.data();
    for (std::int64_t i = 0; i < million; ++i) out[i] = f(from[i]);
  });
}

template <class F>
Work binary(F f, float low = -1, float high = 1) {
  const Floats x = uniform(1, million, low, high), y = uniform(2, million);
  return fills(million, [=](float* __restrict out) {
    const float *a = x.data(), *b = y.data();
    for (std::int64_t i = 0; i < million; ++i) out[i] = f(a[i], b[i]);
  });
}

// f(x) is the value and the slope there.
template <class F>
Work value_and_gradient(F f, float low, float high) {
  const Floats x = uniform(1, million, low, high), cotangent = uniform(2, million);
  return fills(2 * million, [=](float* __restrict out) {
    const float *from = x.data(), *g = cotangent.data();
    float* __restrict gradient = out + million;
    for (std::int64_t i = 0; i < million; ++i) {
      const auto [value, slope] = f(from[i]);
      out[i] = value;
      gradient[i] = g[i] * slope;
    }
  });
}
struct ValueAndSlope {
  float value, slope;
};

Work affine_tanh_gradient() {
  const Floats x = uniform(1, million, -3, 3), a = uniform(2, million), cotangent = uniform(3, million);
  return fills(3 * million, [=](float* __restrict out) {
    const float *u = x.data(), *v = a.data(), *g = cotangent.data();
    float* __restrict first = out + million, * __restrict second = first + million;
    for (std::int64_t i = 0; i < million; ++i) {
      const float t = std::tanh(u[i] * v[i] + 1), slope = g[i] * (1 - t * t) * v[i];
      out[i] = t * v[i];
      first[i] = slope * v[i];
      second[i] = slope * u[i] + g[i] * t;
    }
  });
}

// The value, then the gradient.
template <class T>
Work chain(std::int64_t n) {
  const Floats numbers = uniform(1, n);
  const std::vector<T> x(numbers.begin(), numbers.end());
  return fills<T>(n + 1, [=](T* __restrict out) {
    const T* from = x.data();
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T v = from[i], e = std::exp(-v * v), p = v + v * v * T(0.5);
      sum += e * p;
      out[i + 1] = e * (1 + v - 2 * v * p);
    }
    out[0] = sum;
  });
}

constexpr float root = 0.7978845608028654f, cube = 0.044715f;

float gelu(float x) { return 0.5f * x * (1 + std::tanh(root * (x + cube * x * x * x))); }
ValueAndSlope gelu_and_slope(float x) {
  const float t = std::tanh(root * (x + cube * x * x * x));
  return {0.5f * x * (1 + t), 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * root * (1 + 3 * cube * x * x)};
}
ValueAndSlope exp_and_slope(float x) {
  const float e = std::exp(x);
  return {e, e};
}
ValueAndSlope log_and_slope(float x) { return {std::log(x), 1 / x}; }
ValueAndSlope sin_and_slope(float x) { return {std::sin(x), std::cos(x)}; }

}  // namespace

Rows hand_elementwise_rows() {
  return {
      {"affine_tanh_1m",
       [] { return binary([](float x, float a) { return std::tanh(x * a + 1) * a; }, -3, 3); }},
      {"gelu_1m", [] { return unary([](float x) { return gelu(x); }, -3, 3); }},
      {"exp_1m", [] { return unary([](float x) { return std::exp(x); }, -3, 3); }},
      {"log_1m", [] { return unary([](float x) { return std::log(x); }, .1f, 10); }},
      {"sin_1m", [] { return unary([](float x) { return std::sin(x); }, -10, 10); }},
      {"add_1m", [] { return binary([](float x, float y) { return x + y; }); }},
      {"affine_tanh_gradient_1m", affine_tanh_gradient},
      {"gelu_gradient_1m",
       [] { return value_and_gradient([](float x) { return gelu_and_slope(x); }, -3, 3); }},
      {"exp_gradient_1m", [] { return value_and_gradient([](float x) { return exp_and_slope(x); }, -3, 3); }},
      {"log_gradient_1m",
       [] { return value_and_gradient([](float x) { return log_and_slope(x); }, .1f, 10); }},
      {"sin_gradient_1m",
       [] { return value_and_gradient([](float x) { return sin_and_slope(x); }, -10, 10); }},
      {"chain_value_and_gradient_4096", [] { return chain<float>(4096); }},
      {"chain_value_and_gradient_1m", [] { return chain<float>(million); }},
      {"chain_value_and_gradient_double_4096", [] { return chain<double>(4096); }},
      {"chain_value_and_gradient_double_1m", [] { return chain<double>(million); }},
  };
}

}  // namespace bench
