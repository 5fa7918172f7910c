#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "nax/devices/cuda/launch/loop.hpp"
#include "nax/devices/cuda/rows/row_loops.hpp"

// Kernels between cuSOLVER's calls.
NAX_BEGIN
namespace cuda {

// Addresses of the matrices of a batch; `loop` has their places, one an axis of the batch.
template <class T>
struct ListMatrices {
  Loop<1> loop;
  T** to;
  constexpr void operator()(std::int64_t i) const {
    char* at[1];
    loop.locate(i, at);
    to[i] = reinterpret_cast<T*>(at[0]);
  }
};

struct BothTrue {
  static constexpr int join(int a, int b) { return a & b; }
};

// Sets the info of a Cholesky factor (row-major, its diagonal real) whose diagonal is not positive: a NaN is
// not.
template <class R, int parts>
struct CheckDefinite {
  const R* factor;
  std::int64_t n;
  int* info;
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t matrix) const {
    int positive = 1;
    for (std::int64_t i = team.thread(); i < n; i += team.threads())
      positive &= factor[((matrix * n + i) * n + i) * parts] > R(0) ? 1 : 0;
    positive = team.combine(positive, BothTrue());
    if (team.thread() == 0 && !positive) info[matrix] = 1;
  }
};

// Zeros in the upper triangle of row-major factors, and NaN in the lower one of those that failed.
template <class R, int parts>
struct FinishCholesky {
  R* to;
  std::int64_t n;
  const int* info;
  constexpr void operator()(std::int64_t i) const {
    const bool above = i % n > i / n % n, failed = info[i / (n * n)] != 0;
    if (!above && !failed) return;
    for (int p = 0; p < parts; ++p)
      to[i * parts + p] = above ? R(0) : p == 0 || parts == 1 ? std::numeric_limits<R>::quiet_NaN() : R(0);
  }
};

// LAPACK counts rows from 1.
struct CountSwapsFromZero {
  const int* from;
  std::int32_t* to;
  constexpr void operator()(std::int64_t i) const { to[i] = from[i] - 1; }
};

// Identity matrices, column-major or row-major.
template <class R, int parts>
struct FillIdentity {
  R* to;
  std::int64_t n;
  constexpr void operator()(std::int64_t i) const {
    to[i * parts] = i % n == i / n % n ? R(1) : R(0);
    if constexpr (parts == 2) to[i * 2 + 1] = R(0);
  }
};

// A number times 2^power, its larger part in [1, 2): products of many leave the range of numbers on the way.
template <class R, int parts>
struct ScaledProduct {
  R x[parts];
  std::int64_t power = 0;

  constexpr void multiply(const R* by) {
    if constexpr (parts == 2) {
      const R real = x[0] * by[0] - x[1] * by[1], imaginary = x[0] * by[1] + x[1] * by[0];
      x[0] = real, x[1] = imaginary;
    } else {
      x[0] *= by[0];
    }
    normalise();
  }
  constexpr void normalise() {
    R size = std::abs(x[0]);
    if constexpr (parts == 2) size = std::abs(x[1]) > size ? std::abs(x[1]) : size;
    if (!(size > R(0)) || !(size <= std::numeric_limits<R>::max())) return;
    const int by = std::ilogb(size);
    for (R& part : x) part = std::ldexp(part, -by);
    power += by;
  }
  constexpr R part(int p) const {
    constexpr std::int64_t most = 1 << 20;
    const std::int64_t by = power > most ? most : power < -most ? -most : power;
    return std::ldexp(x[p], static_cast<int>(by));
  }
};

// Whether an odd number of the n swaps moves a row.
constexpr bool is_odd_permutation(const int* swaps, std::int64_t n) {
  bool odd = false;
  for (std::int64_t i = 0; i < n; ++i) odd ^= swaps[i] != i + 1;
  return odd;
}

// Determinants of factors: the products of their diagonals.
template <class R, int parts>
struct MultiplyPivots {
  const R* factors;
  const int* swaps;
  R* to;
  std::int64_t n;
  constexpr void operator()(std::int64_t matrix) const {
    ScaledProduct<R, parts> product{};
    product.x[0] = is_odd_permutation(swaps + matrix * n, n) ? R(-1) : R(1);
    for (std::int64_t i = 0; i < n; ++i) {
      R pivot[parts];
      for (int p = 0; p < parts; ++p) pivot[p] = factors[((matrix * n + i) * n + i) * parts + p];
      // The factor is normalised first: a product of two numbers of the range may leave it.
      ScaledProduct<R, parts> factor{};
      for (int p = 0; p < parts; ++p) factor.x[p] = pivot[p];
      factor.normalise();
      product.multiply(factor.x);
      product.power += factor.power;
    }
    for (int p = 0; p < parts; ++p) to[matrix * parts + p] = product.part(p);
  }
};

// Their signs (phases), and the logarithms of their sizes.
template <class R, int parts>
struct AddLogarithms {
  const R* factors;
  const int* swaps;
  R* sign;
  R* logarithm;
  std::int64_t n;
  constexpr void operator()(std::int64_t matrix) const {
    R s[2] = {is_odd_permutation(swaps + matrix * n, n) ? R(-1) : R(1), R(0)}, sum = R(0);
    for (std::int64_t i = 0; i < n; ++i) {
      const R* const pivot = factors + ((matrix * n + i) * n + i) * parts;
      const R imaginary = parts == 2 ? pivot[parts - 1] : R(0);
      const R size = parts == 2 ? std::hypot(pivot[0], imaginary) : std::abs(pivot[0]);
      if (size == R(0)) {
        s[0] = s[1] = R(0);
      } else {
        const R re = pivot[0] / size, im = imaginary / size, real = s[0] * re - s[1] * im;
        s[1] = s[0] * im + s[1] * re;
        s[0] = real;
      }
      sum += std::log(size);
    }
    for (int p = 0; p < parts; ++p) sign[matrix * parts + p] = s[p];
    logarithm[matrix] = sum;
  }
};

}  // namespace cuda
NAX_END
