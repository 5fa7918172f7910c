#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/compare.hpp"

// Expressions of more arrays than one kernel takes are computed in parts. They agree with the steps one by
// one, under every transform.

namespace many_arrays_test {

using namespace nax;
using A = Array<double>;
using Many = std::vector<A>;

Many operands(int n, std::int64_t rows = 3) {
  Many all;
  for (int i = 0; i < n; ++i) all.push_back(0.5 + 0.5 * sin(arange<double>(rows * 4) * 0.3 + 0.7 * i));
  for (A& x : all) x = x.reshape({rows, 4});
  return all;
}

A thirteen(const Many& x) {
  return x[0] * x[1] + x[2] * x[3] + x[4] * x[5] + x[6] * x[7] + x[8] * x[9] + x[10] * x[11] + x[12];
}
A twenty(const Many& x) {
  return tanh((x[0] + x[1] * x[2] + x[3] * x[4]) * (x[5] + x[6] * x[7] - x[8] * x[9]) +
              sin((x[10] - x[11] * x[12] + x[13] * x[14]) / (2.0 + x[15] + x[16] * x[17] + x[18] * x[19])));
}
A forty(const Many& x) {
  return x[0] * x[1] + x[2] * x[3] + x[4] * x[5] + x[6] * x[7] + x[8] * x[9] + x[10] * x[11] + x[12] * x[13] +
         x[14] * x[15] + x[16] * x[17] + x[18] * x[19] + x[20] * x[21] + x[22] * x[23] + x[24] * x[25] +
         x[26] * x[27] + x[28] * x[29] + x[30] * x[31] + x[32] * x[33] + x[34] * x[35] + x[36] * x[37] +
         x[38] * x[39];
}
// One array over and over.
A horner(const A& x) {
  return 1.0 + x * (2.0 + x * (3.0 + x * (4.0 + x * (5.0 + x * (6.0 + x * (7.0 + x * (8.0 + x))))))) +
         x * x * x * x * x * x * x * x * x;
}
A chosen(const Many& x) {
  const auto part = [&](int i) { return x[i] * x[i + 1] + x[i + 2] * x[i + 3] - x[i + 4]; };
  return where(part(0) * x[5] > part(6) * x[11], part(1) * part(2) * x[7], part(5) / (1.0 + part(4)));
}

// Computes it one operation at a time.
A step_by_step(const Many& x, std::size_t n) {
  A total = x[0] * x[1];
  for (std::size_t i = 2; i + 1 < n; i += 2) total = total + A(x[i] * x[i + 1]);
  return n % 2 ? A(total + x[n - 1]) : total;
}
A twenty_in_steps(const Many& x) {
  const auto times = [&](int i) { return A(x[i] * x[i + 1]); };
  const A a = x[0] + times(1) + times(3), b = A(x[5] + times(6)) - times(8);
  const A c = A(x[10] - times(11)) + times(13), d = A(2.0 + x[15]) + times(16) + times(18);
  return tanh(A(A(a * b) + A(sin(A(c / d)))));
}
A chosen_in_steps(const Many& x) {
  const auto part = [&](int i) { return A(A(x[i] * x[i + 1]) + A(x[i + 2] * x[i + 3]) - x[i + 4]); };
  const Array<bool> mask = A(part(0) * x[5]) > A(part(6) * x[11]);
  return where(mask, A(A(part(1) * part(2)) * x[7]), A(part(5) / A(1.0 + part(4))));
}

void expect_close(const A& got, const A& want) { EXPECT_TRUE(compare::close(got, want, 1e-13)); }
void expect_close(const Many& got, const Many& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) expect_close(got[i], want[i]);
}

// f, which is computed in parts, and g, which takes the steps, under the transforms.
template <class F, class G>
void expect_same(F f, G g, int n) {
  const Many x = operands(n);
  expect_close(f(x), g(x));
  const auto loss = [](auto h) { return [h](const Many& v) { return sum(sin(h(v))); }; };
  expect_close(grad(loss(f))(x), grad(loss(g))(x));
  expect_close(vmap(f)(x), g(x));
  expect_close(vmap(grad(loss(f)))(x), grad(loss(g))(x));
  expect_close(grad(loss(vmap(f, {.in_axes = 1, .out_axes = 1})))(x), grad(loss(g))(x));
  const Many t = operands(n + 1);
  const Many tangents(t.begin() + 1, t.end());
  expect_close(jvp(f, std::tuple{x}, std::tuple{tangents}).second,
               jvp(g, std::tuple{x}, std::tuple{tangents}).second);
  const auto twice = [&](auto h) {
    return grad([&](const Many& v) {
      const Many first = grad(loss(h))(v);
      A total = 0.0;
      for (const A& one : first) total = total + A(sum(one * one));
      return total;
    })(x);
  };
  expect_close(twice(f), twice(g));
}

TEST(ManyArrays, Thirteen) {
  expect_same(
      thirteen, [](const Many& x) { return step_by_step(x, 13); }, 13);
}
TEST(ManyArrays, Twenty) { expect_same(twenty, twenty_in_steps, 20); }
TEST(ManyArrays, Forty) {
  expect_same(
      forty, [](const Many& x) { return step_by_step(x, 40); }, 40);
}
TEST(ManyArrays, InASelection) { expect_same(chosen, chosen_in_steps, 12); }

TEST(ManyArrays, OneOverAndOver) {
  const A x = {0.5, -1.0, 1.25};
  const auto by_hand = [](double v, bool derivative) {
    double value = 0, slope = 0;
    for (int i = 8; i >= 0; --i) slope = slope * v + value, value = value * v + (i == 8 ? 1 : i + 1);
    return derivative ? slope + 9 * std::pow(v, 8) : value + std::pow(v, 9);
  };
  const A y = horner(x), g = grad([](const A&v) { return sum(horner(v)); })(x);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(y(i).item(), by_hand(x(i).item(), false), 1e-12);
    EXPECT_NEAR(g(i).item(), by_hand(x(i).item(), true), 1e-12);
  }
  EXPECT_NEAR(grad(horner)(A(0.5)).item(), by_hand(0.5, true), 1e-12);
}

// Parts broadcast, too, and a number stays weakly typed in each part.
TEST(ManyArrays, BroadcastAndKeepTheirTypes) {
  const Array<float> row = {1, 2, 3}, column = {{1}, {2}};
  const auto e = row + column + row + column + row + column + row + column + row + column + row + column +
                 row + column + 2.5;
  static_assert(std::is_same_v<decltype(e)::value_type, float>);
  EXPECT_EQ(e.shape(), (Shape{2, 3}));
  EXPECT_EQ(e(1, 2).item(), 7 * 3 + 7 * 2 + 2.5f);
  const Array<float> wrong = {1, 2, 3, 4};
  EXPECT_THROW(e + wrong, ShapeError);
  const Array<int> n = {1, 2, 3};
  const auto whole = n + n + n + n + n + n + n + n + n + n + n + n + n + 2;
  static_assert(std::is_same_v<decltype(whole)::value_type, int>);
  EXPECT_EQ(whole(2).item(), 41);
}

// Operands passed as rvalues may be overwritten; others may not.
TEST(ManyArrays, OperandsStayAsTheyWere) {
  Many x = operands(13);
  const Many before = x;
  const A want = step_by_step(x, 13);
  A y = std::move(x[0]) * x[1] + x[2] * x[3] + x[4] * x[5] + x[6] * x[7] + x[8] * x[9] + x[10] * x[11] +
        std::move(x[12]);
  expect_close(y, want);
  expect_close(Many(x.begin() + 1, x.end() - 1), Many(before.begin() + 1, before.end() - 1));
  A z = before[1];
  z = z + z + z + z + z + z + z + z + z + z + z + z + z + z;
  expect_close(z, 14.0 * before[1]);
}

}  // namespace many_arrays_test
