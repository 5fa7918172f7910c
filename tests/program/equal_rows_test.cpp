#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <nax/nax.hpp>
#include <string>
#include <vector>

// Equal rows get equal bits under jit(vmap), wherever they lie: in packets, in the tail behind them, or as
// elements that a formula spells one by one. Else ties of rows would be broken by their place.
namespace equal_rows_test {
using namespace nax;

template <class T>
bool are_equal(const std::vector<T>& all, std::size_t rows) {
  const std::size_t n = all.size() / rows;
  for (std::size_t i = 1; i < rows; ++i)
    if (std::memcmp(all.data(), all.data() + i * n, n * sizeof(T)) != 0) return false;
  return true;
}

template <class T, class F>
void expect_equal_rows(const std::string& name, const F& f, const std::vector<std::int64_t>& lengths) {
  using A = Array<T>;
  const auto fast = jit(vmap([&](const A& x) { return A(f(x)); }));
  for (const std::int64_t n : lengths)
    for (const std::int64_t rows : {2, 3, 4, 5, 6, 9, 17}) {
      const A row = random::normal<T>(random::key(static_cast<unsigned>(10 * n + rows)), {n});
      EXPECT_TRUE(are_equal(A(fast(A(broadcast_to(row, {rows, n}).copy()))).to_vector(),
                            static_cast<std::size_t>(rows)))
          << name << ", " << rows << " rows of " << n;
    }
}

// Matrices of one seed, the same for all rows.
template <class T>
Array<T> matrix(const Array<T>& x) {
  return random::normal<T>(random::key(7), {x.size(), x.size()});
}
template <class T>
Array<T> vector(const Array<T>& x) {
  return random::normal<T>(random::key(8), {x.size()});
}

template <class T>
void expect_small_ones() {
  using A = Array<T>;
  const std::vector<std::int64_t> lengths = {1, 2, 3, 4, 5, 7};
  const auto layer = [](const A& x) { return A(tanh(matmul(x, matrix(x)) + vector(x))); };
  const auto check = [&](const char* name, const auto& f) { expect_equal_rows<T>(name, f, lengths); };
  check("two layers", [&](const A& x) { return A(matmul(layer(x), matrix(x).T())); });
  check("form", [](const A& x) { return A(matmul(x, sin(outer(x, x)))); });
  check("Hessian",
        [&](const A& x) { return A(hessian([&](const A& v) { return A(sum(layer(v) * v)); })(x)); });
  check("gradient", [&](const A& x) { return A(grad([&](const A& v) { return A(sum(layer(v) * v)); })(x)); });
  check("sum of products", [](const A& x) {
    const A back = x(slice(none, none, -1));
    return A(x * vector(x) + vector(x) * back + x * back);
  });
  check("determinant",
        [](const A& x) { return A(linalg::det(A(outer(x, x) + eye<T>(x.size()) + matrix(x) * T(.1)))); });
  check("norm", [](const A& x) { return A(linalg::norm(x) * x); });
}

TEST(EqualRows, OfSmallArraysHaveEqualBits) {
  expect_small_ones<float>();
  expect_small_ones<double>();
}

template <class T>
void expect_lines() {
  using A = Array<T>;
  const std::vector<std::int64_t> lengths = {1, 3, 8, 11, 16, 33, 129, 1000};
  const auto check = [&](const char* name, const auto& f) { expect_equal_rows<T>(name, f, lengths); };
  check("functions", [](const A& x) { return A(tanh(x) * exp(x) + sin(x) * x / (x * x + T(1))); });
  check("softmax", [](const A& x) { return A(nn::softmax(x)); });
  check("standardized", [](const A& x) { return A((x - mean(x)) / sqrt(var(x) + T(1e-5))); });
  check("gradient", [](const A& x) {
    return A(grad([](const A& v) { return A(sum(tanh(v) * exp(v) / sqrt(sum(v * v)))); })(x));
  });
  check("sums", [](const A& x) { return A(cumsum(x) + sum(x) + prod(tanh(x))); });
}

TEST(EqualRows, OfLinesHaveEqualBits) { expect_lines<float>(); }

// Elements of a map, in packets and behind them.
template <class T, class F>
void expect_equal_elements(const char* name, const F& f) {
  using A = Array<T>;
  const auto fast = jit([&](const A& x, const A& y) { return A(f(x, y)); });
  for (std::int64_t n = 1; n < 70; n += 3) {
    const auto of = [&](T x) { return A(full<T>({n}, x)); };
    for (const T x : {T(.37), T(1.93), T(-2.71), T(40.5)})
      EXPECT_TRUE(are_equal(A(fast(of(x), of(T(.61)))).to_vector(), static_cast<std::size_t>(n)))
          << name << ", " << n << " elements of " << x;
  }
}
template <class T>
void expect_elements() {
#define NAX_EXPECT(f) expect_equal_elements<T>(#f, [](const auto& x, const auto& y) { return f; });
  NAX_EXPECT(exp(x) * y + x * x)
  NAX_EXPECT(x * y + y * sin(x) + x * cos(y))
  NAX_EXPECT(pow(abs(x), y) + hypot(x, y))
  NAX_EXPECT(special::erf(x) + special::gammaln(abs(x) + y))
  NAX_EXPECT(sinh(y * x) * x + cosh(y) * y)
#undef NAX_EXPECT
}

TEST(EqualRows, OfOneElementHaveEqualBits) { expect_elements<float>(); }

}  // namespace equal_rows_test
