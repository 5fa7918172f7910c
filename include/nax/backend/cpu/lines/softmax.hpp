#pragma once

#include <cmath>

#include "nax/backend/cpu/reduce/reducers.hpp"
#include "nax/loops/row_functions.hpp"

// logsumexp, softmax and log_softmax of contiguous rows of float or double. A row is read from memory once;
// the passes over it find it in the cache.
NAX_BEGIN
namespace cpu {

namespace detail {
inline namespace NAX_SIMD_ABI {

template <class T>
simd::Packet<T> load_some(const T* x, std::int64_t count) {
  return count == simd::Packet<T>::size ? simd::Packet<T>::load(x) : simd::Packet<T>::load(x, count);
}

// The sum of term(i) over i < n in steps of packets; term(i, count) has zeros beyond `count` lanes.
template <class T, class Term>
T sum_terms(std::int64_t n, const Term& term) {
  using P = simd::Packet<T>;
  constexpr std::int64_t w = P::size, block = 4096;  // blocks bound the chains of additions
  wide_t<T> total(0);
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = n - begin < block ? n : begin + block;
    P a(T(0)), b = a, c = a, d = a;
    std::int64_t i = begin;
    for (; i + 4 * w <= end; i += 4 * w) {
      a += term(i, w);
      b += term(i + w, w);
      c += term(i + 2 * w, w);
      d += term(i + 3 * w, w);
    }
    for (; i + w <= end; i += w) a += term(i, w);
    if (i < end) b += term(i, end - i);
    total += static_cast<wide_t<T>>(reduce_add((a + b) + (c + d)));
  }
  return static_cast<T>(total);
}

// to[i ...] = f(i, count), `count` lanes of a packet, all of them mostly.
template <class T, class F>
void fill_run(T* to, std::int64_t n, const F& f) {
  constexpr std::int64_t w = simd::Packet<T>::size;
  std::int64_t i = 0;
  for (; i + w <= n; i += w) f(i, w).store(to + i);
  if (i < n) f(i, n - i).store(to + i, n - i);
}

// The sum of exp(x - shift); the exponentials go to `out` where it is not null.
template <class T>
T sum_exp(const T* x, std::int64_t n, T shift, T* out) {
  using P = simd::Packet<T>;
  constexpr int w = P::size;
  constexpr std::int64_t block = 64 * w;
  const P m(shift);
  wide_t<T> total(0);
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t end = n - i < block ? n : i + block;
    P a(T(0)), b(T(0));
    for (; i + 2 * w <= end; i += 2 * w) {
      const P p = exp(P::load(x + i) - m), q = exp(P::load(x + i + w) - m);
      if (out) p.store(out + i), q.store(out + i + w);
      a += p;
      b += q;
    }
    for (; i < end; i += w) {
      const std::int64_t count = end - i < w ? end - i : w;
      T lanes[w] = {};
      exp(P::load(x + i, count) - m).store(lanes, count);
      if (out) P::load(lanes).store(out + i, count);
      a += P::load(lanes);
    }
    total += static_cast<wide_t<T>>(reduce_add(a + b));
  }
  return static_cast<T>(total);
}

// a / b where `inverse` is 1 / b and b is neither tiny nor huge: the quotient rounded, without a division.
template <class T>
simd::Packet<T> divide_by(simd::Packet<T> a, simd::Packet<T> b, simd::Packet<T> inverse) {
  if constexpr (simd::fused) {
    const simd::Packet<T> q = a * inverse;
    return fma(fma(-q, b, a), inverse, q);
  } else {
    return a / b;
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace detail

inline namespace NAX_SIMD_ABI {

// Rows of n elements each. out: one number a row for logsumexp; a row otherwise, which may be x itself.
template <class T>
void softmax_rows(loops::RowFunction what, const T* x, T* out, std::int64_t rows, std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * n;
    const T m = detail::fold_run<reduce_op::Max<T>, T>(row, n);
    const P shift(m);
    T* to = out + r * n;
    if (what == loops::RowFunction::logsumexp) {
      out[r] = std::isfinite(m) ? m + std::log(detail::sum_exp<T>(row, n, m, nullptr)) : m;
    } else if (what == loops::RowFunction::softmax) {
      const T s = detail::sum_exp(row, n, m, to);
      const P sum(s), inverse(T(1) / s);
      detail::fill_run(to, n, [=](std::int64_t i, std::int64_t count) {
        return detail::divide_by(detail::load_some(to + i, count), sum, inverse);
      });
    } else {
      const P log_sum(std::log(detail::sum_exp<T>(row, n, m, nullptr)));
      detail::fill_run(to, n, [=](std::int64_t i, std::int64_t count) {
        return (detail::load_some(row + i, count) - shift) - log_sum;
      });
    }
  }
}

// The derivative of y = softmax(x), which is symmetric, row by row: out = y (g - sum(g y)).
template <class T>
void softmax_gradient_rows(const T* g, const T* y, T* out, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, g += n, y += n, out += n) {
    const simd::Packet<T> along(detail::sum_terms<T>(n, [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(g + i, count) * detail::load_some(y + i, count);
    }));
    detail::fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(y + i, count) * (detail::load_some(g + i, count) - along);
    });
  }
}
// The transposed derivative of y = log_softmax(x): out = g - exp(y) sum(g).
template <class T>
void log_softmax_gradient_rows(const T* g, const T* y, T* out, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, g += n, y += n, out += n) {
    const simd::Packet<T> total(detail::fold_run<reduce_op::Sum<T>, T>(g, n));
    detail::fill_run(out, n, [=](std::int64_t i, std::int64_t count) {
      return detail::load_some(g + i, count) - exp(detail::load_some(y + i, count)) * total;
    });
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
