#include "nax/linalg/norm.hpp"
#include "nax/numpy/reductions/nan_reductions.hpp"
#include "nax/numpy/sequences/convolve.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"

namespace statistics_test {

using A = nax::Array<double>;
const double nan = std::nan("");

void expect_near(const A& got, const std::vector<double>& want) {
  const auto g = got.to_vector();
  ASSERT_EQ(g.size(), want.size());
  for (std::size_t i = 0; i < g.size(); ++i)
    EXPECT_TRUE(check::close(g[i], want[i], 1e-12)) << i << ": " << g[i] << " for " << want[i];
}

TEST(Statistics, NanReductions) {
  const A x = {{1, nan, 3}, {nan, nan, nan}};
  expect_near(nax::nansum(x, {.axis = 1}), {4, 0});
  expect_near(nax::nanprod(x, {.axis = 1}), {3, 1});
  expect_near(nax::nanmean(x, {.axis = 1}), {2, nan});
  expect_near(nax::nanmax(x, {.axis = 1}), {3, nan});
  expect_near(nax::nanmin(x, {.axis = 0}), {1, nan, 3});
  expect_near(nax::nanvar(x, {.axis = 1}), {1, nan});
  EXPECT_EQ(nax::nanargmax(x(0)).item(), 2);
  EXPECT_THROW(nax::nanargmax(x, {.axis = 1}), nax::ValueError);  // as NumPy: the second row has no number
}

TEST(Statistics, Quantiles) {
  const A x = {{3, 1, 2, 10}, {4, 5, 6, 7}};
  expect_near(nax::median(x, {.axis = 1}), {2.5, 5.5});
  expect_near(nax::quantile(x, 0.3, {.axis = 1}), {1.9, 4.9});
  expect_near(nax::quantile(x, A{0, 1}, {.axis = 1}), {1, 4, 10, 7});
  expect_near(nax::percentile(x, 50), {4.5});
  expect_near(nax::quantile(x, 0.3, {.axis = 1, .method = "higher"}), {2, 5});
  EXPECT_EQ(nax::median(x, {.keepdims = true}).shape(), (nax::Shape{1, 1}));
  expect_near(nax::median(A{1, nan, 2}), {nan});
  expect_near(nax::grad([](const A& a) { return nax::median(a); })(A{5, 1, 2, 9}), {0.5, 0, 0.5, 0});
  expect_near(nax::average(x, {.axis = 1, .weights = A{1, 0, 0, 1}}), {6.5, 5.5});
}

TEST(Statistics, Convolve) {
  const A x = {1, 2, 3, 4, 5}, w = {1, -1, 2}, even = {1, 2, 0, -1};
  expect_near(nax::convolve(x, w), {1, 1, 3, 5, 7, 3, 10});
  expect_near(nax::convolve(x, w, {.mode = "same"}), {1, 3, 5, 7, 3});
  expect_near(nax::convolve(w, x, {.mode = "valid"}), {3, 5, 7});
  expect_near(nax::convolve(x, even, {.mode = "same"}), {4, 7, 9, 11, 7});
  expect_near(nax::convolve(even, x, {.mode = "same"}), {4, 7, 9, 11, 7});
  expect_near(nax::correlate(x, w), {5, 7, 9});
  expect_near(nax::correlate(w, x), {9, 7, 5});
  expect_near(nax::correlate(x, even, {.mode = "same"}), {-2, -1, 1, 3, 11});
  expect_near(nax::correlate(even, x, {.mode = "same"}), {11, 3, 1, -1, -2});
  const auto loss = [&](const A& a, const A& b) {
    return nax::sum(nax::convolve(a, b, {.mode = "same"}) * x);
  };
  const auto [gx, gw] = nax::grad<0, 1>(loss)(x, w);
  expect_near(gx, {3, 5, 7, 9, -1});
  const A rows = {{1, 2, 3, 4}, {0, 1, 0, 2}};
  const A batched = nax::vmap([&](const A& r) { return nax::convolve(r, w); })(rows);
  EXPECT_EQ(batched.shape(), (nax::Shape{2, 6}));
  const A shared = nax::grad([&](const A& b) {
    return nax::sum(nax::vmap([&](const A& r) { return nax::sum(nax::convolve(r, b)); })(rows));
  })(w);
  expect_near(shared, {13, 13, 13});
  expect_near(nax::cross(A{1, 2, 3}, A{4, 5, 6}), {-3, 6, -3});
}

TEST(Statistics, Norms) {
  const A x = {{3, -4}, {0, 12}};
  using nax::linalg::norm;
  expect_near(norm(x), {13});
  expect_near(norm(x, {.axis = 1}), {5, 12});
  expect_near(norm(x, {.ord = 1}), {16});
  expect_near(norm(x, {.ord = nax::linalg::inf}), {12});
  expect_near(norm(x, {.ord = 3, .axis = 0}), {3, std::cbrt(64.0 + 1728)});
  EXPECT_EQ(norm(x, {.ord = "fro", .axis = {0, 1}, .keepdims = true}).shape(), (nax::Shape{1, 1}));
}

}  // namespace statistics_test
