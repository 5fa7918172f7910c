#include <gtest/gtest.h>

#include "formula/formulas.hpp"

// Which products and sums become one step with one rounding.
namespace contraction_test {

using namespace formulas;

std::size_t count(const Formula& f, Operation operation) {
  std::size_t found = 0;
  for (const Step& step : f.steps) found += step.operation == operation;
  return found;
}
// The lowered formula of f(Symbol of an input's number).
template <class F>
Formula lowered_of(const F& f) {
  Recorder recorder(nax::DType::float64);
  const auto at = [](int number) { return Symbol<double>::input(number); };
  return nax::formula::lowered(recorder.finish({f(at).at}));
}

TEST(Contraction, OfTwoProductsIsDecidedByTheirForms) {
  if (!nax::simd::fused) GTEST_SKIP() << "no instruction multiplies and adds";
  // Equal forms: both are rounded.
  for (int first = 0; first < 24; first += 4) {
    const Formula f =
        lowered_of([&](const auto& x) { return x(first) * x(first + 1) + x(first + 2) * x(first + 3); });
    EXPECT_EQ(count(f, Operation::fma), 0u);
    EXPECT_EQ(count(f, Operation::multiply), 2u);
  }
  // Other forms: the one that is rounded is the same for all inputs.
  const auto rounds_the_square = [](int a, int b) {
    const Formula f = lowered_of([&](const auto& x) { return x(a) * Symbol<double>(3) + sqrt(x(b)) * x(b); });
    EXPECT_EQ(count(f, Operation::fma), 1u);
    for (const Step& step : f.steps)
      if (step.operation == Operation::multiply)
        for (const int operand : {step.operand[0], step.operand[1]})
          if (f.steps[static_cast<std::size_t>(operand)].operation == Operation::sqrt) return true;
    return false;
  };
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b)
      if (a != b) {
        EXPECT_EQ(rounds_the_square(a, b), rounds_the_square(0, 1)) << a << ' ' << b;
      }
}

TEST(Contraction, TakesTheOnlyProduct) {
  if (!nax::simd::fused) GTEST_SKIP() << "no instruction multiplies and adds";
  const auto steps = [](const auto& f) {
    const Formula low = lowered_of(f);
    return count(low, Operation::fma) + 10 * count(low, Operation::multiply);
  };
  EXPECT_EQ(steps([](const auto& x) { return x(0) * x(1) + x(2); }), 1u);
  EXPECT_EQ(steps([](const auto& x) { return x(0) + x(1) * x(2); }), 1u);
  EXPECT_EQ(steps([](const auto& x) { return x(0) * x(1) + x(2) * x(3) + x(4) * x(5); }), 21u);
}

}  // namespace contraction_test
