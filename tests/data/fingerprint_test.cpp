// Fingerprints: a cache or a position of other data, options, keys or types is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "support/refusal.hpp"

namespace fingerprints {
using namespace nax;
using nax::testing::all_of;

std::string fresh(const std::string& name) {
  const std::string path = ::testing::TempDir() + "nax_print_" + std::to_string(::getpid()) + name;
  std::filesystem::remove_all(path);
  return path;
}
std::string text_file(const std::string& name, const std::string& text) {
  const std::string path = fresh(name);
  std::ofstream(path) << text;
  return path;
}
template <class E>
std::uint64_t print_of(const data::Dataset<E>& dataset) {
  return dataset.iterator().state().print();
}
std::vector<float> firsts(const data::Dataset<Array<float>>& rows) {
  std::vector<float> numbers;
  for (const auto& row : rows) numbers.push_back(row(0).item());
  return numbers;
}

TEST(DataFingerprint, CachesTellFilesOfEqualShapeApart) {
  const std::string train = fresh("train.npy"), test = fresh("test.npy"), folder = fresh("npy_cache");
  io::save(train, Array<float>(arange<float>(6).reshape({3, 2})));
  io::save(test, Array<float>(arange<float>(10, 16).reshape({3, 2})));
  EXPECT_EQ(firsts(data::from_npy<float>(train).cache(folder)), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(firsts(data::from_npy<float>(test).cache(folder)), (std::vector<float>{10, 12, 14}));
  // A file that was written anew is another one.
  io::save(train, Array<float>(arange<float>(20, 26).reshape({3, 2})));
  EXPECT_EQ(firsts(data::from_npy<float>(train).cache(folder)), (std::vector<float>{20, 22, 24}));
}

TEST(DataFingerprint, CachesTellSmallValuesApart) {
  const std::string folder = fresh("padded_cache");
  const auto rows = data::range(1, 3).map([](std::int64_t n) { return Array<float>(ones<float>({n})); });
  std::set<std::uint64_t> prints;
  for (const double value : {1e-7, 3e-7, -4e-7}) {
    for (const Array<float>& x : rows.padded_batch(2, {.value = value}).cache(folder))
      EXPECT_EQ(x(0, 1).item(), static_cast<float>(value));
    prints.insert(print_of(rows.pack(4, {.value = value})));
  }
  EXPECT_EQ(prints.size(), 3u);
}

TEST(DataFingerprint, CachesTellArraysAndTablesApart) {
  const std::string folder = fresh("arrays_cache");
  for (const float x : {1.f, 2.f})
    EXPECT_EQ(firsts(data::from_arrays(full<float>({2, 3}, x)).cache(folder)), (std::vector<float>{x, x}));
  const auto table = [](const std::string& text) {
    return data::from_csv<std::string>(io::Bytes(text.begin(), text.end()), "x.csv", {.header = false});
  };
  for (const char* text : {"a\n", "b\n"})
    EXPECT_EQ(all_of(table(text).cache(folder)), (std::vector<std::vector<std::string>>{{{text[0]}}}));
  const auto number = [](const std::string& text) {
    return data::from_csv<float>(io::Bytes(text.begin(), text.end()), "x.csv", {.header = false});
  };
  for (const float x : {3.f, 4.f})
    EXPECT_EQ(firsts(number(std::to_string(x)).cache(folder)), std::vector<float>{x});
}

TEST(DataFingerprint, CachesSeeRewrittenFiles) {
  const std::string folder = fresh("files_cache"), path = text_file("one", "abc");
  const auto text = [](const io::Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); };
  const auto read = [&] { return all_of(data::from_files({path}, text).cache(folder))[0]; };
  EXPECT_EQ(read(), "abc");
  std::ofstream(path) << "other";
  EXPECT_EQ(read(), "other");
  // A file of the same size, at another time.
  std::ofstream(path) << "third";
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(read(), "third");
}

TEST(DataFingerprint, CachesTellFunctionsKeysAndVersionsApart) {
  const std::string folder = fresh("functions_cache");
  const auto numbers = data::range(4);
  const auto twice = [](std::int64_t i) { return 2 * i; };
  const auto thrice = [](std::int64_t i) { return 3 * i; };
  EXPECT_EQ(all_of(numbers.map(twice).cache(folder))[1], 2);
  EXPECT_EQ(all_of(numbers.map(thrice).cache(folder))[1], 3);
  EXPECT_EQ(all_of(numbers.map(twice).cache(folder))[3], 6);
  const auto draw = [](const random::Key& key, std::int64_t) { return key.words().item(); };
  const auto with_key = [&](std::uint64_t seed) {
    return all_of(numbers.map(draw, {.key = random::key(seed)}).cache(folder));
  };
  EXPECT_NE(with_key(1), with_key(2));
  int factor = 5;  // which the function's type does not show
  const auto times = [&](std::int64_t i) { return factor * i; };
  const auto versioned = [&](const std::string& of_map, const std::string& of_cache) {
    return all_of(numbers.map(times, {.version = of_map}).cache(folder, {.version = of_cache}))[1];
  };
  EXPECT_EQ(versioned("1", "1"), 5);
  factor = 7;
  EXPECT_EQ(versioned("1", "1"), 5);
  EXPECT_EQ(versioned("2", "1"), 7);
  factor = 9;
  EXPECT_EQ(versioned("2", "2"), 9);
}

struct Counted {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  std::int64_t operator()(std::int64_t i) const { return ++*calls, i; }
};

TEST(DataFingerprint, PipelinesShareAFolderWithoutLosingHits) {
  const std::string folder = fresh("shared_cache");
  const Counted first, second;
  for (int turn = 0; turn < 2; ++turn)
    for (int shard = 0; shard < 2; ++shard) {
      const auto& counted = turn == 0 ? first : second;
      const auto part = data::range(10).map(counted).shard(shard, 2).cache(folder);
      EXPECT_EQ(all_of(part), (shard == 0 ? std::vector<std::int64_t>{0, 2, 4, 6, 8}
                                          : std::vector<std::int64_t>{1, 3, 5, 7, 9}));
    }
  EXPECT_EQ(*first.calls, 10);
  EXPECT_EQ(*second.calls, 0);
}

TEST(DataFingerprint, PositionsSeeFilesKeysOptionsAndTypes) {
  const std::string a = text_file("a", "12345"), b = text_file("b", "12345");
  const auto size = [](const io::Bytes& bytes) { return bytes.size(); };
  const auto of = [&](const std::string& path) { return print_of(data::from_files({path}, size)); };
  EXPECT_EQ(of(a), of(a));
  EXPECT_NE(of(a), of(b));
  const auto before = of(a);
  std::ofstream(a) << "123456";
  EXPECT_NE(of(a), before);
  const auto numbers = data::range(9);
  const auto draw = [](const random::Key& key, std::int64_t) { return key.words().item(); };
  EXPECT_NE(print_of(numbers.map(draw, {.key = random::key(1)})),
            print_of(numbers.map(draw, {.key = random::key(2)})));
  EXPECT_NE(print_of(numbers.map([](std::int64_t i) { return static_cast<float>(i); })),
            print_of(numbers.map([](std::int64_t i) { return static_cast<double>(i); })));
  EXPECT_NE(print_of(data::interleave(std::vector{numbers, numbers})),
            print_of(data::interleave(std::vector{numbers, numbers.skip(1)})));
  // Names are for messages, and a lambda's type name is not part of a position.
  const auto f = [](std::int64_t i) { return i; };
  const auto g = [](std::int64_t i) { return i; };
  EXPECT_EQ(print_of(numbers.map(f, {.name = "f"})), print_of(numbers.map(g, {.name = "g"})));
  EXPECT_NE(print_of(data::from_arrays(zeros<float>({2, 6}))),
            print_of(data::from_arrays(zeros<float>({2, 7}))));
}

TEST(DataFingerprint, ContentHashSeesEveryByte) {
  std::vector<unsigned char> bytes(75, 3);
  std::vector<std::uint64_t> seen;
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    seen.push_back(data::detail::content_hash(bytes.data(), size));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    seen.push_back(data::detail::content_hash(bytes.data(), bytes.size()));
    bytes[i] ^= 1;
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST(DataFingerprint, ContentsHashInPiecesAsAWhole) {
  std::vector<unsigned char> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37);
  const std::uint64_t whole = data::detail::content_hash(bytes.data(), bytes.size());
  data::detail::ContentHash pieces;
  pieces.add(bytes.data(), 64), pieces.add(bytes.data() + 64, 640), pieces.add(bytes.data() + 704, 296);
  EXPECT_EQ(pieces.finish(), whole);
  for (const std::size_t at : {0u, 63u, 64u, 999u}) {
    bytes[at] ^= 1;
    EXPECT_NE(data::detail::content_hash(bytes.data(), bytes.size()), whole) << at;
    bytes[at] ^= 1;
  }
  EXPECT_NE(data::detail::content_hash(bytes.data(), 999), whole);
}

}  // namespace fingerprints
