#include "nax/linalg/cholesky.hpp"
#include "nax/linalg/determinant.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"

namespace solve_test {

using A = nax::Array<double>;

const A a3 = {{4, 1, -2}, {0.5, -3, 1}, {2, 0.3, 5}}, v3 = {{1, -0.5, 2}, {0.3, 0.7, -1}, {-2, 1, 0.4}};

void expect_near(const A& got, const A& want, double tolerance = 1e-9) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  const auto g = got.to_vector(), w = want.to_vector();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], w[i], tolerance) << i;
}

// First and second derivative of sum(f(x) * f(x)) along v, against differences; forward against reverse mode.
template <class F>
void differentiate(const F& f, const A& x, const A& v) {
  const auto loss = [&](const A& y) { return nax::sum(f(y) * f(y)); };
  const auto slope = [&](const A& y) { return nax::sum(nax::grad(loss)(y) * v); };
  constexpr double h = 1e-6;
  const auto difference = [&](const auto& g) {
    return (g(x + v * h).item() - g(x - v * h).item()) / (2 * h);
  };
  const double first = difference(loss), second = difference(slope);
  EXPECT_NEAR(slope(x).item(), first, 1e-6 * (1 + std::abs(first)));
  EXPECT_NEAR(nax::sum(nax::grad(slope)(x) * v).item(), second, 1e-5 * (1 + std::abs(second)));
  EXPECT_NEAR(nax::jvp(loss, std::tuple{x}, std::tuple{v}).second.item(), first,
              1e-6 * (1 + std::abs(first)));
}

TEST(Solve, SolvesVectorsMatricesAndBatches) {
  const A b = {1, 2, 3};
  expect_near(nax::matmul(a3, nax::linalg::solve(a3, b)), b);
  expect_near(nax::matmul(a3, nax::linalg::solve(a3, v3)), v3);
  expect_near(nax::matmul(a3, nax::linalg::inv(a3)), nax::eye<double>(3));
  EXPECT_NEAR(nax::linalg::det(a3).item(), -74.0, 1e-9);
  const A both = nax::vmap([](const A& m) {
    return nax::linalg::solve(m, A{1, 2, 3});
  })(A{{{4, 1, -2}, {0.5, -3, 1}, {2, 0.3, 5}}, {{1, 0, 0}, {0, 2, 0}, {0, 0, 3}}});
  expect_near(both, A{{nax::linalg::solve(a3, b).to_vector()[0], nax::linalg::solve(a3, b).to_vector()[1],
                       nax::linalg::solve(a3, b).to_vector()[2]},
                      {1, 1, 1}});
  EXPECT_THROW(nax::linalg::solve(A{{1, 2, 3}}, b), nax::ShapeError);
  EXPECT_THROW(nax::linalg::solve(a3, A{1, 2}), nax::ShapeError);
}

// Batches of every order up to the limit of the small solver; views, one matrix for all, fewer than a packet.
TEST(Solve, BatchesOfSmallMatrices) {
  for (std::int64_t n = 1; n <= 9; ++n)
    for (const std::int64_t batch : {1, 3, 21}) {
      SCOPED_TRACE(testing::Message() << batch << " of order " << n);
      A a = nax::zeros<double>({batch, n, n}), b = nax::zeros<double>({batch, n, 2});
      std::uint32_t state = static_cast<std::uint32_t>(n * batch);
      const auto next = [&] {
        return static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5;
      };
      for (std::int64_t i = 0; i < batch * n * n; ++i) nax::detail::elements<double>(a)[i] = next();
      for (std::int64_t i = 0; i < batch * n * 2; ++i) nax::detail::elements<double>(b)[i] = next();
      a = a + nax::eye<double>(n) * (0.7 * static_cast<double>(n));
      const A t = nax::swapaxes(a, 1, 2), one = a(0);
      expect_near(nax::matmul(a, nax::linalg::solve(a, b)), b);
      expect_near(nax::matmul(t, nax::linalg::solve(t, b)), b);
      expect_near(nax::matmul(one, nax::linalg::solve(one, b)), b);
      expect_near(nax::matmul(a, nax::linalg::inv(a)), nax::broadcast_to(nax::eye<double>(n), {batch, n, n}));
      const A d = nax::linalg::det(a);
      const auto [sign, log] = nax::linalg::slogdet(a);
      expect_near(d, sign * nax::exp(log), 1e-9 * nax::max(nax::abs(d)).item());
      expect_near(nax::linalg::det(nax::matmul(a, t)), d * d, 1e-9 * nax::max(d * d).item());
      const A s = nax::matmul(a, t), l = nax::linalg::cholesky(s);
      expect_near(nax::matmul(l, nax::swapaxes(l, 1, 2)), s);
      expect_near(l(0), nax::linalg::cholesky(s(0)), 1e-12);
    }
}

TEST(Solve, DeterminantsThatLeaveTheRange) {
  const A large = {{1e200, 0, 0}, {0, 1e200, 0}, {0, 0, 1e-300}}, small = {{1e-200, 0}, {0, 1e-200}};
  EXPECT_NEAR(nax::linalg::det(large).item() / 1e100, 1, 1e-9);
  EXPECT_EQ(nax::linalg::det(small).item(), 0);
  EXPECT_EQ(nax::linalg::det(A{{1, 2}, {2, 4}}).item(), 0);
  EXPECT_EQ(nax::linalg::det(A{{0, 2}, {3, 0}}).item(), -6);
}

TEST(Solve, LargeMatrices) {
  constexpr std::int64_t n = 150;
  A a = nax::zeros<double>({n, n});
  std::uint32_t state = 7;
  for (std::int64_t i = 0; i < n * n; ++i)
    nax::detail::elements<double>(a)[i] =
        static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5;
  expect_near(nax::matmul(a, nax::linalg::inv(a)), nax::eye<double>(n), 1e-8);
  const A s = nax::matmul(a, a.T()) + nax::eye<double>(n);
  const A l = nax::linalg::cholesky(s);
  expect_near(nax::matmul(l, l.T()), s, 1e-8);
}

TEST(Solve, Derivatives) {
  differentiate([](const A& a) { return nax::linalg::solve(a, A{1, 2, 3}); }, a3, v3);
  differentiate([](const A& b) { return nax::linalg::solve(a3, b); }, v3, a3);
  differentiate([](const A& a) { return nax::linalg::inv(a); }, a3, v3);
  differentiate([](const A& a) { return nax::linalg::det(a); }, a3, v3);
  differentiate([](const A& a) { return nax::linalg::slogdet(a).logabsdet; }, a3, v3);
  differentiate([](const A& a) { return nax::linalg::matrix_power(a, -3); }, a3, v3);
  differentiate([](const A& a) { return nax::linalg::cholesky(nax::matmul(a, nax::matrix_transpose(a))); },
                a3, v3);
  differentiate(
      [](const A& a) {
        return nax::linalg::solve_triangular(a, A{1, 2, 3}, {.lower = true});
      },
      a3, v3);
}

}  // namespace solve_test
