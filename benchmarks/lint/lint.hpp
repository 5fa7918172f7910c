#pragma once

// nax's side of lint.sh: rows for the functions of functions.txt, each at several sizes, with and without
// its gradient.

#include <array>
#include <string>

#include "../rows/rows.hpp"

namespace bench::lint {

inline constexpr std::array<std::int64_t, 2> sizes = {1'000'000, 100};

template <class T>
std::vector<float> numbers_of(const Array<T>& x) {
  std::vector<float> numbers;
  for (const T value : x.to_vector()) {
    if constexpr (nax::is_complex_v<T>)
      numbers.push_back(static_cast<float>(value.real()));
    else
      numbers.push_back(static_cast<float>(value));
  }
  return numbers;
}

template <class F>
Work computes(F f) {
  return work([f] { [[maybe_unused]] const auto result = nax::tree::materialise(f()); },
              [f] {
                std::vector<float> all;
                nax::tree::for_each(
                    [&](const auto& leaf) {
                      const auto numbers = numbers_of(leaf);
                      all.insert(all.end(), numbers.begin(), numbers.end());
                    },
                    nax::tree::materialise(f()));
                return all;
              });
}

// ---- inputs: x, y and i of an expression; lint_side.py makes the same

template <class X, class Y = X>
struct Inputs {
  X x;
  Y y;
  Array<std::int32_t> i;
};
struct Range {
  float low, high;
  Inputs<Array<float>> operator()(std::int64_t n) const {
    return {uniform_array(1, {n}, low, high), uniform_array(2, {n}, low, high), {}};
  }
};
inline constexpr Range real{-2, 2}, positive{.1f, 5}, unit{-.95f, .95f}, above_one{1.1f, 5},
    probability{.05f, .95f}, near_one{.99999f, 1.00001f};

inline Array<std::int32_t> integer_array(std::uint32_t seed, std::int64_t n, std::uint32_t high) {
  return nax::asarray(std::span<const std::int32_t>(integers(seed, n, high)), {n});
}
struct Integers {
  std::uint32_t high;
  Inputs<Array<std::int32_t>> operator()(std::int64_t n) const {
    return {nax::eval(integer_array(1, n, high) + 1), nax::eval(integer_array(2, n, high) + 1), {}};
  }
};
inline constexpr Integers int_{1000}, int_small{8};

inline Inputs<Array<float>> real_int(std::int64_t n) {
  auto in = real(n);
  in.i = integer_array(3, n, 8);
  return in;
}
inline Inputs<Array<float>> indices(std::int64_t n) {
  auto in = real(n);
  in.i = integer_array(3, n, static_cast<std::uint32_t>(n));
  return in;
}
inline Inputs<Array<bool>> bool_(std::int64_t n) {
  const auto in = real(n);
  return {nax::eval(in.x > 0.f), nax::eval(in.y > 1.f), {}};
}
inline Inputs<Array<std::complex<float>>> complex(std::int64_t n) {
  const auto in = real(n);
  const std::complex<float> z(1, 2);
  return {nax::eval(in.x * z), nax::eval(in.y * z), {}};
}
inline std::int64_t side(std::int64_t n) {
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= n) ++side;
  return side;
}
inline Inputs<Array<float>> matrix(std::int64_t n) {
  const std::int64_t m = side(n);
  return {uniform_array(1, {m, m}, -2, 2), uniform_array(2, {m, m}, -2, 2), {}};
}
inline Inputs<Array<float>> matrix_indices(std::int64_t n) {
  auto in = matrix(n);
  in.i = integer_array(3, side(n), static_cast<std::uint32_t>(side(n)));
  return in;
}
// Symmetric ones of ten rows, with positive eigenvalues.
inline Inputs<Array<float>> matrices(std::int64_t n) {
  const auto a = uniform_array(1, {n / 100, 10, 10}, -1, 1);
  return {nax::eval(nax::matmul(a, nax::matrix_transpose(a)) + nax::eye<float>(10) * 10.f),
          uniform_array(2, {n / 100, 10, 10}, -1, 1),
          {}};
}
inline Inputs<nax::random::Key, int> key(std::int64_t) { return {nax::random::key(0), 0, {}}; }

// ---- rows

#ifndef NAX_LINT_JIT
// f(x, y, i, n)
template <class Make, class F>
void add(Rows& rows, const std::string& name, Make make, F f) {
  for (const std::int64_t n : sizes)
    rows.push_back({name + '@' + std::to_string(n), [=] {
                      const auto in = make(n);
                      return computes([=] { return f(in.x, in.y, in.i, n); });
                    }});
}
// The gradient of the result's sum, by x.
template <class Make, class F>
void add_gradient(Rows& rows, const std::string& name, Make make, F f) {
  for (const std::int64_t n : sizes)
    rows.push_back({name + ".grad@" + std::to_string(n), [=] {
                      const auto in = make(n);
                      return computes([=] {
                        return nax::grad(
                            [&](const Array<float>& x) { return nax::sum(f(x, in.y, in.i, n)); })(in.x);
                      });
                    }});
}
#endif

}  // namespace bench::lint

#ifdef NAX_LINT_JIT
#include "jit_rows.hpp"
#endif
