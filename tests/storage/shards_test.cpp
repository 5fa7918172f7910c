// Shards of a slow store, read concurrently, in order or in order of arrival.
#include <gtest/gtest.h>

#include "nax/data.hpp"
#include "storage/fixture.hpp"

namespace storage_shards {
using namespace nax;
using storage_tests::as_string;
using Clock = std::chrono::steady_clock;

class StorageShards : public storage_tests::Fixture {
 protected:
  StorageShards() {
    auto options = quick();
    options.part_bytes = 1 << 20;
    storage::configure(options);
    const auto file = [](const std::string& name) {
      return as_string(io::detail::read_file("test", std::string(NAX_GOLDENS_DIR "/") + name));
    };
    for (int i = 0; i < 16; ++i) {
      records.push_back("s3://bucket/" + std::to_string(i) + ".tfrecord");
      archives.push_back("s3://bucket/" + std::to_string(i) + ".tar");
      server.objects["/bucket/" + std::to_string(i) + ".tfrecord"] = file("examples.tfrecord");
      server.objects["/bucket/" + std::to_string(i) + ".tar"] = file("samples_gnu.tar");
    }
  }
  // The number of elements, and the seconds that it took to read them.
  template <class E>
  std::pair<std::size_t, double> walk(const data::Dataset<E>& dataset) {
    server.latency_ms = 50;
    const auto begin = Clock::now();
    std::size_t n = 0;
    for ([[maybe_unused]] const E& element : dataset) ++n;
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    server.latency_ms = 0;
    return {n, seconds.count()};
  }
  std::vector<std::string> records, archives;
};

// One after another they would take at least 0.8 s.
TEST_F(StorageShards, AreReadAheadOfTheirTurn) {
  const auto [examples, seconds] = walk(data::from_tfrecord(records, {.ahead = 16}));
  EXPECT_EQ(examples, walk(data::from_tfrecord(std::vector{records[0]})).first * 16);
  EXPECT_LT(seconds, 0.6);
  const auto [samples, more_seconds] = walk(data::from_tar(archives, {.ahead = 15}));
  EXPECT_EQ(samples, walk(data::from_tar(std::vector{archives[0]})).first * 16);
  EXPECT_LT(more_seconds, 0.6);
  EXPECT_THROW(data::from_tar(archives, {.ahead = -1}), ValueError);
}

TEST_F(StorageShards, AreReadAtOnceWhereTheyAreInterleaved) {
  const auto open = [](const std::string& path) { return data::from_tfrecord(path); };
  const auto paths = data::from_indexable(records);
  std::vector<io::Bytes> expected;
  for (const io::Bytes& record : paths.interleave(open)) expected.push_back(record);
  for (const bool deterministic : {true, false}) {
    const auto turns =
        paths.interleave(open, {.parallel = true, .ahead = 12, .deterministic = deterministic});
    const auto [examples, seconds] = walk(turns);
    EXPECT_EQ(examples, expected.size());
    EXPECT_LT(seconds, 0.6);
  }
  // Resuming in mid-epoch waits for the store once, not once a shard.
  const auto turns = paths.interleave(open, {.cycle_length = 16, .parallel = true});
  auto it = turns.iterator();
  for (int i = 0; i < 20; ++i) it.next();
  const auto position = it.state();
  server.latency_ms = 50;
  const auto begin = Clock::now();
  auto again = turns.iterator(position);
  EXPECT_EQ(again.next(), it.next());
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 0.6);
}

TEST_F(StorageShards, ErrorsOfShardsReadAheadComeAtTheirTurn) {
  server.objects.erase("/bucket/1.tfrecord");
  std::size_t n = 0;
  try {
    for ([[maybe_unused]] const auto& record : data::from_tfrecord(records, {.ahead = 16})) ++n;
    ADD_FAILURE() << "no error";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'s3://bucket/1.tfrecord': the server answers 404"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(n, walk(data::from_tfrecord(std::vector{records[0]})).first);
}

}  // namespace storage_shards
