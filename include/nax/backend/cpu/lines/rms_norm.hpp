#pragma once

#include <cmath>

#include "nax/backend/cpu/lines/softmax.hpp"

// Contiguous rows of float or double, divided by the roots of their mean squares.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// out = x / sqrt(mean(x^2) + epsilon) * scale row by row, of n elements as `scale` is. `inverse` gets what
// each row was multiplied by, where it is not null.
template <class T>
void rms_norm_rows(const T* x, T* out, T* inverse, std::int64_t rows, std::int64_t n, T epsilon,
                   const T* scale) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, x += n, out += n) {
    const T squares = detail::sum_terms<T>(n, [=](std::int64_t i, std::int64_t count) {
      const P p = detail::load_some(x + i, count);
      return p * p;
    });
    const T by = T(1) / std::sqrt(squares / static_cast<T>(n) + epsilon);
    if (inverse) inverse[r] = by;
    const P factor(by);
    detail::fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(x + i, count) * factor * detail::load_some(scale + i, count);
    });
  }
}

// Its derivative with regard to x: out = inverse (g scale - y mean(g scale y)), y = x inverse.
template <class T>
void rms_norm_gradient_rows(const T* g, const T* x, const T* inverse, const T* scale, T* out,
                            std::int64_t rows, std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, g += n, x += n, out += n) {
    const P by(inverse[r]);
    const auto scaled = [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(g + i, count) * detail::load_some(scale + i, count);
    };
    const auto y = [=](std::int64_t i, std::int64_t count) { return detail::load_some(x + i, count) * by; };
    const P along(detail::sum_terms<T>(
                      n, [=](std::int64_t i, std::int64_t count) { return scaled(i, count) * y(i, count); }) /
                  static_cast<T>(n));
    detail::fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
      return by * (scaled(i, count) - y(i, count) * along);
    });
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
