#include "nax/expr/expressions/formula.hpp"

#include <gtest/gtest.h>

#include "formula/formulas.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/nax.hpp"

// Formulas as values: their text, equality, the simplifications of recording and their limits.
namespace formula_test {

using namespace formulas;

template <class F>
Formula recorded(const F& f) {
  Recorder recorder(nax::DType::float32);
  return recorder.finish({f(Symbol<float>::input(0), Symbol<float>::input(1)).at});
}
const auto number = [](double x) { return Symbol<float>(x); };
template <class F>
std::size_t steps_of(const F& f) {
  std::size_t count = 0;
  for (const Step& step : recorded(f).steps) count += step.arity > 0;
  return count;
}

TEST(Formulas, ArePrintedALineAStep) {
  const nax::Array<float> x{1, 2}, y{3, 4};
  EXPECT_EQ(nax::detail::formula_of(nax::tanh(x * 1.5) + nax::where(y > 0, x, 2 * y)).text(),
            "float formula of 7 inputs\n"
            "  t0 = multiply(x0, x4)\n"
            "  t1 = tanh(t0)\n"
            "  t2 = less(x5, x1)\n"
            "  t3 = multiply(x1, x6)\n"
            "  t4 = select(t2, x0, t3)\n"
            "  t5 = add(t1, t4)\n"
            "  return t5\n");
}

// Compilers evaluate operands in any order.
TEST(Formulas, DoNotDependOnTheOrderOfRecording) {
  const auto first = recorded([](auto x, auto y) {
    const auto a = exp(x), b = sin(y);
    return a * b + a / b;
  });
  const auto second = recorded([](auto x, auto y) {
    const auto b = sin(y), a = exp(x);
    const auto quotient = a / b;
    return quotient + b * a;
  });
  EXPECT_EQ(first, second) << first.text() << second.text();
}

TEST(Formulas, AreComparedAndHashed) {
  const auto f = [](auto x, auto y) { return x * y + x; };
  EXPECT_EQ(recorded(f), recorded(f));
  EXPECT_EQ(recorded(f).hash(), recorded(f).hash());
  const Formula other = recorded([](auto x, auto y) { return x * y - x; });
  EXPECT_NE(recorded(f), other);
  EXPECT_NE(recorded(f).hash(), other.hash());
}

TEST(Formulas, ShareEqualSteps) {
  EXPECT_EQ(steps_of([](auto x, auto y) { return sin(x * y) + sin(y * x); }), 3);
  EXPECT_EQ(steps_of([](auto x, auto y) { return abs(-x) + abs(x) * y; }), 3);
}

TEST(Formulas, FoldConstantsAndDropUnusedSteps) {
  EXPECT_EQ(steps_of([](auto x, auto) { return x * (number(2) + number(3)); }), 1);
  EXPECT_EQ(steps_of([](auto x, auto y) {
              exp(y);
              return x + x;
            }),
            1);
  const Formula low = lowered(recorded([](auto, auto) { return exp(number(1)); }));
  EXPECT_EQ(low.steps.size(), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(low.steps[0].number()), 2.7182817f);
}

TEST(Formulas, SimplifyWhereNoBitChanges) {
  EXPECT_EQ(steps_of([](auto x, auto) { return x * number(1); }), 0);
  EXPECT_EQ(steps_of([](auto x, auto) { return x / number(1); }), 0);
  EXPECT_EQ(steps_of([](auto x, auto) { return x + number(-0.0); }), 0);
  EXPECT_EQ(steps_of([](auto x, auto) { return x - number(0); }), 0);
  EXPECT_EQ(steps_of([](auto x, auto) { return -(-x); }), 0);
  EXPECT_EQ(steps_of([](auto x, auto y) { return select(x < y, x, x); }), 0);
  EXPECT_EQ(steps_of([](auto x, auto y) { return select(number(1) < number(2), x, y); }), 0);
  EXPECT_EQ(recorded([](auto x, auto) { return x / number(4); }),
            recorded([](auto x, auto) { return number(0.25) * x; }));
  // -0 + 0 is 0, 0 * infinity is NaN, and a third is no power of two.
  EXPECT_EQ(steps_of([](auto x, auto) { return x + number(0); }), 1);
  EXPECT_EQ(steps_of([](auto x, auto) { return x * number(0); }), 1);
  EXPECT_EQ(steps_of([](auto x, auto) { return x - x; }), 1);
  EXPECT_NE(recorded([](auto x, auto) { return x / number(3); }),
            recorded([](auto x, auto) { return number(1. / 3) * x; }));
}

TEST(Formulas, LowerToStepsOfMachines) {
  const Formula f = recorded([](auto x, auto y) { return pow(x, y) + x * y; });
  EXPECT_FALSE(is_lowered(f));
  EXPECT_TRUE(is_lowered(lowered(f)));
  EXPECT_NE(lowered(f).text().find("fma"), std::string::npos);
  EXPECT_EQ(lowered(f, false).text().find("fma"), std::string::npos);
  float x = 1, y = 1, z;
  const Line in[] = {{&x, 1}, {&y, 1}};
  const Target out{&z, 1};
  EXPECT_THROW(interpret(f, in, &out, 1), nax::ValueError);
}

TEST(Formulas, NeedARecorder) {
  EXPECT_THROW(Symbol<float>(1), nax::ValueError);
  EXPECT_THROW(Recorder refused(nax::DType::complex64), nax::TypeError);
  Recorder outer(nax::DType::float32);
  {
    Recorder inner(nax::DType::float64);
    EXPECT_EQ(&Recorder::current(), &inner);
  }
  EXPECT_EQ(&Recorder::current(), &outer);
  EXPECT_THROW(uniform(Symbol<float>::input(0)), nax::ValueError);
}

// A number that changes at each step of a training makes no kernel at each step.
TEST(Formulas, TakeNumbersOfExpressionsAsInputs) {
  const nax::Array<float> x{1, 2}, y{3, 4};
  const auto step = [&](float rate) { return nax::detail::formula_of(x - rate * y); };
  EXPECT_EQ(step(0.1f), step(0.2f));
  EXPECT_EQ(nax::formula::kernel_of(step(0.1f)), nax::formula::kernel_of(step(0.2f)));
  // Only what a rule computes with is part of the formula.
  const auto power = [&](int n) { return nax::detail::formula_of(nax::power(x, n)); };
  EXPECT_NE(power(3), power(5));
  const auto quotient = [&](float by) { return nax::detail::formula_of(x / by); };
  EXPECT_EQ(quotient(3), quotient(7));
  EXPECT_EQ(quotient(4).text(), "float formula of 2 inputs\n  t0 = multiply(x0, 0.25)\n  return t0\n");
}

TEST(Formulas, ShareRepeatedLeaves) {
  const nax::Array<float> x{1, 2};
  const auto text = nax::detail::formula_of(nax::exp(x) + nax::exp(x)).text();
  EXPECT_EQ(text, "float formula of 2 inputs\n  t0 = exp(x0)\n  t1 = add(t0, t0)\n  return t1\n");
  const auto reversed = nax::detail::formula_of(x - x[nax::slice(nax::none, nax::none, -1)]);
  EXPECT_EQ(reversed.text(), "float formula of 2 inputs\n  t0 = subtract(x0, x1)\n  return t0\n");
}

}  // namespace formula_test
