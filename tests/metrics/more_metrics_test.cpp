#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "nax/metrics.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

namespace more_metrics_test {
using namespace nax;
using F = Array<float>;
using D = Array<double>;
using I = Array<int>;

double of(const D& x) { return x.item(); }

TEST(Regression, GivesScikitLearnsNumbers) {
  const D predicted = {2.5, 0, 2, 8}, targets = {3, -0.5, 2, 7};
  EXPECT_DOUBLE_EQ(of(metrics::MeanAbsoluteError::make().update(predicted, targets).value()), 0.5);
  const auto r2 = metrics::R2::make().update(predicted, targets);
  EXPECT_NEAR(of(r2.value()), 0.9486081370449679, 1e-14);
  // In parts, of another type, with an example that does not count.
  const auto part = metrics::R2::make().update(F{2.5, 0, NAN}, F{3, -0.5, 1}, I{1, 1, 0});
  EXPECT_NEAR(of(part.update(F{2, 8}, F{2, 7}).value()), of(r2.value()), 1e-14);
  EXPECT_NEAR(of(metrics::R2::make().update(F{2, 8}, F{2, 7}).merge(part).value()), of(r2.value()), 1e-14);
  EXPECT_DOUBLE_EQ(of(metrics::MeanAbsoluteError::make().update(predicted, targets, D{0, 0, 1, 1}).value()),
                   0.5);
  EXPECT_TRUE(std::isnan(of(metrics::R2::make().update(D{1, 2}, D{3, 3}).value())));
  EXPECT_NE(text_of<ShapeError>([&] {
              metrics::R2::make().update(predicted, D{1});
            }).find("metrics::R2: predictions of shape (4,) and targets of shape (1,)"),
            std::string::npos);
  // psum merges those of a mapped axis.
  const D all =
      vmap([](const D& p, const D& t) { return psum(metrics::R2::make().update(p, t), "i").value(); },
           {.axis_name = "i"})(predicted.reshape({2, 2}), targets.reshape({2, 2}));
  EXPECT_NEAR(all(0).item(), of(r2.value()), 1e-14);
}

TEST(F1, IsTheMeanOfPrecisionAndRecall) {
  const auto f1 =
      metrics::F1::make().update(I{1, 1, 0, 1, 0, 0}, Array<bool>{true, false, true, true, false, true});
  EXPECT_DOUBLE_EQ(of(f1.precision()), 2. / 3);
  EXPECT_DOUBLE_EQ(of(f1.recall()), 0.5);
  EXPECT_DOUBLE_EQ(of(f1.value()), 4. / 7);
  EXPECT_DOUBLE_EQ(of(f1.merge(f1).value()), 4. / 7);
  EXPECT_DOUBLE_EQ(of(metrics::F1::make().value()), 0);
  EXPECT_DOUBLE_EQ(of(metrics::F1::make().update(F{0.9f, 0.2f} > 0.5f, I{1, 1}, F{1, 3}).recall()), 0.25);
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

// The corpus of NLTK's documentation, and its numbers.
TEST(Bleu, GivesNltksNumbers) {
  const auto one = metrics::Bleu::make().update(
      words("It is a guide to action which ensures that the military always obeys the commands of the party"),
      {words("It is a guide to action that ensures that the military will forever heed Party commands"),
       words("It is the guiding principle which guarantees the military forces always being under the "
             "command of "
             "the Party"),
       words("It is the practical guide for the army always to heed the directions of the party")});
  EXPECT_NEAR(of(one.value()), 0.5045666840058485, 1e-14);
  const auto two =
      metrics::Bleu::make().update(words("he read the book because he was interested in world history"),
                                   {words("he was interested in world history because he read the book")});
  EXPECT_NEAR(of(one.merge(two).value()), 0.5920778868801042, 1e-14);
  // Numbers, a short candidate, no match at all.
  const auto numbers = metrics::Bleu::make(2).update(std::vector<int>{1, 2, 3}, {{1, 2, 3, 4}});
  EXPECT_NEAR(of(numbers.value()), std::exp(1 - 4. / 3), 1e-14);
  EXPECT_EQ(of(metrics::Bleu::make().update(std::vector<int>{1}, {{2}}).value()), 0);
  EXPECT_EQ(of(metrics::Bleu::make().value()), 0);
  EXPECT_THROW(metrics::Bleu::make().update(std::vector<int>{1}, {}), ValueError);
  EXPECT_THROW(metrics::Bleu::make(0), ValueError);
}

}  // namespace more_metrics_test
