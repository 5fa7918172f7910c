#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <initializer_list>

#include "cuda/runtime/runtime.hpp"

// Shared by the stand-ins of cuBLAS and cuSOLVER. Matrices are column-major; work is done when the stream
// gets there. A call that is given what the libraries refuse (leading dimensions, sizes, host addresses)
// fails; so does one whose arrays reach beyond a block of the card.
namespace stand_in {

template <class T>
struct Host {
  using type = T;
};
template <>
struct Host<cuComplex> {
  using type = std::complex<float>;
};
template <>
struct Host<cuDoubleComplex> {
  using type = std::complex<double>;
};
// A library's elements as numbers of C++.
template <class T>
auto* numbers(T* x) {
  using H = typename Host<std::remove_const_t<T>>::type;
  if constexpr (std::is_const_v<T>)
    return reinterpret_cast<const H*>(x);
  else
    return reinterpret_cast<H*>(x);
}

// An array of a call: it must lie on a card.
struct Argument {
  const void* address;
  std::size_t bytes;
  template <class T>
  Argument(const T* data, std::int64_t count)
      : address(data), bytes(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)) * sizeof(T)) {}
  bool lies_on_card() const {
    if (bytes == 0) return true;
    const Memory memory = memory_at(address);
    return memory.begin && memory.card >= 0 && !memory.freed &&
           static_cast<const char*>(address) + bytes <= memory.begin + memory.bytes;
  }
};
inline bool lie_on_card(std::initializer_list<Argument> arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const Argument& a) { return a.lies_on_card(); });
}
// Elements from the first of a column-major matrix to its last.
inline std::int64_t extent(std::int64_t m, std::int64_t n, std::int64_t lead) {
  return m == 0 || n == 0 ? 0 : (n - 1) * lead + m;
}

enum class Library { captured, not_captured };
// Enqueues a library's work; false where the call fails.
bool submit(cudaStream_t stream, Library library, std::function<void()> work);
// Counts what a kernel of a library would have done wrong, as copies from freed memory do.
void made_handle();  // a violation while the thread captures
void count_violation();

template <class T>
auto pivot_size(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// LAPACK's getrf: swaps count from 1; the first pivot that is 0 is returned.
template <class T>
int factor_lu(std::int64_t m, std::int64_t n, T* a, std::int64_t lead, int* swaps) {
  int info = 0;
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < m; ++i)
      if (pivot_size(a[k * lead + i]) > pivot_size(a[k * lead + pivot])) pivot = i;
    swaps[k] = static_cast<int>(pivot + 1);
    for (std::int64_t j = 0; j < n && pivot != k; ++j) std::swap(a[j * lead + k], a[j * lead + pivot]);
    const T top = a[k * lead + k];
    if (top == T(0)) {
      if (info == 0) info = static_cast<int>(k + 1);
      continue;
    }
    for (std::int64_t i = k + 1; i < m; ++i) a[k * lead + i] /= top;
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = k + 1; i < m; ++i) a[j * lead + i] -= a[k * lead + i] * a[j * lead + k];
  }
  return info;
}
template <class T>
void solve_lu(std::int64_t n, std::int64_t columns, const T* a, std::int64_t lead, const int* swaps, T* b,
              std::int64_t ldb) {
  for (std::int64_t c = 0; c < columns; ++c) {
    T* const x = b + c * ldb;
    for (std::int64_t i = 0; i < n; ++i) std::swap(x[i], x[swaps[i] - 1]);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j + 1; i < n; ++i) x[i] -= a[j * lead + i] * x[j];
    for (std::int64_t j = n; j-- > 0;) {
      x[j] /= a[j * lead + j];
      for (std::int64_t i = 0; i < j; ++i) x[i] -= a[j * lead + i] * x[j];
    }
  }
}

}  // namespace stand_in
