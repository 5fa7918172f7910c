#include "rows.hpp"

namespace bench {
namespace {

template <class F>
Work of(F f, const nax::Shape& shape) {
  const auto x = uniform_array(1, shape);
  return calls([=] { return f(x); });
}

template <class F>
Work gradient(F f, const nax::Shape& shape, const nax::Shape& result) {
  return values_and_gradients(f, uniform_array(2, result), uniform_array(1, shape));
}

const nax::Shape rows = {4096, 1000}, square = {2048, 2048};

}  // namespace

Rows reduction_rows() {
  const auto softmax = [](const auto& x) { return nax::nn::softmax(x); };
  const auto logsumexp = [](const auto& x) { return nax::logsumexp(x, {.axis = -1}); };
  const auto scale = uniform_array(3, {1000}), bias = uniform_array(4, {1000});
  const auto layer_norm = [=](const auto& x) { return nax::nn::layer_norm(x, scale, bias); };
  const auto sum = [](const auto& x) { return nax::sum(x); };
  const auto sum0 = [](const auto& x) { return nax::sum(x, {.axis = 0}); };
  const auto sum1 = [](const auto& x) { return nax::sum(x, {.axis = 1}); };
  const auto max0 = [](const auto& x) { return nax::max(x, {.axis = 0}); };
  const auto argmax1 = [](const auto& x) { return nax::argmax(x, {.axis = 1}); };
  return {
      {"softmax_4096x1000", [=] { return of(softmax, rows); }},
      {"logsumexp_4096x1000", [=] { return of(logsumexp, rows); }},
      {"layer_norm_4096x1000", [=] { return of(layer_norm, rows); }},
      {"softmax_gradient_4096x1000", [=] { return gradient(softmax, rows, rows); }},
      {"logsumexp_gradient_4096x1000", [=] { return gradient(logsumexp, rows, {4096}); }},
      {"layer_norm_gradient_4096x1000", [=] { return gradient(layer_norm, rows, rows); }},
      {"sum_16m", [=] { return of(sum, {1 << 24}); }},
      {"sum_axis0_2048", [=] { return of(sum0, square); }},
      {"sum_axis1_2048", [=] { return of(sum1, square); }},
      {"max_axis0_2048", [=] { return of(max0, square); }},
      {"argmax_axis1_2048", [=] { return of(argmax1, square); }},
      {"max_axis0_gradient_2048", [=] { return gradient(max0, square, {2048}); }},
  };
}

}  // namespace bench
