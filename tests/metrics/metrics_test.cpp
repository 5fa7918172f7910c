#include "nax/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/lax/scan.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/random.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

namespace metrics_test {
using namespace nax;
using F = Array<float>;
using I = Array<int>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

double of(const Array<double>& x) { return x.item(); }

TEST(Metrics, MeanWeighsItsValues) {
  auto mean = metrics::Mean::make();
  EXPECT_TRUE(std::isnan(of(mean.value())));
  mean = mean.update(F{1, 2, 6});
  EXPECT_DOUBLE_EQ(of(mean.value()), 3);
  mean = mean.update(7.5f).update(I{2, 4}, Array<double>{1, 3});
  EXPECT_DOUBLE_EQ(of(mean.value()), (9 + 7.5 + 14) / 8);
  // Padding of weight 0 does not count, even if it is NaN; weights broadcast.
  const auto padded = metrics::Mean::make().update(F{{1, nan}, {3, nan}}, Array<double>{1, 0});
  EXPECT_DOUBLE_EQ(of(padded.value()), 2);
  EXPECT_DOUBLE_EQ(of(mean.merge(padded).value()), (30.5 + 4) / 10);
  // Sums are of double precision: a float would stop at 2^24.
  EXPECT_EQ(of(metrics::Mean{1 << 24, 1.0}.update(F{1, 1, 1}).total), (1 << 24) + 3);
}

TEST(Metrics, WeightsAreOfAnyType) {
  const F values = {1, 2, 6};
  const auto mean = [&](const auto& weights) {
    return of(metrics::Mean::make().update(values, weights).value());
  };
  EXPECT_DOUBLE_EQ(mean(Array<double>{1, 0, 1}), 3.5);
  EXPECT_DOUBLE_EQ(mean(F{1, 0, 1}), 3.5);
  EXPECT_DOUBLE_EQ(mean(Array<bool>{true, false, true}), 3.5);
  EXPECT_DOUBLE_EQ(mean(I{2, 0, 2}), 3.5);
  EXPECT_DOUBLE_EQ(mean(values != 2.f), 3.5);
  EXPECT_DOUBLE_EQ(mean(values * 0.5f), 41. / 9);
  EXPECT_DOUBLE_EQ(mean(2), 3);
  const I labels = {1, 0, 1}, predicted = {1, 1, 1};
  const Array<bool> mask = {true, false, true};
  EXPECT_DOUBLE_EQ(of(metrics::Accuracy::make().update(predicted, labels, mask).value()), 1);
  EXPECT_DOUBLE_EQ(of(metrics::Confusion::make(2).update(predicted, labels, labels == 1).accuracy()), 1);
  EXPECT_DOUBLE_EQ(sum(metrics::BinaryAUC::make().update(F{.9f, .95f, .8f}, labels, mask).negatives).item(),
                   0);
}

TEST(Metrics, AccuracyTakesLogitsOrClasses) {
  const F logits = {{0, 3, 1}, {2, 1, 0}, {1, 1, 0}, {0, nan, 1}, {5, 1, 7}};
  const I labels = {1, 0, 1, 1, 2};  // right, right, tied behind class 0, NaN, right
  EXPECT_DOUBLE_EQ(of(metrics::Accuracy::make().update(logits, labels).value()), 0.6);
  EXPECT_DOUBLE_EQ(of(metrics::accuracy(logits, labels)), 0.6);
  EXPECT_DOUBLE_EQ(of(metrics::accuracy(logits * 2, labels, labels == 1)), 1. / 3);
  EXPECT_DOUBLE_EQ(
      of(metrics::Accuracy::make().update(I{1, 0, 2}, I{1, 1, 2}, Array<double>{1, 2, 1}).value()), 0.5);
  // Truths are the classes 0 and 1.
  using B = Array<bool>;
  EXPECT_DOUBLE_EQ(of(metrics::Accuracy::make().update(B{true, false, true, true}, I{1, 0, 0, 1}).value()),
                   0.75);
  EXPECT_DOUBLE_EQ(of(metrics::Accuracy::make().update(logits, B{true, false, true, true, false}).value()),
                   0.4);
  EXPECT_EQ(
      metrics::Confusion::make(2).update(F{.9f, .2f, .7f} > .5f, B{true, false, false}).counts.to_vector(),
      (std::vector<double>{1, 1, 0, 1}));
  auto top = metrics::TopKAccuracy::make(2).update(logits, labels);
  EXPECT_DOUBLE_EQ(of(top.value()), 0.8);
  EXPECT_DOUBLE_EQ(of(top.merge(metrics::TopKAccuracy::make(2).update(logits, I{2, 2, 2, 9, -1})).value()),
                   0.5);
  EXPECT_NE(text_of<ValueError>([&] { top.merge(metrics::TopKAccuracy::make(3)); }).find("k = 2 and 3"),
            std::string::npos);
  EXPECT_NE(text_of<ShapeError>([&] {
              metrics::Accuracy::make().update(logits, logits.astype<int>());
            }).find("(5, 3)"),
            std::string::npos);
}

TEST(Metrics, ConfusionCountsAndFollows) {
  const I labels = {2, 0, 2, 2, 0, 1, 7}, predicted = {0, 0, 2, 2, 0, 2, 1};
  const auto c = metrics::Confusion::make(4).update(predicted, labels);
  EXPECT_EQ(c.counts.to_vector(), (std::vector<double>{2, 0, 0, 0, 0, 0, 1, 0, 1, 0, 2, 0, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(of(c.accuracy()), 4. / 6);
  EXPECT_EQ(c.precision().to_vector(), (std::vector<double>{2. / 3, 0, 2. / 3, 0}));
  EXPECT_EQ(c.recall().to_vector(), (std::vector<double>{1, 0, 2. / 3, 0}));
  EXPECT_EQ(c.f1().to_vector(), (std::vector<double>{0.8, 0, 4. / 6, 0}));
  EXPECT_EQ(c.iou().to_vector(), (std::vector<double>{2. / 3, 0, 0.5, 0}));
  // scikit-learn's matthews_corrcoef: (4 * 6 - 15) / sqrt((36 - 18) (36 - 14)).
  EXPECT_NEAR(of(c.matthews()), 9 / std::sqrt(18. * 22), 1e-15);
  const auto by_logits =
      metrics::Confusion::make(2).update(F{{1, 2}, {3, 1}}, I{1, 1}, Array<double>{0.5, 2});
  EXPECT_EQ(by_logits.counts.to_vector(), (std::vector<double>{0, 0, 2, 0.5}));
  EXPECT_EQ(by_logits.merge(by_logits).counts.to_vector(), (std::vector<double>{0, 0, 4, 1}));
}

TEST(Metrics, AucIsTheShareOfPairsInOrder) {
  const auto key = random::split(random::key(3), 2);
  const std::int64_t n = 300;
  const Array<bool> labels = random::uniform(key[0], {n}) < 0.3f;
  // Eighths, so that there are ties, and no rounding by 8 bins or more.
  const F scores = floor((random::uniform(key[1], {n}) * 6.f + labels.astype<float>() * 2.f)) / 8.f;
  const auto s = scores.to_vector();
  const auto is = labels.to_vector();
  double pairs = 0, right = 0;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < s.size(); ++j)
      if (is[i] && !is[j]) pairs += 1, right += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
  auto auc = metrics::BinaryAUC::make(64);
  for (std::int64_t i = 0; i < n; i += 100)
    auc = auc.update(F(scores(slice(i, i + 100))), Array<bool>(labels(slice(i, i + 100))));
  EXPECT_NEAR(of(auc.value()), right / pairs, 1e-12);

  // scikit-learn's example: average_precision_score([0, 0, 1, 1], [.1, .4, .35, .8]) = 0.8333, AUC 0.75.
  const auto small = metrics::BinaryAUC::make(100).update(F{0.1, 0.4, 0.35, 0.8}, I{0, 0, 1, 1});
  EXPECT_DOUBLE_EQ(of(small.value()), 0.75);
  EXPECT_NEAR(of(small.average_precision()), 5. / 6, 1e-15);
  // Scores at and beyond the ends; padding; NaN.
  EXPECT_DOUBLE_EQ(of(metrics::BinaryAUC::make(10).update(F{-1, 0, 1, 2}, I{0, 0, 1, 1}).value()), 1);
  EXPECT_TRUE(std::isnan(of(small.update(F{nan}, I{1}).value())));
  EXPECT_DOUBLE_EQ(of(small.update(F{nan}, I{1}, Array<double>{0}).value()), 0.75);
  EXPECT_TRUE(std::isnan(of(metrics::BinaryAUC::make().update(F{0.5}, I{1}).value())));
}

TEST(Metrics, PerplexityOfUniformLogitsIsTheCountOfClasses) {
  auto p = metrics::Perplexity::make().update(zeros({2, 3, 5}), I{{0, 1, 2}, {3, 4, 0}});
  EXPECT_NEAR(of(p.value()), 5, 1e-5);
  const double lowest = std::log(std::exp(1.) + 1);
  p = metrics::Perplexity::make().update(F{{1, 0}, {0, 1}}, I{1, 0}, Array<double>{1, 1});
  EXPECT_NEAR(of(p.value()), std::exp(lowest), 1e-5);
  EXPECT_NEAR(of(p.merge(p).value()), std::exp(lowest), 1e-5);
}

// All metrics in one tree.
struct All {
  metrics::Mean loss;
  metrics::Accuracy accuracy;
  metrics::TopKAccuracy top;
  metrics::Confusion confusion;
  metrics::BinaryAUC auc;
  metrics::Perplexity perplexity;

  static All make() {
    return {metrics::Mean::make(),       metrics::Accuracy::make(),     metrics::TopKAccuracy::make(2),
            metrics::Confusion::make(4), metrics::BinaryAUC::make(100), metrics::Perplexity::make()};
  }
  All update(const F& logits, const I& labels) const {
    return {loss.update(logits),
            accuracy.update(logits, labels),
            top.update(logits, labels),
            confusion.update(logits, labels),
            auc.update(F(logits(_, 0)), I((labels == 0).astype<int>())),
            perplexity.update(logits, labels)};
  }
};
void expect_same(const All& got, const All& want) {
  tree::for_each(
      [](const Array<double>& a, const Array<double>& b) {
        const auto x = a.to_vector(), y = b.to_vector();
        ASSERT_EQ(x.size(), y.size());
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-9 * (1 + std::abs(y[i])));
      },
      got, want);
}

TEST(Metrics, AreCarriesOfScanAndSumOverDevices) {
  const auto keys = random::split(random::key(5), 2);
  const F logits = random::uniform(keys[0], {6, 10, 4});
  const I labels = floor(random::uniform(keys[1], {6, 10}) * 4.f).astype<int>();
  const All whole = All::make().update(logits.reshape({60, 4}), labels.reshape({60}));

  const auto [scanned, none_of] = lax::scan(
      [](const All& all, const std::pair<F, I>& batch) {
        return std::pair(all.update(batch.first, batch.second), Array<float>(0.f));
      },
      All::make(), std::pair(logits, labels));
  expect_same(scanned, whole);

  // The six examples of a vmap, summed over its axis: each has the whole.
  const auto summed = vmap([](const F& x, const I& y) { return psum(All::make().update(x, y), "batch"); },
                           {.axis_name = "batch"})(logits, labels);
  expect_same(tree::map([](const Array<double>& x) { return Array<double>(x(3)); }, summed), whole);
  // Means over devices have the values of sums.
  const auto meant =
      vmap([](const F& x, const I& y) { return pmean(All::make().update(x, y), "batch").auc.value(); },
           {.axis_name = "batch"})(logits, labels);
  EXPECT_NEAR(meant.to_vector()[0], of(whole.auc.value()), 1e-12);
}

TEST(Metrics, PerplexityReadsNoLabelOfWeightZero) {
  const F logits = {{0, 3, 1}, {2, 1, 0}, {nan, 1, 0}};
  const Array<double> weights = {1, 1, 0};
  const auto of_labels = [&](const auto& labels) {
    return of(metrics::Perplexity::make().update(logits, labels, weights).value());
  };
  const double want = of(metrics::Perplexity::make().update(logits(slice(none, 2)), I{1, 2}).value());
  EXPECT_DOUBLE_EQ(of_labels(I{1, 2, 0}), want);
  EXPECT_DOUBLE_EQ(of_labels(I{1, 2, -1}), want);
  EXPECT_DOUBLE_EQ(of_labels(I{1, 2, -100}), want);
  EXPECT_DOUBLE_EQ(of_labels(Array<std::uint8_t>{1, 2, 255}), want);
  const I labels = {1, 2, -100};
  EXPECT_DOUBLE_EQ(of(metrics::Perplexity::make().update(logits, labels, labels >= 0).value()), want);
  EXPECT_THROW(metrics::Perplexity::make().update(logits, labels), IndexError);
}

}  // namespace metrics_test
