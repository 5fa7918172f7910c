#pragma once

#include <cmath>

#include "nax/backend/cpu/lines/softmax.hpp"

// Cross entropies of contiguous rows of float or double with rows of labels.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// out[r] = -sum of labels * log_softmax(x) over row r. `greatest` and `logarithms` get the greatest x of each
// row and log(sum(exp(x - greatest))), where they are not null.
template <class T>
void cross_entropy_rows(const T* x, const T* labels, T* out, T* greatest, T* logarithms, std::int64_t rows,
                        std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, x += n, labels += n) {
    const T most = detail::fold_run<reduce_op::Max<T>, T>(x, n);
    const T logarithm = std::log(detail::sum_exp<T>(x, n, most, nullptr));
    if (greatest) greatest[r] = most;
    if (logarithms) logarithms[r] = logarithm;
    const P m(most), l(logarithm);
    out[r] = -detail::sum_terms<T>(n, [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(labels + i, count) * ((detail::load_some(x + i, count) - m) - l);
    });
  }
}

// Its derivative with regard to x: out = g (softmax(x) sum(labels) - labels), with g[r] or, where g is null,
// with `number`.
template <class T>
void cross_entropy_gradient_rows(const T* x, const T* labels, const T* greatest, const T* logarithms,
                                 const T* g, T number, T* out, std::int64_t rows, std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, x += n, labels += n, out += n) {
    const P by(g ? g[r] : number), m(greatest[r]), l(logarithms[r]);
    const P weight(detail::fold_run<reduce_op::Sum<T>, T>(labels, n));
    detail::fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
      return by *
             (exp((detail::load_some(x + i, count) - m) - l) * weight - detail::load_some(labels + i, count));
    });
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
