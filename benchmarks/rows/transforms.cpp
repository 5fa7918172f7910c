#include "rows.hpp"

namespace bench {
namespace {

Work matvecs() {
  const auto a = uniform_array(1, {64, 64}), xs = uniform_array(2, {512, 64});
  const auto matvec = [](const Array<float>& m, const Array<float>& x) { return nax::matmul(m, x); };
  return calls([=] { return nax::vmap(matvec, {.in_axes = {nax::none, 0}})(a, xs); });
}

Work convolutions() {
  const auto xs = uniform_array(1, {64, 256}), w = uniform_array(2, {9});
  const auto convolve = [](const Array<float>& x, const Array<float>& k) { return nax::convolve(x, k); };
  return calls([=] { return nax::vmap(convolve, {.in_axes = {0, nax::none}})(xs, w); });
}

struct Logistic {
  Array<float> x = uniform_array(1, {1024, 32}), y = nax::where(uniform_array(2, {1024}) > 0.f, 1.f, -1.f);

  auto operator()(const Array<float>& w) const {
    return nax::mean(nax::nn::softplus(-y * nax::matmul(x, w)));
  }
};

template <class Transform>
Work logistic(Transform transform) {
  const auto w = uniform_array(3, {32});
  return calls([=, f = transform(Logistic())] { return f(w); });
}

}  // namespace

Rows transform_rows() {
  return {
      {"vmap_matvec_64x64_512", matvecs},
      {"vmap_convolve_64x256_9", convolutions},
      {"hessian_logistic_1024x32", [] { return logistic([](const auto& f) { return nax::hessian(f); }); }},
      {"gradient_logistic_1024x32", [] { return logistic([](const auto& f) { return nax::grad(f); }); }},
  };
}

}  // namespace bench
