// Elastic shards: a position of some number of shards is resumed by another number.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "data/elements.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "support/refusal.hpp"

namespace elastic_test {
using namespace nax;
using Numbers = std::vector<std::int64_t>;
using Batches = data::Dataset<Array<std::int64_t>>;
using data::Position;

// The pipeline of one process of several.
using Pipeline = std::function<Batches(std::int64_t index, std::int64_t count, std::int64_t batch)>;

// Runs `steps` steps in each of `count` processes from a position on (below 0: to the end), adds each step's
// elements of all processes to `seen`, and returns the position, which all processes agree on.
Position run(const Pipeline& pipeline, std::int64_t count, std::int64_t batch, const Position* from,
             int steps, std::vector<Numbers>& seen) {
  Position position;
  const std::size_t first = seen.size();
  for (std::int64_t index = 0; index < count; ++index) {
    const Batches mine = pipeline(index, count, batch);
    auto it = from ? mine.iterator(*from) : mine.iterator();
    for (int step = 0; step != steps; ++step) {
      const auto elements = it.next();
      if (!elements) break;
      const std::size_t at = first + static_cast<std::size_t>(step);
      if (seen.size() <= at) seen.resize(at + 1);
      for (const std::int64_t i : elements->to_vector()) seen[at].push_back(i);
    }
    if (index > 0 && steps >= 0) {
      EXPECT_EQ(it.state(), position) << index;
    }
    position = it.state();
  }
  for (Numbers& step : seen) std::sort(step.begin(), step.end());
  return position;
}
Numbers flat(const std::vector<Numbers>& steps) {
  Numbers all;
  for (const Numbers& step : steps) all.insert(all.end(), step.begin(), step.end());
  std::sort(all.begin(), all.end());
  return all;
}

constexpr std::int64_t elements = 101;
Numbers everything() {
  Numbers all(elements);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  return all;
}

std::vector<std::pair<const char*, Pipeline>> pipelines() {
  const auto shuffled = data::range(elements).shuffle({.key = random::key(4)});
  const auto streamed = shuffled.filter([](std::int64_t) { return true; });
  const auto same = [](std::int64_t i) { return i; };
  const auto unordered = shuffled.map(same, {.threads = 3, .deterministic = false});
  const auto alone = [](std::int64_t i) { return Array<std::int64_t>(full<std::int64_t>({1}, i)); };
  const auto flat_rows = [](const Array<std::int64_t>& x) { return Array<std::int64_t>(x.reshape({-1})); };
  return {
      {"indices", [=](auto i, auto n, auto b) { return shuffled.shard(i, n, {.elastic = true}).batch(b); }},
      {"streamed", [=](auto i, auto n, auto b) { return streamed.shard(i, n, {.elastic = true}).batch(b); }},
      {"threads",
       [=](auto i, auto n, auto b) {
         return shuffled.shard(i, n, {.elastic = true})
             .map(same, {.threads = 3})
             .batch(b, {.threads = 2})
             .prefetch(3);
       }},
      {"threads without order",
       [=](auto i, auto n, auto b) { return unordered.shard(i, n, {.elastic = true}).batch(b).prefetch(2); }},
      {"padded",
       [=](auto i, auto n, auto b) {
         return streamed.shard(i, n, {.elastic = true}).map(alone).padded_batch(b).map(flat_rows);
       }},
      {"an epoch",
       [=](auto i, auto n, auto b) { return shuffled.shard(i, n, {.elastic = true}).batch(b).epoch(3); }},
  };
}

TEST(DataElastic, EachElementOnceForAnyNumberOfShards) {
  for (const auto& [name, pipeline] : pipelines())
    for (const std::int64_t before : {1, 2, 3, 7})
      for (const std::int64_t after : {1, 2, 5})
        for (const int steps : {0, 1, 4}) {
          SCOPED_TRACE(std::string(name) + " " + std::to_string(before) + " " + std::to_string(after) + " " +
                       std::to_string(steps));
          std::vector<Numbers> seen;
          const Position first = run(pipeline, before, 2, nullptr, steps, seen);
          EXPECT_EQ(first.count(), std::min(elements, before * 2 * steps));
          const Position second = run(pipeline, after, 3, &first, 2, seen);
          EXPECT_EQ(second.count(), std::min(elements, first.count() + after * 3 * 2));
          run(pipeline, 2, 5, &second, -1, seen);
          EXPECT_EQ(flat(seen), everything());
        }
}

// With a global batch of 12 the steps are the same ones.
TEST(DataElastic, StepsAreThoseOfOneProcess) {
  for (const auto& [name, pipeline] : pipelines()) {
    SCOPED_TRACE(name);
    std::vector<Numbers> alone, together;
    run(pipeline, 1, 12, nullptr, -1, alone);
    const Position a = run(pipeline, 4, 3, nullptr, 3, together);
    const Position b = run(pipeline, 2, 6, &a, 2, together);
    run(pipeline, 6, 2, &b, -1, together);
    EXPECT_EQ(together, alone);
  }
}

// Positions at the end, which some parts reach before others.
TEST(DataElastic, NothingComesAfterTheEnd) {
  const Pipeline pipeline = pipelines()[0].second;
  for (const std::int64_t count : {1, 3, 8}) {
    std::vector<Numbers> seen;
    const int steps = static_cast<int>((elements + 4 * count - 1) / (4 * count));
    Position position;
    for (std::int64_t index = 0; index < count; ++index) {
      auto it = pipeline(index, count, 4).iterator();
      for (int i = 0; i < steps; ++i) it.next();
      if (index == 0) position = it.state();  // which has handed out all of its batches
    }
    EXPECT_EQ(position.count(), elements);
    run(pipeline, 2, 4, &position, -1, seen);
    EXPECT_TRUE(flat(seen).empty());
  }
}

TEST(DataElastic, PositionsAreSavedAndBelongToTheirPipeline) {
  const auto shuffled = data::range(50).shuffle({.key = random::key(4)});
  const auto part = [&](std::int64_t i, std::int64_t n) { return shuffled.shard(i, n, {.elastic = true}); };
  auto it = part(1, 3).iterator();
  it.next(), it.next();
  const std::string path = ::testing::TempDir() + "nax_elastic.npz";
  io::save(path, it.state());
  Position position;
  io::load(path, position);
  EXPECT_EQ(position.count(), 6);
  EXPECT_EQ(part(0, 2).iterator(position).next(), shuffled.at(6));
  EXPECT_EQ(part(1, 2).iterator(position).next(), shuffled.at(7));
  EXPECT_EQ(part(0, 2).at(3), shuffled.at(6));
  EXPECT_THROW(shuffled.shard(0, 2).iterator(position), ValueError);
  EXPECT_THROW(data::range(51).shard(0, 2, {.elastic = true}).iterator(position), ValueError);
  EXPECT_THROW(part(0, 2).map([](std::int64_t i) { return 2.f * static_cast<float>(i); }).iterator(position),
               ValueError);
  // Positions of other shards are as they were: of this part alone.
  auto plain = shuffled.shard(1, 3).iterator();
  plain.next();
  EXPECT_EQ(plain.state().count(), 1);
}

TEST(DataElastic, StagesThatCannotCountAreRefused) {
  const auto part = data::range(50).shard(0, 2, {.elastic = true});
  const auto passes = [](std::int64_t) { return true; };
  const auto draw = [](const random::Key&, std::int64_t i) { return i; };
  const auto same = [](std::int64_t i) { return i; };
  for (const auto& dataset : {part.filter(passes), part.repeat(2), part.shuffle({.key = random::key(0)}),
                              part.take(9), part.cache(), part.map(draw, {.key = random::key(1)}),
                              part.map(same, {.threads = 2, .deterministic = false}),
                              part.shard(0, 2, {.elastic = true}), data::concatenate(part, part)})
    EXPECT_EQ(refusal([&] { dataset.iterator().next(); }).substr(0, 60),
              "shard: behind .elastic only map without a key, batch, padded");
  EXPECT_NO_THROW(data::range(50).repeat(2).filter(passes).shard(0, 2, {.elastic = true}).iterator());
}

}  // namespace elastic_test
