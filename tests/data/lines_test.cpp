// Lines of text and records of one length.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/elements.hpp"
#include "support/refusal.hpp"

namespace data_lines {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using Texts = std::vector<std::string>;

std::string file(const std::string& name, const std::string& content) {
  const std::string path = ::testing::TempDir() + "nax_lines_" + std::to_string(::getpid()) + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(DataLines, OfSeveralFilesWithAndWithoutIndices) {
  const std::string longest(10'000, 'x');
  const Texts paths = {file("a", "one\ntwo\r\n\nfour"), file("empty", ""), file("b", longest + "\n\n")};
  const Texts expected = {"one", "two", "", "four", longest, ""};
  for (const bool index : {true, false}) {
    const auto lines = data::from_lines(paths, {.index = index});
    EXPECT_EQ(all_of(lines), expected);
    EXPECT_EQ(lines.size().has_value(), index);
    auto it = lines.iterator();
    for (std::size_t k = 0; k <= expected.size(); ++k, it.next())
      EXPECT_EQ(rest_of(lines.iterator(it.state())),
                Texts(expected.begin() + static_cast<std::ptrdiff_t>(k), expected.end()));
    // In a pipeline's threads.
    const auto length = [](const std::string& line) { return static_cast<std::int64_t>(line.size()); };
    EXPECT_EQ(all_of(lines.map(length, {.threads = 3}).prefetch(2)),
              (std::vector<std::int64_t>{3, 3, 0, 4, 10'000, 0}));
  }
  EXPECT_EQ(data::from_lines(paths[0]).at(1), "two");
  EXPECT_NE(refusal<IoError>([] { data::from_lines("/no/such"); }).find("from_lines: '/no/such' cannot be"),
            std::string::npos);
}

TEST(DataLines, ManyLinesOfEveryLength) {
  std::string text;
  Texts expected;
  for (std::size_t i = 0; i < 3000; ++i) {
    expected.push_back(std::string(i * 37 % 600, static_cast<char>('a' + i % 26)));
    text += expected.back() + (i % 3 ? "\n" : "\r\n");
  }
  const std::string path = file("many", text);
  EXPECT_EQ(all_of(data::from_lines(path)), expected);
  EXPECT_EQ(all_of(data::from_lines(path, {.index = false})), expected);
}

TEST(DataLines, RecordsOfOneLength) {
  const Texts paths = {file("r1", "hhAAABBBf"), file("r2", "hhf"), file("r3", "hhCCCf")};
  const auto text = [](const io::Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); };
  for (const bool index : {true, false}) {
    const auto records =
        data::from_fixed_length(paths, 3, {.header_bytes = 2, .footer_bytes = 1, .index = index}).map(text);
    EXPECT_EQ(all_of(records), (Texts{"AAA", "BBB", "CCC"}));
    EXPECT_EQ(all_of(records.skip(1)), (Texts{"BBB", "CCC"}));
  }
  EXPECT_NE(refusal<IoError>([&] {
              data::from_fixed_length(paths[0], 4, {.header_bytes = 2});
            }).find("has 9 bytes, which are no records of 4 behind a header of 2 and before a footer of 0"),
            std::string::npos);
  EXPECT_THROW(data::from_fixed_length(paths[0], 0), ValueError);
  EXPECT_THROW(data::from_fixed_length(paths[0], 3, {.header_bytes = -1}), ValueError);
  EXPECT_THROW(data::from_fixed_length(paths[1], 3, {.header_bytes = 9}), IoError);
  // Another header is another dataset.
  const std::string folder = ::testing::TempDir() + "nax_lines_cache" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  const auto first = [&](std::int64_t head) {
    const data::RecordsOptions options{.header_bytes = head, .footer_bytes = 3 - head};
    return text(data::from_fixed_length(paths[0], 3, options).cache(folder).at(0));
  };
  EXPECT_EQ(first(2), "AAA");
  EXPECT_EQ(first(3), "AAB");
}

}  // namespace data_lines
