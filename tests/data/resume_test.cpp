// Positions: an iterator resumed from one gives what the first one would have given.
#include <gtest/gtest.h>

#include "data/elements.hpp"
#include "nax/io/save.hpp"
#include "support/refusal.hpp"

namespace resume_test {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using Numbers = std::vector<std::int64_t>;

template <class E>
void expect_resumes(const data::Dataset<E>& dataset, const char* what) {
  const auto all = all_of(dataset);
  ASSERT_GT(all.size(), 3u) << what;
  auto it = dataset.iterator();
  for (std::size_t k = 0; k <= all.size(); ++k) {
    const std::vector<E> rest = rest_of(dataset.iterator(it.state()));
    EXPECT_EQ(rest, std::vector<E>(all.begin() + static_cast<std::ptrdiff_t>(k), all.end()))
        << what << " at " << k;
    if (k < all.size()) it.next();
  }
}

TEST(DataResume, EveryStageAtEveryElement) {
  const auto by_index = data::range(23);
  const auto walked = by_index.filter([](std::int64_t i) { return i % 5 != 1; });
  const auto key = random::key(2);
  const auto twice = [](std::int64_t i) { return 2 * i; };
  const auto draw = [](const random::Key& k, std::int64_t i) {
    return static_cast<std::int64_t>(k.words().item() >> 1) ^ i;
  };
  for (const auto& [name, input] : {std::pair{"by index", by_index}, std::pair{"walked", walked}}) {
    SCOPED_TRACE(name);
    expect_resumes(input, "the source");
    expect_resumes(input.map(twice), "map");
    expect_resumes(input.map(twice, {.threads = 3}), "map by threads");
    expect_resumes(input.map(draw, {.threads = 3, .key = key}), "map with keys");
    expect_resumes(input.shuffle({.buffer = 4, .key = key}), "shuffle");
    expect_resumes(input.shuffle({.buffer = 100, .key = key}), "shuffle in a large buffer");
    expect_resumes(input.skip(2).take(15), "skip and take");
    expect_resumes(input.shard(1, 3), "shard");
    expect_resumes(input.repeat(3), "repeat");
    expect_resumes(input.repeat(3).map(draw, {.key = key}), "map of repeat");
    expect_resumes(input.shuffle({.buffer = 4, .key = key}).repeat(3).shuffle({.buffer = 7, .key = key}),
                   "shuffle of repeat");
    expect_resumes(input.concatenate(input.take(3)), "concatenate");
    expect_resumes(
        data::zip(input, input.map(twice)).map([](std::int64_t a, std::int64_t b) { return 100 * a + b; }),
        "zip");
    expect_resumes(input.interleave([](std::int64_t i) { return data::range(i, i + i % 4); },
                                    {.cycle_length = 3, .block_length = 2}),
                   "interleave");
    expect_resumes(input.cache(), "cache");
    expect_resumes(input.prefetch(4), "prefetch");
  }
  for (const int threads : {0, 2})
    for (const bool drop : {false, true})
      for (const auto& input : {by_index, walked}) {
        auto sums = input.batch(3, {.drop_remainder = drop, .threads = threads})
                        .map([](const Array<std::int64_t>& batch) {
                          std::int64_t sum = 0;
                          for (std::int64_t i = 0; i < batch.shape(0); ++i)
                            sum = 31 * sum + detail::elements<const std::int64_t>(batch)[i];
                          return sum;
                        });
        expect_resumes(sums, "batch");
      }
  expect_resumes(walked.batch(4).unbatch().map([](const Array<std::int64_t>& i) { return i.item(); }),
                 "unbatch");
}

TEST(DataResume, FromTheBodyOfALoop) {
  const auto dataset = data::range(10).shuffle({.key = random::key(1)}).prefetch(3);
  const Numbers all = all_of(dataset);
  auto it = dataset.iterator();
  Numbers seen;
  data::Position position;
  for (const std::int64_t i : it) {
    seen.push_back(i);
    if (seen.size() == 4) {
      position = it.state();
      break;
    }
  }
  EXPECT_EQ(position.count(), 4);
  for (const std::int64_t i : it) seen.push_back(i);  // goes on behind the break
  EXPECT_EQ(seen, all);
  EXPECT_EQ(rest_of(dataset.iterator(position)), Numbers(all.begin() + 4, all.end()));
}

TEST(DataResume, PositionsAreTreesAndBelongToTheirPipeline) {
  const auto dataset = data::range(10).shuffle({.key = random::key(1)});
  auto it = dataset.iterator();
  EXPECT_EQ(*it, all_of(dataset)[0]);
  EXPECT_EQ(*++it, all_of(dataset)[1]);
  const std::string path = ::testing::TempDir() + "nax_position.npz";
  io::save(path, it.state());
  data::Position position;
  io::load(path, position);
  EXPECT_EQ(position, it.state());
  EXPECT_EQ(*dataset.iterator(position).next(), all_of(dataset)[2]);
  // Threads and prefetching are no part of what a pipeline gives.
  EXPECT_EQ(*dataset.prefetch(2).iterator(position).next(), all_of(dataset)[2]);
  const std::string other =
      "iterator: the position was taken from another pipeline (its stages, options, keys or files differ)";
  EXPECT_EQ(refusal([&] { data::range(11).shuffle({.key = random::key(1)}).iterator(position); }), other);
  EXPECT_EQ(refusal([&] { data::range(10).shuffle({.key = random::key(2)}).iterator(position); }), other);
  EXPECT_EQ(refusal([&] { dataset.epoch(1).iterator(position); }), other);
  EXPECT_EQ(refusal([&] { dataset.iterator(data::Position()); }), other);
  EXPECT_EQ(refusal([&] { dataset.iterator(data::Position(-3, position.print())); }),
            "iterator: the position counts -3 elements");
}

}  // namespace resume_test
