// A zero cotangent contributes zero: the branch that `where` has not taken adds nothing to any leaf, even if
// its derivatives are infinite. In one expression and in steps, in both modes, of any order.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "nax/nn/activations.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jacobian.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

namespace dead_branch_test {

template <class T>
class DeadBranch : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(DeadBranch, Types);

template <class T>
using Function = std::function<nax::Array<T>(const nax::Array<T>&)>;

template <class T>
void expect_near(const nax::Array<T>& got, const nax::Array<T>& want) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  const auto g = got.to_vector(), w = want.to_vector();
  for (std::size_t i = 0; i < g.size(); ++i)
    EXPECT_NEAR(g[i], w[i], (1 + std::abs(w[i])) * 64 * std::numeric_limits<T>::epsilon()) << i;
}

// f has first and second derivatives `first` and `second` at x, element by element.
template <class T>
void derivatives(const Function<T>& f, const nax::Array<T>& x, const nax::Array<T>& first,
                 const nax::Array<T>& second) {
  using A = nax::Array<T>;
  const auto loss = [&](const A& a) -> A { return nax::sum(f(a)); };
  const A ones = nax::ones_like(x);
  SCOPED_TRACE("grad, jvp, vmap");
  expect_near(nax::grad(loss)(x), first);
  expect_near(nax::jvp(f, std::tuple{x}, std::tuple{ones}).second, first);
  expect_near(nax::vmap([&](const A& a) { return nax::grad(loss)(a); })(x), first);
  // Over the gradient: forward and reverse; both ways under vmap, where the elements are numbers.
  const auto gradient = [&](const A& a) -> A { return nax::grad(loss)(a); };
  const auto slope = [&](const A& a) -> A { return nax::jvp(f, std::tuple{a}, std::tuple{ones}).second; };
  expect_near(nax::jvp(gradient, std::tuple{x}, std::tuple{ones}).second, second);
  expect_near(nax::grad([&](const A& a) -> A { return nax::sum(gradient(a)); })(x), second);
  expect_near(nax::jvp(slope, std::tuple{x}, std::tuple{ones}).second, second);
  expect_near(nax::grad([&](const A& a) -> A { return nax::sum(slope(a)); })(x), second);
  expect_near(nax::vmap(nax::grad(nax::grad(loss)))(x), second);
  const A h = nax::hessian(loss)(x), by_rows = nax::jacrev(nax::grad(loss))(x);
  for (std::int64_t i = 0; i < x.size(); ++i)
    for (std::int64_t j = 0; j < x.size(); ++j) {
      const T want = i == j ? second(i).item() : T(0);
      EXPECT_NEAR(h(i, j).item(), want, (1 + std::abs(want)) * 1e-4) << i << j;
      EXPECT_NEAR(by_rows(i, j).item(), want, (1 + std::abs(want)) * 1e-4) << i << j;
    }
}

TYPED_TEST(DeadBranch, EntropyAtZero) {
  using T = TypeParam;
  using A = nax::Array<T>;
  // More elements than a packet has, and a rest.
  std::vector<T> at, first, second;
  for (int i = 0; i < 21; ++i) {
    const T p = i % 3 == 0 ? T(0) : T(i) / 7;
    at.push_back(p);
    first.push_back(p > 0 ? std::log(p) + 1 : T(0));
    second.push_back(p > 0 ? 1 / p : T(0));
  }
  const A x = nax::array(at), d = nax::array(first), dd = nax::array(second);
  derivatives<T>([](const A& p) { return A(nax::where(p > T(0), p * nax::log(p), T(0))); }, x, d, dd);
  derivatives<T>(
      [](const A& p) {
        const A logs = nax::log(p);
        const A y = p * logs;
        return A(nax::where(p > T(0), y, T(0)));
      },
      x, d, dd);
  const auto in_sum = [](const A& p) { return nax::sum(nax::where(p > T(0), p * nax::log(p), T(0))); };
  expect_near(nax::grad(in_sum)(x), d);
  expect_near(nax::value_and_grad(in_sum)(x).second, d);
  expect_near(nax::jvp(nax::grad(in_sum), std::tuple{x}, std::tuple{nax::ones_like(x)}).second, dd);
  const auto number = [](const A& p) -> A { return nax::where(p > T(0), p * nax::log(p), T(0)); };
  EXPECT_EQ(nax::grad(number)(A(T(0))).item(), 0);
  EXPECT_EQ(nax::grad(nax::grad(number))(A(T(0))).item(), 0);
}

// Each of these is not finite, or has a derivative that is not, where it is not taken.
TYPED_TEST(DeadBranch, InfiniteDerivativesBelow) {
  using T = TypeParam;
  using A = nax::Array<T>;
  const T inf = std::numeric_limits<T>::infinity();
  const A x = {T(-1), T(0), T(2), T(-3), T(1000), inf};
  const A taken = {T(0), T(0), T(1), T(0), T(0), T(0)};
  const auto only = [&](const Function<T>& f, T first, T second) {
    const auto fused_or_not = [&](const A& a) -> A {
      return nax::where((a > T(0)) & (a < T(100)), f(a), T(0));
    };
    derivatives<T>(fused_or_not, x, A(taken * first), A(taken * second));
  };
  const T e2 = std::exp(T(2));
  only([](const A& a) { return A(nax::exp(a)); }, e2, e2);
  only([](const A& a) { return A(a * nax::exp(a)); }, 3 * e2, 4 * e2);
  only([](const A& a) { return A(nax::sinh(a) + nax::cosh(a)); }, e2, e2);
  only([](const A& a) { return A(nax::square(a * a)); }, 32, 48);
  only([](const A& a) { return A(nax::sqrt(a) * a); }, T(1.5) * std::sqrt(T(2)), T(.75) / std::sqrt(T(2)));
  only([](const A& a) { return A(a / (a + T(1)) / a * a); }, T(1) / 9, T(-2) / 27);
  only([](const A& a) { return A(nax::power(a, a)); }, 4 * (1 + std::log(T(2))),
       4 * (std::pow(1 + std::log(T(2)), T(2)) + T(.5)));
  only([](const A& a) { return A(nax::log1p(-nax::exp(-a))); }, 1 / (e2 - 1), -e2 / ((e2 - 1) * (e2 - 1)));
  only([](const A& a) { return A(nax::sin(a) * nax::cos(a)); }, std::cos(T(4)), -2 * std::sin(T(4)));
}

// In one expression, with several leaves; broadcast ones are sums of what is alive.
TYPED_TEST(DeadBranch, EveryLeaf) {
  using T = TypeParam;
  using A = nax::Array<T>;
  const A p = {{T(0), T(1)}, {T(2), T(0)}}, w = {T(3), T(4)};
  const auto f = [](const A& a, const A& b) -> A {
    return nax::sum(nax::where(a > T(0), b * nax::log(a) / a, a));
  };
  const auto [of_p, of_w] = nax::grad<0, 1>(f)(p, w);
  const T log2 = std::log(T(2));
  expect_near(of_p, A{{T(1), T(4)}, {3 * (1 - log2) / 4, T(1)}});
  expect_near(of_w, A{log2 / 2, T(0)});
  const A h =
      nax::jvp([&](const A& b) { return nax::grad<0>(f)(p, b); }, std::tuple{w}, std::tuple{A{T(1), T(1)}})
          .second;
  expect_near(h, A{{T(0), T(1)}, {(1 - log2) / 4, T(0)}});
  // relu and maximum turn cotangents off, too.
  const auto through_relu = [](const A& a) -> A { return nax::sum(nax::nn::relu(a * nax::log(a) - T(1))); };
  expect_near(nax::grad(through_relu)(A{T(0), T(4)}), A{T(0), 1 + std::log(T(4))});
}

// A zero that is finite all around is a value like any other: its derivatives count.
TYPED_TEST(DeadBranch, FiniteZerosStayDifferentiable) {
  using T = TypeParam;
  using A = nax::Array<T>;
  const auto f = [](const A& a) -> A { return nax::square(a) * a; };
  derivatives<T>(f, A{T(0), T(1)}, A{T(0), T(3)}, A{T(0), T(6)});
  derivatives<T>([](const A& a) -> A { return nax::square(nax::sin(a)); }, A{T(0)}, A{T(0)}, A{T(2)});
  const auto at_zero = [](const A& a) -> A { return a * a; };
  EXPECT_EQ(nax::grad(nax::grad(at_zero))(A(T(0))).item(), 2);
  // The requested derivative itself is infinite.
  EXPECT_EQ(nax::grad([](const A& a) -> A { return nax::sqrt(a); })(A(T(0))).item(),
            std::numeric_limits<T>::infinity());
  EXPECT_TRUE(std::isnan(nax::grad([](const A& a) -> A { return a * nax::log(a); })(A(T(-1))).item()));
}

}  // namespace dead_branch_test
