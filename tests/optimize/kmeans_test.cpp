#include "nax/modules/optimize/kmeans.hpp"

#include <gtest/gtest.h>

#include "nax/numpy/reductions/close.hpp"
#include "nax/random.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

namespace kmeans_test {
using namespace nax;
using D = Array<double>;
using I = Array<int>;

D groups(int seed, double offset = 0) {
  const D centres = {{0, 0}, {10, 0}, {0, 10}, {10, 10}};
  const D noise = random::normal<double>(random::key(seed), {4, 50, 2});
  return (expand_dims(centres, 1) + noise).reshape({200, 2}) + offset;
}

TEST(KMeans, FindsGroups) {
  for (const double offset : {0., 1e7}) {
    SCOPED_TRACE(offset);
    const D x = groups(1, offset);
    const auto found = optimize::kmeans(random::key(2), x, 4);
    EXPECT_LT(found.iterations.item(), 20);
    double inertia = 0;
    for (int group = 0; group < 4; ++group) {
      const I labels = found.labels(slice(50 * group, 50 * group + 50));
      EXPECT_EQ(min(labels).item(), max(labels).item());
      const D rows = x(slice(50 * group, 50 * group + 50)), middle = mean(rows, {.axis = 0});
      EXPECT_TRUE(allclose(D(found.centroids(labels(0))), middle, {.rtol = 1e-12, .atol = 1e-6}));
      inertia += D(sum(square(rows - middle))).item();
    }
    EXPECT_NEAR(found.inertia.item(), inertia, 1e-5);
  }
}

TEST(KMeans, TakesLloydsSteps) {
  const D x = {{0}, {1}, {2}, {9}, {10}};
  const D init = {{0}, {1}};
  // SciPy's kmeans2 with these first centroids.
  const auto one = optimize::kmeans(random::key(0), x, 2, {.init = init, .max_iterations = 1});
  EXPECT_TRUE(allclose(one.centroids, D{{0}, {5.5}}));
  EXPECT_EQ(one.labels.to_vector(), (std::vector<int>{0, 0, 0, 1, 1}));
  const auto all = optimize::kmeans(random::key(0), x, 2, {.init = init});
  EXPECT_TRUE(allclose(all.centroids, D{{1}, {9.5}}));
  EXPECT_EQ(all.iterations.item(), 3);
  EXPECT_NEAR(all.inertia.item(), 2.5, 1e-12);
  // A cluster without rows stays; as many clusters as rows, and rows that are equal.
  EXPECT_TRUE(
      allclose(optimize::kmeans(random::key(0), x, 2, {.init = D{{5}, {100}}}).centroids, D{{4.4}, {100}}));
  EXPECT_NEAR(optimize::kmeans(random::key(0), x, 5).inertia.item(), 0, 1e-12);
  EXPECT_NEAR(optimize::kmeans(random::key(0), ones<double>({5, 3}), 2).inertia.item(), 0, 1e-12);
}

TEST(KMeans, MapsAndIsRecorded) {
  const D xs = stack({groups(1), groups(2)});
  const auto call = [](const D& x) { return optimize::kmeans(random::key(2), x, 4); };
  const auto each = vmap(call)(xs);
  const auto second = call(D(xs(1)));
  EXPECT_EQ(I(each.labels(1)).to_vector(), second.labels.to_vector());
  EXPECT_TRUE(allclose(jit(call)(D(xs(1))).centroids, second.centroids));
  // In blocks of rows.
  const Array<float> many = random::normal(random::key(1), {3000, 4});
  const auto found = optimize::kmeans(
      random::key(3), many, 2000, {.init = Array<float>(many(slice(0, 2000)) * 0.9f), .max_iterations = 1});
  const auto nearest = [&](int i) {
    return Array<int>(argmin(Array<float>(sum(square(many(i) - found.centroids), {.axis = 1})))).item();
  };
  for (const int i : {0, 2096, 2097, 2999}) EXPECT_EQ(found.labels(i).item(), nearest(i)) << i;
}

// Whose clusters have more rows than half types count.
TEST(KMeans, HalvesAreComputedInFloat) {
  const Array<half> x = (random::normal<float>(random::key(0), {6000, 3}) +
                         where(arange<int>(6000) % 3 == 0, 10.f, 0.f).reshape({6000, 1}))
                            .astype<half>();
  const auto found = optimize::kmeans(random::key(1), x, 2);
  const auto wanted = optimize::kmeans(random::key(1), x.astype<float>(), 2);
  EXPECT_EQ(found.labels.to_vector(), wanted.labels.to_vector());
  EXPECT_TRUE(array_equal(found.centroids, wanted.centroids.astype<half>()));
  EXPECT_LT(abs(sort(wanted.centroids, {.axis = 0}) - Array<float>{{0}, {10}}).max().item(), .1f);
}

TEST(KMeans, CountsItsIterationsToAnyLimit) {
  const D x = random::normal<double>(random::key(3), {50, 2});
  const auto usual = optimize::kmeans(random::key(0), x, 3);
  EXPECT_GT(usual.iterations.item(), 1);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(optimize::kmeans(random::key(0), x, 3, {.max_iterations = most}).iterations.item(),
            usual.iterations.item());
  EXPECT_EQ(optimize::kmeans(random::key(0), x, 3, {.max_iterations = -most}).iterations.item(), 0);
}

TEST(KMeans, RefusesWhatDoesNotFit) {
  const D x = {{0}, {1}, {2}};
  const auto refused = [&](const D& rows, std::int64_t k, const std::string& text, const auto& options) {
    EXPECT_NE(text_of<Error>([&] { optimize::kmeans(random::key(0), rows, k, options); }).find(text),
              std::string::npos);
  };
  const optimize::KMeansOptions<double> none;
  refused(D{0, 1}, 1, "x must be (N, D), shape (2,)", none);
  refused(x, 4, "k = 4 clusters of 3 rows", none);
  optimize::KMeansOptions<double> init;
  init.init = D{{0, 1}};
  refused(x, 1, "init must be (1, 1), shape (1, 2)", init);
}

}  // namespace kmeans_test
