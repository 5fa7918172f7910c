// One of several datasets at each step, at random or by given choices.
#include <gtest/gtest.h>

#include "data/elements.hpp"
#include "support/refusal.hpp"

namespace data_choose {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using Numbers = std::vector<std::int64_t>;

void expect_resumes(const data::Dataset<std::int64_t>& dataset) {
  const Numbers all = all_of(dataset);
  auto it = dataset.iterator();
  for (std::size_t k = 0; k <= all.size(); ++k, it.next())
    EXPECT_EQ(rest_of(dataset.iterator(it.state())),
              Numbers(all.begin() + static_cast<std::ptrdiff_t>(k), all.end()));
}
std::int64_t below(const Numbers& numbers, std::int64_t limit) {
  return std::count_if(numbers.begin(), numbers.end(), [=](std::int64_t i) { return i < limit; });
}
const auto a = data::range(30), b = data::range(100, 130).filter([](std::int64_t) { return true; });

TEST(DataChoose, SamplesAllOfAllInTheirOrder) {
  const auto mixed = data::sample_from({a, b}, {.key = random::key(1)});
  const Numbers all = all_of(mixed);
  Numbers firsts, seconds;
  for (const std::int64_t i : all) (i < 100 ? firsts : seconds).push_back(i);
  EXPECT_EQ(firsts, all_of(a));
  EXPECT_EQ(seconds, all_of(b));
  const auto half = Numbers(all.begin(), all.begin() + 30);
  EXPECT_GT(below(half, 100), 5);
  EXPECT_LT(below(half, 100), 25);
  EXPECT_EQ(all_of(mixed), all);
  EXPECT_NE(all_of(mixed.epoch(1)), all);
  EXPECT_NE(all_of(data::sample_from({a, b}, {.key = random::key(2)})), all);
  expect_resumes(mixed);
  expect_resumes(mixed.map([](std::int64_t i) { return i + 1; }, {.threads = 2}).prefetch(2));
}

TEST(DataChoose, WeightsAreShares) {
  const auto ones = data::range(1).repeat(), twos = data::range(100, 101).repeat();
  const Numbers drawn =
      all_of(data::sample_from({ones, twos}, {.weights = {3, 1}, .key = random::key(0)}).take(4000));
  EXPECT_NEAR(static_cast<double>(below(drawn, 100)), 3000, 150);  // five standard deviations
  EXPECT_EQ(below(all_of(data::sample_from({a, b}, {.weights = {0, 1}, .key = random::key(0)})), 100), 0);
  const auto until_one_ends =
      data::sample_from({a, data::range(100, 102)}, {.key = random::key(3), .stop_on_empty = true});
  EXPECT_LT(all_of(until_one_ends).size(), 32u);
  expect_resumes(until_one_ends);
  EXPECT_EQ(refusal([] {
              data::sample_from({a, b}, {.weights = {1}, .key = random::key(0)});
            }),
            "sample_from: 1 weights for 2 datasets");
  EXPECT_EQ(refusal([] { data::sample_from({a, b}, {}); }), "sample_from: a key is needed, as .key");
  EXPECT_THROW(data::sample_from({a, b}, {.weights = {1, -1}, .key = random::key(0)}), ValueError);
}

TEST(DataChoose, ChoicesAreFollowed) {
  const auto two = data::range(100, 102);
  const auto choices =
      data::range(9).map([](std::int64_t i) { return i % 3 == 0 ? std::int64_t{1} : std::int64_t{0}; });
  EXPECT_EQ(all_of(data::choose_from({a, two}, choices)), (Numbers{100, 0, 1, 101, 2, 3}));
  const auto on = data::choose_from({a, two}, choices, {.stop_on_empty = false});
  EXPECT_EQ(all_of(on), (Numbers{100, 0, 1, 101, 2, 3, 4, 5}));
  expect_resumes(on);
  const auto endless = data::range(2).repeat();
  EXPECT_EQ(all_of(data::choose_from({two, data::range(3)}, endless, {.stop_on_empty = false})),
            (Numbers{100, 0, 101, 1, 2}));
  EXPECT_EQ(refusal<IndexError>([&] { all_of(data::choose_from({a}, choices)); }),
            "choose_from: there is no dataset 1 among 1");
}

}  // namespace data_choose
