#pragma once

#include <cmath>

#include "nax/backend/cpu/reducers.hpp"
#include "nax/core/thread_pool.hpp"

// logsumexp, softmax and log_softmax of contiguous rows of float or double. A row is read from memory once;
// the passes over it find it in the cache.
namespace nax::cpu {

enum class Softmax { logsumexp, softmax, log_softmax };

namespace detail {

// The sum of exp(x - shift); the exponentials go to `out` where it is not null.
template <class T>
T sum_exp(const T* x, std::int64_t n, T shift, T* out) {
  using P = simd::Packet<T>;
  constexpr int w = P::size;
  const P m(shift);
  P a(T(0)), b(T(0));
  std::int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    const P p = exp(P::load(x + i) - m), q = exp(P::load(x + i + w) - m);
    if (out) p.store(out + i), q.store(out + i + w);
    a += p;
    b += q;
  }
  for (; i < n; i += w) {
    const std::int64_t count = n - i < w ? n - i : w;
    T lanes[w];
    exp(P::load(x + i, count) - m).store(lanes);
    for (std::int64_t j = count; j < w; ++j) lanes[j] = T(0);
    if (out)
      for (std::int64_t j = 0; j < count; ++j) out[i + j] = lanes[j];
    a += P::load(lanes);
  }
  return reduce_add(a + b);
}

template <class T>
T fold_max(const T* x, std::int64_t n) {
  return fold_run<reduce_op::Max<T>, T>(x, n);
}

}  // namespace detail

// out: one number a row for logsumexp, a row otherwise.
template <class T>
void softmax_rows(Softmax what, const T* x, T* out, std::int64_t rows, std::int64_t n) {
  const std::int64_t grain = n > 0 ? ((std::int64_t{1} << 14) + n - 1) / n : rows;
  parallel_for(rows, grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* row = x + r * n;
      const T m = detail::fold_max(row, n);
      if (what == Softmax::logsumexp) {
        out[r] = std::isfinite(m) ? m + std::log(detail::sum_exp<T>(row, n, m, nullptr)) : m;
      } else if (what == Softmax::softmax) {
        T* to = out + r * n;
        const T s = detail::sum_exp(row, n, m, to);
        for (std::int64_t i = 0; i < n; ++i) to[i] /= s;
      } else {
        T* to = out + r * n;
        const T s = std::log(detail::sum_exp<T>(row, n, m, nullptr));
        for (std::int64_t i = 0; i < n; ++i) to[i] = (row[i] - m) - s;
      }
    }
  });
}

}  // namespace nax::cpu
