#pragma once

#include <cmath>

#include "nax/backend/cpu/lines/softmax.hpp"

// Mean and variance of contiguous rows of float or double, and rows brought to mean 0 and variance 1. A row
// is read from memory once; the passes over it find it in the cache.
NAX_BEGIN
namespace cpu {
namespace detail {
inline namespace NAX_SIMD_ABI {

template <class T>
T mean_of(const T* x, std::int64_t n) {
  return static_cast<T>(fold_run<reduce_op::Sum<T>, T>(x, n) / static_cast<T>(n));
}

// The sum of (x - mean)^2.
template <class T>
T squared_deviations(const T* x, std::int64_t n, T mean) {
  using P = simd::Packet<T>;
  const P m(mean);
  return sum_terms<T>(n, [=](std::int64_t i, std::int64_t count) {
    if (count == P::size) {
      const P d = P::load(x + i) - m;
      return d * d;
    }
    T lanes[P::size] = {};
    (P::load(x + i, count) - m).store(lanes, count);
    const P d = P::load(lanes);
    return d * d;
  });
}

// out = factor * (g - mean(g) - y * mean(g * y)) for one row; g(i, count) and y(i, count) load its packets.
template <class T, class G, class Y>
void standardize_gradient_row(G g, Y y, T factor, T* out, std::int64_t n) {
  using P = simd::Packet<T>;
  const P mean(sum_terms<T>(n, g) / static_cast<T>(n));
  const P along(
      sum_terms<T>(n, [=](std::int64_t i, std::int64_t count) { return g(i, count) * y(i, count); }) /
      static_cast<T>(n));
  const P by(factor);
  fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
    return by * (g(i, count) - mean - y(i, count) * along);
  });
}

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

// out[r] = sum over row r of (x - mean)^2 / divisor.
template <class T>
void variance_rows(const T* x, T* out, std::int64_t rows, std::int64_t n, T divisor) {
  for (std::int64_t r = 0; r < rows; ++r, x += n)
    out[r] = detail::squared_deviations(x, n, detail::mean_of(x, n)) / divisor;
}

// out = (x - mean) / sqrt(variance + epsilon) row by row, then times `scale` plus `bias` (n elements each)
// where they are given. `means` and `inverse` get what was subtracted from each row and what it was
// multiplied by, where they are not null.
template <class T>
void standardize_rows(const T* x, T* out, T* means, T* inverse, std::int64_t rows, std::int64_t n, T epsilon,
                      const T* scale, const T* bias) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, x += n, out += n) {
    const T mean = detail::mean_of(x, n);
    const T variance = detail::squared_deviations(x, n, mean) / static_cast<T>(n);
    const T by = T(1) / std::sqrt(variance + epsilon);
    if (means) means[r] = mean;
    if (inverse) inverse[r] = by;
    const P m(mean), factor(by);
    const auto standard = [=](std::int64_t i, std::int64_t count) {
      return (detail::load_some(x + i, count) - m) * factor;
    };
    if (scale)
      detail::fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
        return standard(i, count) * detail::load_some(scale + i, count) + detail::load_some(bias + i, count);
      });
    else
      detail::fill_run(out, n, standard);
  }
}

// out = inverse * (g - mean(g) - y * mean(g * y)) row by row: the derivative of y = standardize(x), which is
// symmetric.
template <class T>
void standardize_gradient_rows(const T* g, const T* y, const T* inverse, T* out, std::int64_t rows,
                               std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, g += n, y += n, out += n)
    detail::standardize_gradient_row(
        [=](std::int64_t i, std::int64_t count) { return detail::load_some(g + i, count); },
        [=](std::int64_t i, std::int64_t count) { return detail::load_some(y + i, count); }, inverse[r], out,
        n);
}

// The derivative of y = standardize(x) * scale + bias with regard to x, from what standardize_rows kept.
template <class T>
void layer_norm_gradient_rows(const T* g, const T* x, const T* means, const T* inverse, const T* scale,
                              T* out, std::int64_t rows, std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, g += n, x += n, out += n) {
    const P mean(means[r]), factor(inverse[r]);
    detail::standardize_gradient_row(
        [=](std::int64_t i, std::int64_t count) {
          return detail::load_some(g + i, count) * detail::load_some(scale + i, count);
        },
        [=](std::int64_t i, std::int64_t count) { return (detail::load_some(x + i, count) - mean) * factor; },
        inverse[r], out, n);
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
