#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nax/backend/cpu/factor/adjugate.hpp"
#include "nax/backend/cpu/factor/factor_slots.hpp"
#include "nax/backend/cpu/factor/factor_tiny.hpp"

NAX_BEGIN
namespace cpu {
namespace detail {

// f(i, sign, diagonal, step): the sign of the permutation and the diagonal of U, elements `step` apart, of
// each of the dense matrices from number `begin` on.
template <class T, class F>
void for_each_pivots(const T* a, std::int64_t n, std::int64_t begin, std::int64_t end, const F& f) {
  if constexpr (simd::has_packet<T>)
    if (has_tiny_factors<T>(n)) {
      constexpr std::int64_t width = simd::Packet<T>::size;
      T diagonals[width * most_tiny_order], signs[width];
      for (std::int64_t i = begin; i < end; i += width) {
        const std::int64_t some = std::min(end - i, width);
        const T* lanes[width];
        for (std::int64_t l = 0; l < width; ++l) lanes[l] = a + (i + std::min(l, some - 1)) * n * n;
        diagonals_tiny<T>(lanes, n, 1, n, diagonals, signs, some);
        for (std::int64_t l = 0; l < some; ++l)
          f(i + l, signs[l], static_cast<const T*>(diagonals + l * n), std::int64_t{1});
      }
      return;
    }
  std::vector<T> lu(static_cast<std::size_t>(n * n));
  std::vector<std::int32_t> rows(static_cast<std::size_t>(n));
  for (std::int64_t i = begin; i < end; ++i) {
    std::copy(a + i * n * n, a + (i + 1) * n * n, lu.data());
    const int sign = n > 0 ? lu_factor(lu.data(), n, n, n, rows.data()) : 1;
    f(i, T(static_cast<real_t<T>>(sign)), static_cast<const T*>(lu.data()), n + 1);
  }
}

// The logarithm of the size of a product of n numbers, `step` apart; `sign` takes theirs.
template <class T>
real_t<T> log_of_product(const T* factors, std::int64_t step, std::int64_t n, T& sign) {
  real_t<T> log = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const T d = factors[k * step];
    const real_t<T> size = std::abs(d);
    sign = size == 0 ? T(0) : sign * (d / size);
    log += std::log(size);
  }
  return log;
}

// `sign` times a product of n numbers, `step` apart. The product may leave the range of numbers on the way,
// and come back.
template <class T>
T product_of(const T* factors, std::int64_t step, std::int64_t n, T sign) {
  using R = real_t<T>;
  T product = sign;
  bool normal = true;
  for (std::int64_t k = 0; k < n; ++k) {
    product *= factors[k * step];
    const R size = std::abs(product);
    normal = normal && size >= std::numeric_limits<R>::min() && size <= std::numeric_limits<R>::max();
  }
  if (normal) return product;
  ScaledNumber<T> scaled(sign);
  for (std::int64_t k = 0; k < n; ++k) scaled.multiply(factors[k * step]);
  return scaled.times(T(1));
}

}  // namespace detail

template <>
template <class T>
void FactorKernel<Factorisation::det>::run(const Factoring& f, const void* from, void* const* to) {
  for_each_factored(f, [&](std::int64_t begin, std::int64_t end) {
    detail::for_each_pivots(static_cast<const T*>(from), f.n, begin, end,
                            [&](std::int64_t i, T sign, const T* diagonal, std::int64_t step) {
                              static_cast<T*>(to[0])[i] = detail::product_of(diagonal, step, f.n, sign);
                            });
  });
}

template <>
template <class T>
void FactorKernel<Factorisation::slogdet>::run(const Factoring& f, const void* from, void* const* to) {
  for_each_factored(f, [&](std::int64_t begin, std::int64_t end) {
    detail::for_each_pivots(static_cast<const T*>(from), f.n, begin, end,
                            [&](std::int64_t i, T sign, const T* diagonal, std::int64_t step) {
                              const auto log = detail::log_of_product(diagonal, step, f.n, sign);
                              static_cast<T*>(to[0])[i] = sign;
                              static_cast<real_t<T>*>(to[1])[i] = log;
                            });
  });
}

template <>
template <class T>
void FactorKernel<Factorisation::adjugate>::run(const Factoring& f, const void* from, void* const* to) {
  const std::int64_t size = f.n * f.n;
  for_each_factored(f, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      adjugate(static_cast<const T*>(from) + i * size, f.n, static_cast<T*>(to[0]) + i * size);
  });
}

}  // namespace cpu
NAX_END
