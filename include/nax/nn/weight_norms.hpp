#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/transform/checkpoint.hpp"

// Weights (..., O) by direction and length, and by their largest singular value.
NAX_BEGIN
namespace nn {

// g v / |v| for each of the O outputs, the norm over the other axes: v (..., O), g (O,). The result has the
// shape of v (Salimans and Kingma 2016). Throws ShapeError where g does not fit.
template <class T>
Array<T> weight_norm(const Array<T>& v, const Array<T>& g) {
  if (v.ndim() < 1 || !(g.shape() == Shape{v.shape(-1)}))
    raise<ShapeError>({"weight_norm: g must be (O,) for v (..., O): shapes ", g.shape(), " and ", v.shape()});
  std::vector<int> others;
  for (int axis = 0; axis + 1 < v.ndim(); ++axis) others.push_back(axis);
  return nax::detail::in_lanes<T>(
      [&]<class L>(const Array<L>& wide, const Array<L>& size) {
        return Array<L>(wide * (size * rsqrt(Array<L>(sum(square(wide), {.axis = Axis(others)})))));
      },
      v, g);
}

struct SpectralNormOptions {
  int iterations = 1;  // of the power method
  double epsilon = 1e-12;
  friend bool operator==(const SpectralNormOptions&, const SpectralNormOptions&) = default;
};
// {w / sigma, next u}: w (..., O) by its largest singular value as a matrix of O columns, which the power
// method finds from u (O,); the next call begins where it ended (Miyato and others 2018). No gradient passes
// through u. The first result has the shape of w. Throws ShapeError where u does not fit, and ValueError for
// negative iterations.
template <class T>
std::pair<Array<T>, Array<T>> spectral_norm(const Array<T>& w, const Array<T>& u_,
                                            const SpectralNormOptions& options = {}) {
  if (w.ndim() < 1 || !(u_.shape() == Shape{w.shape(-1)}))
    raise<ShapeError>(
        {"spectral_norm: u must be (O,) for w (..., O): shapes ", u_.shape(), " and ", w.shape()});
  if (options.iterations < 0)
    raise<ValueError>({"spectral_norm: iterations must not be negative: ", options.iterations});
  using L = nax::detail::lane_t<T>;
  if constexpr (!std::is_same_v<L, T>) {
    const auto [scaled, next] = spectral_norm(w.template astype<L>(), u_.template astype<L>(), options);
    return {scaled.template astype<T>(), next.template astype<T>()};
  } else {
    const Array<T> m = w.reshape({-1, w.shape(-1)}), fixed = stop_gradient(m);
    const auto unit = [&](const Array<T>& x) {
      const Array<T> norm = sqrt(Array<T>(sum(square(x))));
      return Array<T>(x / maximum(norm, static_cast<T>(options.epsilon)));
    };
    Array<T> u = stop_gradient(u_), v = unit(Array<T>(matmul(fixed, u)));
    for (int i = 0; i < options.iterations; ++i) {
      if (i > 0) v = unit(Array<T>(matmul(fixed, u)));
      u = unit(Array<T>(matmul(v, fixed)));
    }
    const Array<T> sigma = sum(matmul(v, m) * u);
    return {Array<T>(w / sigma), u};
  }
}

}  // namespace nn
NAX_END
