#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "nax/linalg/rules.hpp"
#include "nax/numpy/creation/creation.hpp"

#pragma push_macro("pascal")  // of windows.h
#undef pascal

// Matrices that are known by a name and a size.
NAX_BEGIN
namespace detail {

template <class T, class F>
Array<T> square_of(const char* function, std::int64_t n, const F& f) {
  if (n < 0) raise<ValueError>({function, ": n must not be negative, not ", n});
  Array<T> a = filled_on_host<T>(function, Shape{n, n}, T(0));
  T* to = elements<T>(a);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) *to++ = static_cast<T>(f(i, j));
  return a;
}
inline double binomial(std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  double result = 1;
  for (std::int64_t i = 1; i <= k; ++i)
    result = std::round(result * static_cast<double>(n - k + i) / static_cast<double>(i));
  return result;
}
inline void check_kind(const char* function, const std::string& kind) {
  if (kind != "symmetric" && kind != "lower" && kind != "upper")
    raise<ValueError>({function, ": kind must be 'symmetric', 'lower' or 'upper', not '", kind, "'"});
}

}  // namespace detail

namespace linalg {

// The n x n matrix of 1 / (i + j + 1). Throws ValueError for a negative n.
template <class T = float>
Array<T> hilbert(std::int64_t n) {
  return detail::square_of<T>(
      "hilbert", n, [](std::int64_t i, std::int64_t j) { return 1 / static_cast<double>(i + j + 1); });
}

// Its inverse, an n x n matrix of whole numbers, which doubles hold exactly up to n = 13. Throws ValueError
// for a negative n.
template <class T = float>
Array<T> invhilbert(std::int64_t n) {
  using detail::binomial;
  return detail::square_of<T>("invhilbert", n, [n](std::int64_t i, std::int64_t j) {
    const double middle = binomial(i + j, i);
    return ((i + j) % 2 == 0 ? 1 : -1) * static_cast<double>(i + j + 1) * binomial(n + i, n - j - 1) *
           binomial(n + j, n - i - 1) * middle * middle;
  });
}

// Sylvester's n x n matrix of 1 and -1, whose rows are orthogonal. Throws ValueError unless n is a power of
// two.
template <class T = int>
Array<T> hadamard(std::int64_t n) {
  if (n < 1 || (n & (n - 1)) != 0) raise<ValueError>({"hadamard: n must be a power of two, not ", n});
  return detail::square_of<T>("hadamard", n, [](std::int64_t i, std::int64_t j) {
    return std::popcount(static_cast<std::uint64_t>(i & j)) % 2 == 0 ? 1 : -1;
  });
}

// The n x n matrix of binomial coefficients: of i + j over i, or with kind "lower" and "upper" a triangle of
// i over j, and of j over i. Throws ValueError for a negative n or another kind.
template <class T = float>
Array<T> pascal(std::int64_t n, const std::string& kind = "symmetric") {
  detail::check_kind("pascal", kind);
  return detail::square_of<T>("pascal", n, [&](std::int64_t i, std::int64_t j) {
    return kind == "symmetric" ? detail::binomial(i + j, i)
                               : detail::binomial(kind == "lower" ? i : j, kind == "lower" ? j : i);
  });
}

// The inverse of pascal(n, kind), an n x n matrix. Throws ValueError for a negative n or another kind.
template <class T = float>
Array<T> invpascal(std::int64_t n, const std::string& kind = "symmetric") {
  detail::check_kind("invpascal", kind);
  return detail::square_of<T>("invpascal", n, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    if (kind == "symmetric")
      for (std::int64_t k = std::max(i, j); k < n; ++k)
        sum += detail::binomial(k, i) * detail::binomial(k, j);
    else
      sum = detail::binomial(kind == "lower" ? i : j, kind == "lower" ? j : i);
    return (i + j) % 2 == 0 ? sum : -sum;
  });
}

// The orthogonal n x n matrix of Helmert's contrasts: row i compares element i with the mean of those before
// it. Without `full` it goes without its first row, of equal elements: (n - 1, n). Throws ValueError for n
// < 1.
template <class T = float>
Array<T> helmert(std::int64_t n, bool full = false) {
  if (n < 1) raise<ValueError>({"helmert: n must be at least 1, not ", n});
  const Array<T> all = detail::square_of<T>("helmert", n, [n](std::int64_t i, std::int64_t j) -> double {
    const double row = static_cast<double>(i);
    if (i == 0) return 1 / std::sqrt(static_cast<double>(n));
    return (j < i ? 1 : j == i ? -row : 0) / std::sqrt(row * (row + 1));
  });
  return full ? all : Array<T>(all(slice(1, _)));
}

// The n x n matrix of the discrete Fourier transform: exp(-2 pi i j k / n), divided by n or its root with
// scale "n" and "sqrtn". Throws ValueError for n < 1 or another scale.
template <class T = float>
Array<std::complex<T>> dft(std::int64_t n, const std::string& scale = "") {
  if (n < 1) raise<ValueError>({"dft: n must be at least 1, not ", n});
  if (scale != "" && scale != "n" && scale != "sqrtn")
    raise<ValueError>({"dft: scale must be '', 'n' or 'sqrtn', not '", scale, "'"});
  const double size = static_cast<double>(n), by = scale == "n"  ? 1 / size
                                                   : scale == "" ? 1
                                                                 : 1 / std::sqrt(size);
  return detail::square_of<std::complex<T>>("dft", n, [=](std::int64_t j, std::int64_t k) {
    return std::complex<T>(std::polar(by, -2 * std::numbers::pi * static_cast<double>(j * k % n) / size));
  });
}

}  // namespace linalg
NAX_END
#pragma pop_macro("pascal")
