#include <functional>
#include <memory>
#include <string>

#include "nax/nax.hpp"
#include "transforms/arrays.hpp"

// Numbers among the arguments of transforms, and in place of cotangents and tangents: they become what the
// function takes.
namespace transforms::numbers_test {

using F = Array<float>;

A cubed(const A& x) { return x * x * x; }
A cubed_by_value(A x) noexcept { return x * x * x; }
const auto scaled = [](const A& x, int n) { return std::pair{A(x * n), A(x * x)}; };

template <class Want, class Got>
void expect_item(const Got& got, double want, double tolerance = 1e-15) {
  static_assert(std::is_same_v<Got, Want>);
  EXPECT_NEAR(static_cast<double>(got.item()), want, tolerance);
}

TEST(Numbers, TakeTheElementsOfTheParameter) {
  const auto square = [](const A& x) { return x * x; };
  expect_item<A>(grad(square)(0.1), 0.2);
  expect_item<A>(grad(square)(2), 4);
  expect_item<A>(grad(cubed)(0.1), 0.03);
  expect_item<A>(grad(&cubed_by_value)(0.1), 0.03);
  expect_item<A>(grad(std::function<A(const A&)>(cubed))(0.1), 0.03);
  expect_item<A>(value_and_grad(cubed)(0.1).second, 0.03);
  expect_item<A>(grad(grad(cubed))(0.1), 0.6);
  expect_item<A>(hessian(cubed)(0.1), 0.6);
  expect_item<A>(jacfwd(cubed)(0.1), 0.03);
  expect_item<A>(jacrev(cubed)(0.1), 0.03);
  expect_item<A>(checkpoint(cubed)(0.1), 0.001);
  expect_item<A>(grad(checkpoint(cubed))(0.1), 0.03);
  expect_item<A>(std::get<0>(grad<0, 1>([](const A& x, const A& y) { return x * y; })(0.1, 3)), 3);
  const auto ruled = custom_jvp(cubed, [](const std::tuple<A>& x, const std::tuple<A>& t) {
    return std::pair{cubed(std::get<0>(x)), A(5.0 * std::get<0>(t))};
  });
  expect_item<A>(ruled(0.1), 0.001);
  expect_item<A>(grad(ruled)(0.1), 5);
  const A mapped = vmap([](const A& x, const A& y) { return x * y; }, {.in_axes = {0, none}})(A{1, 2}, 0.1);
  EXPECT_TRUE(matches(mapped, A{0.1, 0.2}));
  const A on_devices = pmap([](const A& x, const A& y) { return x * y; }, {.in_axes = {0, none}})(A{1}, 0.1);
  EXPECT_TRUE(matches(on_devices, A{0.1}));
  const auto complex = [](const Array<std::complex<float>>& z) { return real(z * z); };
  EXPECT_EQ(grad(complex)(2.0).item(), std::complex<float>(4));
}

TEST(Numbers, AreFloatWhereTheFunctionIsGeneric) {
  expect_item<F>(grad([](const auto& x) { return x * x; })(0.5), 1);
  expect_item<F>(grad([](auto x) { return F(x * x); })(0.5), 1);
}

TEST(Numbers, StayNumbersWhereTheFunctionTakesNumbers) {
  expect_item<A>(grad([](const A& x, int n) { return x * n; })(0.1, 3), 3);
  EXPECT_TRUE(matches(vmap(scaled, {.in_axes = {0, none}})(A{1, 2}, 3).first, A{3, 6}));
  EXPECT_TRUE(matches(pmap(scaled, {.in_axes = {0, none}})(A{2}, 3).second, A{4}));
  expect_item<A>(checkpoint(scaled)(0.1, 3).second, 0.01);
}

TEST(Numbers, AsCotangentsAndTangents) {
  const auto [y, pull] = vjp(cubed, 0.1);
  expect_item<A>(y, 0.001);
  expect_item<A>(std::get<0>(pull(0.1)), 0.003);
  expect_item<A>(std::get<0>(pull(1)), 0.03);
  const auto [both, pull_both] = vjp(scaled, 0.1, 3);
  expect_item<A>(std::get<0>(pull_both(std::pair{1.0, 0.0})), 3);
  expect_item<A>(std::get<0>(pull_both(std::pair{0.0, 0.1})), 0.02);
  expect_item<A>(std::get<0>(pull_both(std::pair{A(1.0) * 2.0, 0})), 6);
  const auto [value, tangent] = jvp(cubed, std::tuple{0.1}, std::tuple{1.0});
  expect_item<A>(value, 0.001);
  expect_item<A>(tangent, 0.03);
  expect_item<A>(linearize(cubed, 0.1).second(0.1), 0.003);
  const auto tripled =
      custom_vjp([](const A& x) { return A(sin(x)); }, [](const A& x) { return std::pair(A(sin(x)), x); },
                 [](const A&, const A&) { return std::tuple(0.1); });
  expect_item<A>(grad(tripled)(0.5), 0.1);
}

// A function that owns something runs on devices and in checkpoints, too.
TEST(Numbers, FunctionsNeedNotBeCopied) {
  const auto scale = [] { return [by = std::make_unique<double>(3)](const A& x) { return A(x * *by); }; };
  EXPECT_TRUE(matches(pmap(scale())(A{1}), A{3}));
  EXPECT_EQ(grad(checkpoint(scale()))(2.0).item(), 3);
  EXPECT_EQ(grad(scale())(2.0).item(), 3);
  EXPECT_TRUE(matches(vmap(scale())(A{1, 2}), A{3, 6}));
}

TEST(Numbers, MembersAndOtherTypesAreAccepted) {
  struct Model {
    A w;
    A loss() const { return sum(w * w); }
  };
  EXPECT_TRUE(matches(grad(&Model::loss)(Model{{1, 2}}).w, A{2, 4}));
  const auto named = [](const A& x, const std::string& name) { return x * static_cast<double>(name.size()); };
  EXPECT_EQ(grad(named)(2.0, std::string("four")).item(), 4);
}

}  // namespace transforms::numbers_test
