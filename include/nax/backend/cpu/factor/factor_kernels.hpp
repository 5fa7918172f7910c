#pragma once

#include <vector>

#include "nax/backend/cpu/factor/cholesky_kernel.hpp"
#include "nax/backend/cpu/factor/factorisations.hpp"

NAX_BEGIN
namespace cpu {
namespace detail {

// Matrix i of a result of these sizes; null where the result is not wanted.
template <class T>
T* result_at(void* result, std::int64_t i, std::int64_t rows, std::int64_t columns) {
  return result ? static_cast<T*>(result) + i * rows * columns : nullptr;
}

}  // namespace detail

template <Factorisation kind>
template <class T>
void FactorKernel<kind>::run(const Factoring& f, const void* from, void* const* to) {
  using detail::result_at;
  using R = real_t<T>;
  using C = complex_t<T>;
  const std::int64_t m = f.m, n = f.n, k = std::min(m, n);
  for_each_factored(f, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const x = static_cast<const T*>(from) + i * m * n;
      if constexpr (kind == Factorisation::lu) {
        T* const lu = result_at<T>(to[0], i, m, n);
        std::copy(x, x + m * n, lu);
        std::vector<std::int32_t> rows(static_cast<std::size_t>(m));
        lu_factor(lu, m, n, n, rows.data(), result_at<std::int32_t>(to[1], i, 1, k));
      } else if constexpr (kind == Factorisation::qr) {
        const std::int64_t width = f.complete ? m : k;
        qr<T>(x, m, n, f.complete, result_at<T>(to[0], i, m, width), result_at<T>(to[1], i, width, n));
      } else if constexpr (kind == Factorisation::svd) {
        svd<T>(x, m, n, f.complete, result_at<T>(to[0], i, m, f.complete ? m : k),
               result_at<R>(to[1], i, 1, k), result_at<T>(to[2], i, f.complete ? n : k, n));
      } else if constexpr (kind == Factorisation::eigh) {
        eigh<T>(x, n, f.lower, result_at<R>(to[0], i, 1, n), result_at<T>(to[1], i, n, n));
      } else if constexpr (kind == Factorisation::schur) {
        schur<T>(x, n, result_at<T>(to[0], i, n, n), result_at<T>(to[1], i, n, n));
      } else if constexpr (kind == Factorisation::sqrtm) {
        sqrtm<T>(x, n, result_at<T>(to[0], i, n, n));
      } else {
        static_assert(kind == Factorisation::eig);
        eig<T>(x, n, result_at<C>(to[0], i, 1, n), result_at<C>(to[1], i, n, n),
               result_at<R>(to[2], i, n, n));
      }
    }
  });
}

template <class T>
void SylvesterKernel::run(std::int64_t batch, std::int64_t m, std::int64_t n, const void* a, const void* b,
                          const void* q, void* x) {
  for_each_factored({Factorisation::schur, batch, m, n}, [=](std::int64_t begin, std::int64_t end) {
    std::copy(static_cast<const T*>(q) + begin * m * n, static_cast<const T*>(q) + end * m * n,
              static_cast<T*>(x) + begin * m * n);
    for (std::int64_t i = begin; i < end; ++i)
      solve_sylvester<T>(static_cast<const T*>(a) + i * m * m, m, static_cast<const T*>(b) + i * n * n, n,
                         static_cast<T*>(x) + i * m * n);
  });
}

}  // namespace cpu
NAX_END
