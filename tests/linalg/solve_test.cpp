#include "nax/linalg/cholesky.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"

namespace {

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

}  // namespace
