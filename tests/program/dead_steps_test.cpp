#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>
#include <utility>

#include "recorded_once.hpp"

// Passes leave steps that nothing needs any more, and the passes after them meet none of these.
namespace dead_steps_test {
using namespace nax;

// The last carry of a scan.
template <class T>
Array<T> last_of_scan(const Array<T>& rows) {
  return lax::scan(
             [](const Array<T>& h, const Array<T>& r) {
               Array<T> y = tanh(h + r);
               return std::pair{y, y};
             },
             Array<T>(zeros<T>({64})), rows)
      .first;
}

// The gradient in `row` of what copysign makes of shifted copies: 0 everywhere, so that the stencil's steps
// die when numbers are known.
template <class T, class Join>
void expect_plain(const Join& join) {
  using A = Array<T>;
  const A row = random::normal<T>(random::key(2), {64}), m = random::normal<T>(random::key(3), {4, 64});
  const auto slope = grad([](const A& x) { return A(sum(last_of_scan<T>(x))); });
  const auto g = [&](const A& given, const A& rows) {
    return A(grad([&](const A& r) {
      A u = pad(A(broadcast_to(r, {4, 64})), {{0, 1}, {2, 1}});
      A z = u(slice(0, 4), slice(2, 66)) + u(slice(0, 4), slice(1, 65));
      return A(sum(exp(A(join(A(slope(rows)), z)))));
    })(given));
  };
  const A plain = g(row, m), fast = jit(g)(row, m);
  ASSERT_EQ(plain.shape(), fast.shape());
  const auto a = plain.to_vector(), b = fast.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(static_cast<double>(a[i]), static_cast<double>(b[i]),
                1e-5 * (1 + std::abs(static_cast<double>(a[i]))));
}

TEST(DeadSteps, OfGradientsThatAreZeroAreDropped) {
  const auto sign = [](const auto& a, const auto& z) { return copysign(a, z); };
  expect_plain<double>(sign);
  expect_plain<float>(sign);
}

TEST(DeadSteps, NeighboursOfThatProgramAreRight) {
  const auto stopped = [](const auto& a, const auto& z) { return a * stop_gradient(z); };
  expect_plain<double>(stopped);
  const auto chosen = [](const auto& a, const auto& z) { return where(z > a, a, a * 2); };
  expect_plain<double>(chosen);
  const auto rounded = [](const auto& a, const auto& z) { return a + floor(z); };
  expect_plain<double>(rounded);
  const auto product = [](const auto& a, const auto& z) { return a * z; };
  expect_plain<double>(product);
}

// Nothing of the stencil is computed where its gradient is 0 whatever the argument.
TEST(DeadSteps, AreNotInTheProgram) {
  using A = Array<double>;
  const auto g = [](const A& x) {
    return A(grad([&](const A& r) {
      A u = pad(A(broadcast_to(r, {4, 64})), {{0, 1}, {2, 1}});
      A z = u(slice(0, 4), slice(2, 66)) + u(slice(0, 4), slice(1, 65));
      return A(sum(sign(z)));
    })(x));
  };
  EXPECT_EQ(make_program(g)(A(zeros<double>({64}))).size(), 0u);
}

}  // namespace dead_steps_test
