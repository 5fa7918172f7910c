#include <gtest/gtest.h>

#include <string>

#include "formula/formulas.hpp"
#include "nax/expr/evaluation/formula_kernels.hpp"
#include "nax/nax.hpp"

// Kernels that run the formula of an expression against those that are compiled of its type.
namespace expression_kernels_test {

using nax::Array;
using nax::detail::FormulaKernels;

template <class C>
std::vector<C> column(std::size_t n, double first) {
  std::vector<C> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<C>(std::sin(first + 0.7 * static_cast<double>(i)));
  return x;
}
template <class C>
void expect_near(const std::vector<C>& a, const std::vector<C>& b, const std::string& what) {
  const double most = std::is_same_v<C, float> ? 1e-5 : 1e-13;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (formulas::same_bits(a[i], b[i])) continue;
    ASSERT_NEAR(a[i], b[i], most * std::max(1.0, std::abs(static_cast<double>(b[i])))) << what << ", " << i;
  }
}

// Each leaf wanted or not, added to what is there or not, or sharing the gradient of the first leaf.
template <class E>
void check(const E& e) {
  using C = nax::detail::packet_element_t<E>;
  constexpr int leaves = nax::detail::Tree<E>::leaves;
  const nax::detail::Parts<E> parts(e);
  const void* const constants = parts.constants.slots;
  for (const std::size_t n : {1, 7, 16, 100}) {
    const std::int64_t length = static_cast<std::int64_t>(n);
    std::vector<std::vector<C>> x;
    const void* in[leaves];
    for (int l = 0; l < leaves; ++l) x.push_back(column<C>(n, l));
    for (int l = 0; l < leaves; ++l) in[l] = x[static_cast<std::size_t>(l)].data();
    std::vector<C> values(n), expected(n);
    FormulaKernels<E>::forward(constants, in, values.data(), length);
    nax::detail::forward_kernel<E>(constants, in, expected.data(), length);
    expect_near(values, expected, "values");
    const std::vector<C> g = column<C>(n, 9);
    for (int way = 0; way < 1 << (2 * leaves); ++way)
      for (const bool valued : {false, true}) {
        std::vector<std::vector<C>> ours, theirs;
        for (int l = 0; l < leaves; ++l) ours.push_back(column<C>(n, 20 + l));
        theirs = ours;
        void *to[leaves], *to_expected[leaves];
        unsigned added = 0;
        int first = -1;
        for (int l = 0; l < leaves; ++l) {
          // Not at all, stored, added, with the first.
          const int how = nax::detail::carries_leaf<E>(l) ? way >> (2 * l) & 3 : 0;
          const std::size_t at = static_cast<std::size_t>(how == 3 && first >= 0 ? first : l);
          to[l] = how == 0 ? nullptr : ours[at].data();
          to_expected[l] = how == 0 ? nullptr : theirs[at].data();
          if (how == 2 || (how == 3 && first >= 0)) added |= 1u << l;
          if (how != 0 && first < 0) first = l;
        }
        if (first < 0) continue;
        const std::string what = std::to_string(n) + " elements, gradients " + std::to_string(way);
        FormulaKernels<E>::pull(constants, in, g.data(), to, added, valued ? values.data() : nullptr, length);
        if (valued)
          nax::detail::pull_kernel<E, true>(constants, in, g.data(), to_expected, added, expected.data(),
                                            length);
        else
          nax::detail::pull_kernel<E>(constants, in, g.data(), to_expected, added, nullptr, length);
        for (int l = 0; l < leaves; ++l)
          expect_near(ours[static_cast<std::size_t>(l)], theirs[static_cast<std::size_t>(l)], what);
        if (valued) expect_near(values, expected, what);
      }
    for (const C seed : {C(1), C(-2.5)}) {
      std::vector<C> ours(n), theirs(n);
      void *to = ours.data(), *to_expected = theirs.data();
      FormulaKernels<E>::template pull_one<false>(constants, in, &seed, &to, 0, values.data(), length);
      nax::detail::pull_one_kernel<E, false>(constants, in, &seed, &to_expected, 0, expected.data(), length);
      expect_near(ours, theirs, "one array");
      expect_near(values, expected, "one array");
      std::vector<C> sum(1), expected_sum(1);
      FormulaKernels<E>::template pull_one<true>(constants, in, &seed, &to, 0, sum.data(), length);
      nax::detail::pull_one_kernel<E, true>(constants, in, &seed, &to_expected, 0, expected_sum.data(),
                                            length);
      expect_near(ours, theirs, "one array, summed");
      EXPECT_NEAR(sum[0], expected_sum[0], 1e-4);
    }
  }
}

TEST(ExpressionKernels, EqualCompiledKernels) {
  const Array<float> x{1}, y{1}, z{1};
  check(nax::tanh(1.5f * x) * y + z);
  check(nax::where(x > 0.25f, nax::exp(y), x / 2.f) + y / 3.f);
  const Array<double> a{1}, b{1};
  check(nax::maximum(a, b) * nax::power(a, 3) - 0.5 * b);
  check(nax::sqrt(nax::abs(a)) + nax::log1p(nax::exp(b)));
}

// Their slots hold two bytes, and code reads a float.
TEST(ExpressionKernels, OfHalfNumbersAreCompiled) {
  const Array<nax::half> x{nax::half(1)};
  static_assert(nax::detail::has_narrow_number<decltype(x * x + nax::half(2))>);
  static_assert(!nax::detail::has_narrow_number<decltype(x * x + x)>);
  static_assert(!nax::detail::has_narrow_number<decltype(Array<float>() * 2.f)>);
  EXPECT_EQ(nax::detail::formula_of(x * nax::half(2) / nax::half(4)).text(),
            "float formula of 3 inputs\n  t0 = multiply(x0, x1)\n  t1 = multiply(t0, 0.25)\n  return t1\n");
}

// Whole powers are part of the formula: beyond some dozens of them code is made for the call alone.
TEST(ExpressionKernels, TakeNumbersThatChange) {
  const Array<double> x{1};
  const std::vector<double> in_x = {0.5, 2, 3};
  for (int n = 1; n <= 100; ++n) {
    const auto e = nax::power(x, n) * (1.0 / n) + x / static_cast<double>(n);
    const nax::detail::Parts<std::remove_const_t<decltype(e)>> parts(e);
    const void* const in[] = {in_x.data(), in_x.data()};
    std::vector<double> out(3);
    FormulaKernels<std::remove_const_t<decltype(e)>>::forward(parts.constants.slots, in, out.data(), 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const double expected = std::pow(in_x[i], n) / n + in_x[i] / n;
      EXPECT_NEAR(out[i], expected, 1e-12 * expected) << n;
    }
  }
}

}  // namespace expression_kernels_test
