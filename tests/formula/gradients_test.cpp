#include <gtest/gtest.h>

#include "formula/formulas.hpp"
#include "nax/expr/expressions/formula.hpp"
#include "nax/formula/gradient.hpp"
#include "nax/nax.hpp"

// Derivatives of formulas, of the first, second and third order.
namespace gradients_test {

using namespace formulas;
using nax::Array;

using Function = Symbol<double> (*)(Symbol<double>);
Formula formula_of(Function function) {
  Recorder recorder(nax::DType::float64);
  return recorder.finish({function(Symbol<double>::input(0)).at});
}
double value(const Formula& f, std::vector<double> x, std::size_t result = 0) {
  std::vector<Line> in;
  for (const double& number : x) in.push_back({&number, 0});
  in.resize(std::max(in.size(), static_cast<std::size_t>(f.inputs)), Line{x.data(), 0});
  std::vector<double> y(f.results.size());
  std::vector<Target> out;
  for (double& number : y) out.push_back({&number, 1});
  Kernel(f).run(in.data(), out.data(), 1);
  return y[result];
}
// The first `order` derivatives against differences of the one below.
void check_orders(const char* name, Function function, int order, std::vector<double> places) {
  Formula f = formula_of(function);
  for (int k = 1; k <= order; ++k) {
    const Formula d = gradient_of(f, {0});
    for (const double x : places) {
      const double h = 1e-5, expected = (value(f, {x + h}) - value(f, {x - h})) / (2 * h);
      EXPECT_NEAR(value(d, {x}), expected, 1e-5 * std::max(1.0, std::abs(expected)))
          << name << ", derivative " << k << " at " << x << "\n"
          << d.text();
    }
    f = d;
  }
}

TEST(FormulaGradients, OfAnyOrder) {
#define NAX_CHECK(...) \
  check_orders(#__VA_ARGS__, [](Symbol<double> x) -> Symbol<double> { return __VA_ARGS__; }, 3, {0.3, 0.7})
  NAX_CHECK(exp(x));
  NAX_CHECK(exp2(x));
  NAX_CHECK(expm1(x));
  NAX_CHECK(expit(x));
  NAX_CHECK(log(x));
  NAX_CHECK(log2(x));
  NAX_CHECK(log10(x));
  NAX_CHECK(log1p(x));
  NAX_CHECK(tanh(x));
  NAX_CHECK(sinh(x));
  NAX_CHECK(cosh(x));
  NAX_CHECK(asinh(x));
  NAX_CHECK(acosh(x + Symbol<double>(1.5)));
  NAX_CHECK(atanh(x));
  NAX_CHECK(sin(x));
  NAX_CHECK(cos(x));
  NAX_CHECK(tan(x));
  NAX_CHECK(atan(x));
  NAX_CHECK(asin(x));
  NAX_CHECK(acos(x));
  NAX_CHECK(erf(x));
  NAX_CHECK(erfc(x));
  NAX_CHECK(cbrt(x));
  NAX_CHECK(sqrt(x));
  NAX_CHECK(lgamma(x));
  NAX_CHECK(tgamma(x));
  NAX_CHECK(abs(x) * -x);
  NAX_CHECK(atan2(x, x * x + Symbol<double>(1)));
  NAX_CHECK(hypot(x, exp(x)));
  NAX_CHECK(pow(x, x + Symbol<double>(2)));
  NAX_CHECK(fmod(x * x, Symbol<double>(0.4)));
  NAX_CHECK(max(x * x, sin(x)) / min(x, cos(x)));
  NAX_CHECK(fma(x, sin(x), x * x));
  NAX_CHECK(select(x < Symbol<double>(0.5), x * x, exp(x)) + kept(x < Symbol<double>(0.5), x * x * x));
  NAX_CHECK(copysign(x * x, -x));
  NAX_CHECK(rint(x) * x + floor(x));
#undef NAX_CHECK
}

// A zero cotangent contributes nothing, even times an infinite derivative; its derivative in the cotangent is
// kept.
TEST(FormulaGradients, OfZeros) {
  const auto root = [](Symbol<double> x) {
    return select(x > Symbol<double>(0), sqrt(x), Symbol<double>(0));
  };
  const Formula first = gradient_of(formula_of(root), {0}), second = gradient_of(first, {0});
  for (const double x : {-1.0, 0.0}) {
    EXPECT_EQ(value(first, {x}), 0) << x;
    EXPECT_EQ(value(second, {x}), 0) << x;
  }
  EXPECT_EQ(value(second, {4}), -0.25 / 8);

  const auto entropy = [](Symbol<double> p) {
    return select(p > Symbol<double>(0), p * log(p), Symbol<double>(0));
  };
  EXPECT_EQ(value(gradient_of(formula_of(entropy), {0}), {0}), 0);

  const Formula pull = pull_of(formula_of([](Symbol<double> x) { return log(x) * sqrt(x); }), {0});
  EXPECT_EQ(value(pull, {0, 0}), 0);
  EXPECT_EQ(value(pull, {1, 3}), 3);

  const auto cube = [](Symbol<double> x) { return x * x * x; };
  const Formula d2 = gradient_of(gradient_of(formula_of(cube), {0}), {0}), d3 = gradient_of(d2, {0});
  EXPECT_EQ(value(d2, {0}), 0);
  EXPECT_EQ(value(d3, {0}), 6);
  // The cotangent of the quotient is 2 x, zero in passing: (x / (x + 1))^2 bends by 2 there.
  const auto square = [](Symbol<double> x) {
    const Symbol<double> q = x / (x + Symbol<double>(1));
    return q * q;
  };
  EXPECT_EQ(value(gradient_of(gradient_of(formula_of(square), {0}), {0}), {0}), 2);
}

template <class E>
void compare_with_kernel(const E& e) {
  using C = nax::detail::packet_element_t<E>;
  constexpr int leaves = nax::detail::Tree<E>::leaves;
  std::vector<int> inputs;
  for (int l = 0; l < leaves; ++l)
    if (nax::detail::carries_leaf<E>(l)) inputs.push_back(l);
  std::vector<std::vector<C>> operands;
  for (std::uint64_t l = 0; l < leaves; ++l) operands.push_back(numbers<C>(200, l));
  for (int k = 0; k < nax::detail::Tree<E>::constants; ++k) operands.push_back({C(0)});
  operands.push_back(numbers<C>(200, 7));
  const auto walked = results_of(Kernel(nax::detail::pull_formula_of(e)), operands, 200);
  const auto derived = results_of(Kernel(pull_of(nax::detail::formula_of(e), inputs)), operands, 200);
  for (std::size_t k = 0; k < walked.size(); ++k)
    for (std::size_t i = 0; i < 200; ++i)
      if (const C a = walked[k][i], b = derived[k][i]; !same_bits(a, b)) {
        EXPECT_NEAR(a, b, 1e-4 * std::abs(a)) << k << " " << i;
      }
}
TEST(FormulaGradients, AreThoseOfExpressions) {
  const Array<float> x{1}, y{1}, z{1};
  compare_with_kernel(nax::tanh(x * y) + z);
  compare_with_kernel(nax::where(x > 0, nax::sqrt(y), nax::exp(z)));
  compare_with_kernel(nax::log(x) * nax::maximum(y, z));
  compare_with_kernel(x / y);
}

TEST(FormulaGradients, NameOperationsWithoutDerivatives) {
  Recorder recorder(nax::DType::float64);
  const auto y = by_lanes([](double x) { return x; }, Symbol<double>::input(0));
  const Formula f = recorder.finish({y.at});
  EXPECT_THROW(gradient_of(f, {0}), nax::ValueError);
  EXPECT_NO_THROW(gradient_of(f, {1}));
}

// The product of the Hessian of sum(tanh(1.5 x) x) and v, in one formula.
TEST(FormulaGradients, MakeHessianProducts) {
  const Array<double> x = nax::linspace(-2, 2, 101).astype<double>(), v = nax::cos(3.0 * x);
  const auto gradient = gradient_of(nax::detail::formula_of(nax::tanh(x * 1.5) * x), {0});
  const Formula product = pull_of(gradient, {0});
  const auto expected =
      std::get<1>(nax::jvp(nax::grad([](const Array<double>& a) { return nax::sum(nax::tanh(a * 1.5) * a); }),
                           std::tuple(x), std::tuple(v)));
  EXPECT_LE(product.steps.size(), 24) << product.text();  // no guards against zeros but one
  std::vector<double> at = x.to_vector(), along = v.to_vector(), to(101);
  std::vector<Line> in(static_cast<std::size_t>(product.inputs), Line{at.data(), 1});
  const double number = 1.5;
  in[2] = {&number, 0};
  in.back() = {along.data(), 1};
  const Target out{to.data(), 1};
  Kernel(product).run(in.data(), &out, 101);
  for (std::int64_t i = 0; i < 101; ++i)
    EXPECT_NEAR(to[static_cast<std::size_t>(i)], expected(i).item(), 1e-12);
}

}  // namespace gradients_test
