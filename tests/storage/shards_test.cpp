// Shards of a slow store, read concurrently, in order or in order of arrival.
#include <gtest/gtest.h>

#include "nax/data.hpp"
#include "storage/fixture.hpp"

namespace storage_shards {
using namespace nax;
using storage_tests::as_string;

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
  template <class E>
  static std::size_t count(const data::Dataset<E>& dataset) {
    std::size_t n = 0;
    for ([[maybe_unused]] const E& element : dataset) ++n;
    return n;
  }
  // The number of elements; at least 12 shards are asked for at once.
  template <class E>
  std::size_t count_at_once(const data::Dataset<E>& dataset) {
    server.gather = 12;
    const std::size_t n = count(dataset);
    EXPECT_GE(server.most_gathered(), 12);
    server.gather = 0;
    return n;
  }
  std::vector<std::string> records, archives;
};

TEST_F(StorageShards, AreReadAheadOfTheirTurn) {
  EXPECT_EQ(count_at_once(data::from_tfrecord(records, {.ahead = 16})),
            count(data::from_tfrecord(std::vector{records[0]})) * 16);
  EXPECT_EQ(count_at_once(data::from_tar(archives, {.ahead = 15})),
            count(data::from_tar(std::vector{archives[0]})) * 16);
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
    EXPECT_EQ(count_at_once(turns), expected.size());
  }
  // Resuming in mid-epoch waits for the store once, not once a shard.
  const auto turns = paths.interleave(open, {.cycle_length = 16, .parallel = true});
  auto it = turns.iterator();
  for (int i = 0; i < 20; ++i) it.next();
  const auto position = it.state();
  server.gather = 12;
  auto again = turns.iterator(position);
  EXPECT_EQ(again.next(), it.next());
  EXPECT_GE(server.most_gathered(), 12);
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
  EXPECT_EQ(n, count(data::from_tfrecord(std::vector{records[0]})));
}

// One may be allowed to read objects, and not to list them.
TEST_F(StorageShards, VersionsAreAskedForOneByOneWhereListsAreForbidden) {
  const auto print = [&] {
    return data::from_tfrecord(records, {.index = false}).iterator().state().print();
  };
  for (const std::string& address : records) server.etags[address.substr(4)] = "a";
  server.other = [](const Loopback::Request& request) -> std::optional<std::string> {
    if (request.query.find("list-type=2") == std::string::npos) return std::nullopt;
    return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
  };
  const std::uint64_t first = print();
  EXPECT_EQ(print(), first);
  server.etags["/bucket/3.tfrecord"] = "b";
  EXPECT_NE(print(), first);
}

}  // namespace storage_shards
