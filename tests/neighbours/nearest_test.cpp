#include "nax/modules/neighbours/nearest.hpp"

#include <gtest/gtest.h>

#include "nax/numpy.hpp"
#include "nax/random.hpp"
#include "nax/transform.hpp"
#include "support/refusal.hpp"

namespace nearest_test {
using namespace nax;
using D = Array<double>;
using L = Array<std::int64_t>;

D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }
D distances_of(const D& x, const D& q, const std::string& metric) {
  const D a = expand_dims(q, 1), b = expand_dims(x, 0);
  if (metric == "l2") return sum(square(a - b), {.axis = -1});
  const D products = sum(a * b, {.axis = -1});
  if (metric == "ip") return 1 - products;
  return 1 - products / sqrt(sum(a * a, {.axis = -1}) * sum(b * b, {.axis = -1}));
}

TEST(Nearest, SortsByDistance) {
  const D x = draw(1, {60, 5}), q = draw(2, {7, 5});
  for (const char* metric : {"l2", "ip", "cosine"}) {
    SCOPED_TRACE(metric);
    const D all = distances_of(x, q, metric);
    const auto found = neighbours::nearest(x, q, {.k = 4, .metric = metric});
    EXPECT_EQ(found.indices.shape(), (Shape{7, 4}));
    EXPECT_TRUE(array_equal(found.indices, argsort(all)(ellipsis, slice(0, 4)).astype<std::int64_t>()));
    EXPECT_TRUE(allclose(found.distances, sort(all)(ellipsis, slice(0, 4)), {.rtol = 1e-9, .atol = 1e-12}));
  }
  const auto rest = neighbours::nearest(x, D(x(slice(0, 3))), {.k = 60});
  EXPECT_TRUE(array_equal(sort(rest.indices(1)), arange<std::int64_t>(60)));
  EXPECT_TRUE(array_equal(rest.indices(_, 0), arange<std::int64_t>(3)));
  EXPECT_EQ(neighbours::nearest(x, D(zeros<double>({0, 5})), {.k = 3}).indices.shape(), (Shape{0, 3}));
}

TEST(Nearest, IsRightFarFromTheOrigin) {
  const Array<float> x = draw(1, {60, 5}).astype<float>(), q = draw(2, {7, 5}).astype<float>();
  const float far = 1 << 12;  // keeps 11 bits behind the point
  const Array<float> x_far = x + far, q_far = q + far;
  const D all = distances_of(D(x_far.astype<double>()), D(q_far.astype<double>()), "l2");
  const auto found = neighbours::nearest(x_far, q_far, {.k = 4});
  EXPECT_TRUE(allclose(found.distances.astype<double>(), sort(all)(ellipsis, slice(0, 4)), {.rtol = 1e-5}));
}

TEST(Nearest, TakesBlocksOfQueries) {
  const D x = arange<double>(1 << 20).reshape({-1, 1}), q = arange<double>(20).reshape({-1, 1}) * 9. + 0.25;
  const auto found = neighbours::nearest(x, q, {.k = 2});
  EXPECT_TRUE(array_equal(found.indices(_, 0), arange<std::int64_t>(20) * 9));
  EXPECT_TRUE(array_equal(found.indices(_, 1), arange<std::int64_t>(20) * 9 + 1));
}

TEST(Nearest, BoundsTheMemoryOfABlock) {
  const Array<float> x = draw(1, {64, 2048}).astype<float>(), q = draw(2, {512, 2048}).astype<float>();
  const Array<float> all = distances_of(D(x.astype<double>()), D(q.astype<double>()), "l2").astype<float>();
  const std::size_t before = memory_stats().in_use;
  reset_peak_memory();
  const auto found = neighbours::nearest(x, q, {.k = 64});
  // Differences of all queries at once are 256 MiB, those of a block 64 MiB.
  EXPECT_LT(memory_stats().peak - before, std::size_t{200} << 20);
  EXPECT_TRUE(allclose(found.distances, Array<float>(sort(all)), {.rtol = 1e-4}));
}

TEST(Nearest, ComputesHalfTypesInFloat) {
  const auto check = [](auto zero, double rtol) {
    using T = decltype(zero);
    // Squares and products are past 65504, the greatest half.
    const D x = round(draw(1, {30, 4}) * 200.), q = round(draw(2, {5, 4}) * 200.);
    const Array<T> small = x.astype<T>(), queries = q.astype<T>();
    for (const char* metric : {"l2", "ip", "cosine"}) {
      SCOPED_TRACE(metric);
      const D all =
          distances_of(D(small.template astype<double>()), D(queries.template astype<double>()), metric);
      const auto found = neighbours::nearest(small, queries, {.k = 3, .metric = metric});
      EXPECT_TRUE(array_equal(found.indices, argsort(all)(ellipsis, slice(0, 3)).astype<std::int64_t>()));
      const D best = sort(all)(ellipsis, slice(0, 3));
      EXPECT_TRUE(allclose(D(found.distances.template astype<double>()),
                           D(best.astype<T>().template astype<double>()), {.rtol = rtol, .atol = 1e-3}));
    }
  };
  check(half(0), 2e-3);
  check(bfloat16(0), 2e-2);
}

TEST(Nearest, NaNIsAmongTheNearest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const D x = {{1, 0}, {nan, 1}, {0, 3}, {0, 4}}, q = {{0.9, 0.1}};
  EXPECT_TRUE(array_equal(neighbours::nearest(x, q, {.k = 2}).indices, L{{0, 1}}));
  EXPECT_TRUE(array_equal(neighbours::nearest(x, q, {.k = 4}).indices, L{{0, 2, 3, 1}}));
  for (const char* metric : {"ip", "cosine"}) {
    const auto found = neighbours::nearest(x, q, {.k = 2, .metric = metric});
    EXPECT_TRUE(array_equal(found.indices, L{{1, 0}})) << metric;
    EXPECT_TRUE(std::isnan(found.distances(0, 0).item()));
  }
}

TEST(Nearest, MapsDerivesAndIsRecorded) {
  const D x = draw(1, {20, 3}), q = draw(2, {4, 5, 3});
  for (const char* metric : {"l2", "cosine"}) {
    SCOPED_TRACE(metric);
    const auto call = [&](const D& q) {
      const auto found = neighbours::nearest(x, q, {.k = 2, .metric = metric});
      return std::pair(found.indices, found.distances);
    };
    const auto [indices, distances] = vmap(call)(q);
    for (int i = 0; i < 4; ++i) {
      const auto one = call(D(q(i)));
      const auto recorded = jit(call)(D(q(i)));
      EXPECT_TRUE(array_equal(L(indices(i)), one.first));
      EXPECT_TRUE(allclose(D(distances(i)), one.second));
      EXPECT_TRUE(array_equal(recorded.first, one.first));
      EXPECT_TRUE(allclose(recorded.second, one.second));
    }
    const D one = q(0), slope = grad([&](const D&q) { return D(sum(call(q).second)); })(one);
    const D step = draw(3, {5, 3});
    const double h = 1e-6, up = D(sum(call(D(one + h * step)).second)).item(),
                 down = D(sum(call(D(one - h * step)).second)).item();
    EXPECT_NEAR(D(sum(slope * step)).item(), (up - down) / (2 * h), 1e-6);
  }
}

TEST(Nearest, RefusesWhatIsNoSearch) {
  const D x = draw(1, {6, 3}), q = draw(2, {2, 3});
  EXPECT_EQ(refusal<ShapeError>([&] { neighbours::nearest(x, D(q(0)), {.k = 1}); }),
            "nearest: vectors must be (n, d) and queries (m, d), shapes (6, 3) and (3,)");
  EXPECT_EQ(refusal<ShapeError>([&] {
              neighbours::nearest(x, draw(2, {2, 4}), {.k = 1});
            }),
            "nearest: vectors must be (n, d) and queries (m, d), shapes (6, 3) and (2, 4)");
  EXPECT_EQ(refusal([&] { neighbours::nearest(x, q, {.k = 7}); }), "nearest: k = 7 of 6 vectors");
  EXPECT_EQ(refusal([&] { neighbours::nearest(x, q, {.k = 0}); }), "nearest: k = 0 of 6 vectors");
  EXPECT_EQ(refusal([&] { neighbours::nearest(x, q, {.k = 1, .metric = "l1"}); }),
            "nearest: metric 'l1' is none of 'l2', 'ip', 'cosine'");
}

TEST(Nearest, NumbersAtTheEndsOfTheRange) {
  using F = Array<float>;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto found = neighbours::nearest(F{{0, 0}, {1, 1}, {inf, 0}, {5, 5}}, F{{1.1f, 1}}, {.k = 4});
  EXPECT_EQ(found.indices.to_vector(), (std::vector<std::int64_t>{1, 0, 3, 2}));
  EXPECT_EQ(found.distances(0, 3).item(), inf);
  const auto apart =
      neighbours::nearest(F{{1e-25f, 0}, {0, 1e22f}, {0, 0}}, F{{3e30f, 0}}, {.k = 3, .metric = "cosine"});
  EXPECT_EQ(apart.indices(0, 0).item(), 0);
  EXPECT_EQ(apart.distances.to_vector(), (std::vector<float>{0, 1, 1}));
  const auto g = grad([](const F& q) {
    return F(sum(neighbours::nearest(F{{0, 1}, {3, 4}}, q, {.k = 2, .metric = "cosine"}).distances));
  })(F{{1, 0}});
  // 2 - (q2 + (3 q1 + 4 q2) / 5) / |q|
  EXPECT_NEAR(g(0, 0).item(), 0, 1e-6);
  EXPECT_NEAR(g(0, 1).item(), -1.8, 1e-6);
}

}  // namespace nearest_test
