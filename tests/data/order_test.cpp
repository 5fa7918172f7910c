// Which elements come, in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "data/elements.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/random/bits.hpp"
#include "support/refusal.hpp"

namespace order_test {
using namespace nax;
using nax::testing::all_of;
using Numbers = std::vector<std::int64_t>;

Numbers iota(std::int64_t n) {
  Numbers numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}
Numbers sorted(Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}
const auto odd = [](std::int64_t i) { return i % 2 == 1; };

TEST(DataOrder, Range) {
  EXPECT_EQ(all_of(data::range(4)), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(all_of(data::range(2, 9, 3)), (Numbers{2, 5, 8}));
  EXPECT_EQ(all_of(data::range(5, 0, -2)), (Numbers{5, 3, 1}));
  EXPECT_EQ(all_of(data::range(3, 3)), Numbers{});
  EXPECT_EQ(all_of(data::range(3, -1)), Numbers{});
  EXPECT_EQ(data::range(INT64_MIN, INT64_MAX, INT64_MAX).size(), 3);
  EXPECT_EQ(refusal([] { data::range(0, 1, 0); }), "range: the step must not be 0");
  EXPECT_EQ(refusal([] { data::range(INT64_MIN, INT64_MAX); }), "range: too many numbers");
}

TEST(DataOrder, SlicesByIndexAndByWalking) {
  for (const bool walked : {false, true}) {
    auto ten = data::range(10);
    if (walked) ten = ten.prefetch(2);  // has no indices
    EXPECT_EQ(all_of(ten.take(3)), iota(3));
    EXPECT_EQ(all_of(ten.take(30)), iota(10));
    EXPECT_EQ(all_of(ten.skip(7)), (Numbers{7, 8, 9}));
    EXPECT_EQ(all_of(ten.skip(11)), Numbers{});
    EXPECT_EQ(all_of(ten.shard(1, 3)), (Numbers{1, 4, 7}));
    EXPECT_EQ(all_of(ten.shard(0, 3)), (Numbers{0, 3, 6, 9}));
    EXPECT_EQ(all_of(ten.skip(2).take(5).shard(1, 2).skip(1)), (Numbers{5}));
    EXPECT_EQ(*ten.shard(0, 3).size(), 4);
  }
  EXPECT_EQ(refusal([] { data::range(3).shard(3, 3); }), "shard: no part 3 of 3");
  EXPECT_EQ(refusal([] { data::range(3).take(-1); }),
            "take: the number of elements must not be negative, got -1");
}

TEST(DataOrder, MapAndFilter) {
  const auto square = [](std::int64_t i) { return i * i; };
  EXPECT_EQ(all_of(data::range(4).map(square)), (Numbers{0, 1, 4, 9}));
  EXPECT_EQ(all_of(data::range(10).filter(odd).map(square, {.threads = 3})), (Numbers{1, 9, 25, 49, 81}));
  EXPECT_FALSE(data::range(10).filter(odd).size());
  auto pairs =
      data::zip(data::range(3), data::range(5, 8)).map([](std::int64_t a, std::int64_t b) { return a * b; });
  EXPECT_EQ(all_of(pairs), (Numbers{0, 6, 14}));
}

TEST(DataOrder, ThreadsMakeNoDifference) {
  const auto slow = [](std::int64_t i) {
    if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    return i * 3;
  };
  for (const bool by_index : {true, false}) {
    auto input = data::range(300).shuffle({.key = random::key(1)});
    if (!by_index) input = input.filter([](std::int64_t) { return true; });
    const Numbers expected = all_of(input.map(slow));
    for (const int threads : {1, 2, 5, data::auto_tune})
      EXPECT_EQ(all_of(input.map(slow, {.threads = threads})), expected);
  }
  EXPECT_EQ(refusal([&] { data::range(3).map(slow, {.threads = -2}); }),
            "map: threads must be between 0 and 512 or data::auto_tune, not -2");
}

TEST(DataOrder, ShuffleIsAPermutationOfItsKeyAndEpoch) {
  const auto shuffled = data::range(1000).shuffle({.key = random::key(3)});
  const Numbers order = all_of(shuffled);
  EXPECT_EQ(sorted(order), iota(1000));
  EXPECT_NE(order, iota(1000));
  EXPECT_EQ(all_of(shuffled), order);
  EXPECT_NE(all_of(data::range(1000).shuffle({.key = random::key(4)})), order);
  const Numbers second = all_of(shuffled.epoch(1));
  EXPECT_EQ(sorted(second), iota(1000));
  EXPECT_NE(second, order);
  Numbers both = order;
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(all_of(shuffled.repeat(2)), both);
  const auto same = data::range(1000).shuffle({.key = random::key(3), .reshuffle = false});
  EXPECT_EQ(all_of(same.epoch(1)), order);
  EXPECT_EQ(all_of(data::range(1).shuffle({.key = random::key(0)})), iota(1));
  EXPECT_EQ(all_of(data::range(0).shuffle({.key = random::key(0)})), Numbers{});
  EXPECT_EQ(refusal([] { data::range(3).shuffle({.buffer = 3}); }), "shuffle: a key is needed, as .key");
}

TEST(DataOrder, ShuffledPlacesAreUniform) {
  // 6 orders of 3, 6000 keys: each about 1000 times (a standard deviation of 29).
  std::map<Numbers, int> seen;
  for (int seed = 0; seed < 6000; ++seed) ++seen[all_of(data::range(3).shuffle({.key = random::key(seed)}))];
  ASSERT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(DataOrder, ShuffleInABufferLooksNoFurtherThanTheBuffer) {
  const auto walked = data::range(500).filter([](std::int64_t) { return true; });
  const Numbers order = all_of(walked.shuffle({.buffer = 20, .key = random::key(3)}));
  EXPECT_EQ(sorted(order), iota(500));
  EXPECT_NE(order, iota(500));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_LT(order[i], static_cast<std::int64_t>(i) + 20);
  EXPECT_EQ(sorted(all_of(walked.shuffle({.buffer = 5000, .key = random::key(3)}))), iota(500));
  EXPECT_EQ(all_of(walked.shuffle({.buffer = 1, .key = random::key(3)})), iota(500));
  EXPECT_NE(refusal([&] { walked.shuffle({.key = random::key(0)}); }).find(".buffer"), std::string::npos);
}

TEST(DataOrder, Repeat) {
  EXPECT_EQ(all_of(data::range(2).repeat(3)), (Numbers{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(all_of(data::range(2).repeat(0)), Numbers{});
  EXPECT_EQ(all_of(data::range(3).repeat().take(7)), (Numbers{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(all_of(data::range(0).repeat()), Numbers{});  // and no endless loop
  EXPECT_EQ(all_of(data::range(2).filter([](std::int64_t) { return false; }).repeat()), Numbers{});
  EXPECT_EQ(data::range(2).repeat(3).size(), 6);
  EXPECT_FALSE(data::range(2).repeat().size());
}

TEST(DataOrder, ZipConcatenateInterleave) {
  auto zipped = data::zip(data::range(3), data::range(10, 20).prefetch(1));
  std::int64_t i = 0;
  for (auto [a, b] : zipped) {
    EXPECT_EQ(a, i);
    EXPECT_EQ(b, 10 + i++);
  }
  EXPECT_EQ(i, 3);
  EXPECT_EQ(all_of(data::concatenate(data::range(2), data::range(5, 7), data::range(1))),
            (Numbers{0, 1, 5, 6, 0}));
  EXPECT_EQ(all_of(data::range(2).concatenate(data::range(5, 7).filter(odd))), (Numbers{0, 1, 5}));
  const auto tens = [](std::int64_t t) { return data::range(10 * t, 10 * t + t); };
  EXPECT_EQ(all_of(data::range(1, 4).interleave(tens, {.cycle_length = 2})),
            (Numbers{10, 20, 30, 21, 31, 32}));
  EXPECT_EQ(all_of(data::range(1, 4).interleave(tens, {.cycle_length = 3, .block_length = 2})),
            (Numbers{10, 20, 21, 30, 31, 32}));
  EXPECT_EQ(all_of(data::interleave({data::range(3), data::range(10, 11), data::range(20, 22)})),
            (Numbers{0, 10, 20, 1, 21, 2}));
  EXPECT_EQ(all_of(data::concatenate(std::vector<data::Dataset<std::int64_t>>{})), Numbers{});
}

TEST(DataOrder, ShardsTogetherAreTheWhole) {
  const auto whole = data::range(101).shuffle({.key = random::key(5)});
  Numbers all;
  for (int part = 0; part < 4; ++part)
    for (const std::int64_t i : whole.shard(part, 4)) all.push_back(i);
  EXPECT_EQ(sorted(all), iota(101));
}

TEST(DataOrder, KeysBelongToElementsAndEpochs) {
  const auto draw = [](const random::Key& key, std::int64_t) {
    return random::bits<std::uint64_t>(key).item();
  };
  const auto drawn = data::range(50).map(draw, {.threads = 4, .key = random::key(9)});
  const auto first = all_of(drawn);
  EXPECT_EQ(all_of(data::range(50).map(draw, {.key = random::key(9)})), first);
  EXPECT_EQ(all_of(data::range(50).prefetch(1).map(draw, {.threads = 2, .key = random::key(9)})), first);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 50u);
  EXPECT_NE(all_of(drawn.epoch(1)), first);
  EXPECT_EQ(refusal([&] { data::range(3).map(draw); }),
            "map: the function takes a random::Key; give one as .key");
}

}  // namespace order_test
