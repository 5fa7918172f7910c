// NumPy's rules for bins, histograms under vmap, and errors.

#include "nax/numpy/statistics/covariance.hpp"
#include "nax/numpy/statistics/histogramdd.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/numpy_more.hpp"
#include "support/refusal.hpp"

namespace histogram_test {

using A = nax::Array<double>;

TEST(Histogram, RulesMatchNumPy) {
  for (const std::string sample : {"normal", "skew", "two", "same", "quartiles"}) {
    const A x = more::record("rules." + sample + "/f64/in0");
    for (const char* rule : {"auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"})
      more::expect("rules." + sample + "." + rule + "/f64/out", nax::histogram_bin_edges(x, {.bins = rule}));
    more::expect("rules." + sample + ".range/f64/out",
                 nax::histogram_bin_edges(x, {.bins = "auto", .range = {.5, 2}}));
  }
  const auto whole = more::record<std::int32_t>("rules.whole/i32/in0");
  more::expect("rules.whole.auto/f64/out", nax::histogram_bin_edges(whole, {.bins = "auto"}), 1e-6);
}

TEST(Histogram, TypesAndBindings) {
  const nax::Array<float> x = {1, 2, 2, 3};
  auto [counts, edges] = nax::histogram(x, {.bins = 2, .range = {0, 4}});
  EXPECT_EQ(counts.to_vector(), (std::vector<float>{1, 3}));
  EXPECT_EQ(edges.to_vector(), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(nax::histogram(nax::Array<int>{1, 5, 9}, {.bins = {0, 5, 9}}).hist.to_vector(),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(nax::histogram(A{std::nan(""), 1}, {.bins = A{0, 1, 2}}).hist.to_vector(),
            (std::vector<double>{0, 1}));
  auto [H, xedges, yedges] = nax::histogram2d(x, x, {.bins = 2, .density = true});
  EXPECT_EQ(H.to_vector(), (std::vector<float>{.25f, 0, 0, .75f}));
  EXPECT_EQ(xedges.size() + yedges.size(), 6);
}

TEST(Histogram, UnderVmap) {
  const A rows = {{1, 2, 3, 7}, {0, 4, 4, 5}};
  const A counts = nax::vmap([](const A& x) { return nax::histogram(x, {.bins = 3}).hist; })(rows);
  EXPECT_EQ(counts.to_vector(), (std::vector<double>{2, 1, 1, 1, 0, 3}));
  EXPECT_EQ(
      refusal([&] { nax::vmap([](const A& x) { return nax::histogram(x, {.bins = "fd"}).hist; })(rows); }),
      "histogram: the number of bins by the rule 'fd' depends on the values, which vmap cannot map");
}

TEST(Histogram, RefusesInvalidArguments) {
  const A x = {1, 2, 3};
  EXPECT_EQ(refusal([&] { nax::histogram(x, {.bins = 0}); }),
            "histogram: `bins` must be positive, when an integer, got 0");
  EXPECT_EQ(refusal([&] {
              nax::histogram(x, {.bins = {2, 1}});
            }),
            "histogram: `bins` must increase monotonically, when an array");
  EXPECT_EQ(refusal([&] { nax::histogram(x, {.bins = "best"}); }),
            "histogram: 'best' is not a valid estimator for `bins`");
  EXPECT_EQ(refusal([&] {
              nax::histogram(x, {.range = {2, 1}});
            }),
            "histogram: max must be larger than min in range parameter: [2.000000, 1.000000]");
  EXPECT_EQ(refusal([&] {
              nax::histogram(A{1, INFINITY});
            }),
            "histogram: autodetected range of [1.000000, inf] is not finite");
  EXPECT_THROW(nax::histogram(x, {.bins = "fd", .weights = x}), nax::TypeError);
  EXPECT_THROW(nax::histogram(x, {.weights = A{1}}), nax::ShapeError);
  EXPECT_EQ(refusal([&] {
              nax::histogramdd(nax::zeros<double>({2, 3}), {.bins = {2, 2}});
            }),
            "histogramdd: the dimension of bins must be equal to the dimension of the sample: 2 and 3");
  EXPECT_EQ(refusal([&] {
              nax::cov(nax::zeros<double>({2, 2, 2}));
            }),
            "cov: the array has more than 2 dimensions, shape (2, 2, 2)");
  EXPECT_THROW(nax::cov(x, {.aweights = A{1, 2}}), nax::ShapeError);
}

TEST(Quantiles, RefuseInvalidArguments) {
  const A x = {1, 2, 3};
  EXPECT_EQ(refusal([&] { nax::quantile(x, .5, {.method = "best"}); }), "quantile: unknown method 'best'");
  EXPECT_EQ(refusal([&] { nax::nanquantile(x, 1.5); }), "nanquantile: quantiles must be in the range [0, 1]");
  EXPECT_EQ(refusal([&] { nax::quantile(x, .5, {.weights = x}); }),
            "quantile: weights go with the method 'inverted_cdf' only, not 'linear'");
  EXPECT_EQ(refusal([&] {
              nax::quantile(x, .5, {.method = "inverted_cdf", .weights = A{1, -1, 2}});
            }),
            "quantile: the weights must be finite and not negative, got -1.000000");
  EXPECT_TRUE(std::isnan(nax::nanmedian(A{std::nan("")}).item()));
  EXPECT_EQ(nax::nanmedian(A{std::nan(""), -INFINITY, 2, 3, INFINITY}).item(), 2.5);
}

}  // namespace histogram_test
