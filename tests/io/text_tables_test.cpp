// Tables of text: numbers that a type does not hold, ends of lines, empty fields. Values are NumPy's.
#include "nax/io/text_tables.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>

#include "files.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/array_text.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "support/refusal.hpp"

namespace text_tables_test {
using files::expect_refused;
using namespace nax;

std::string table(const std::string& text) {
  const std::string path = files::path_of("text_table");
  files::write(path, {text.begin(), text.end()});
  return path;
}
template <class T = float>
std::vector<T> read(const std::string& text, const std::string& delimiter = "") {
  return loadtxt<T>(table(text), {.delimiter = delimiter}).to_vector();
}
template <class T>
std::string written(const Array<T>& x, const std::string& fmt) {
  const std::string path = files::path_of("text_table");
  savetxt(path, x, {.fmt = fmt});
  const auto bytes = files::read(path);
  return {bytes.begin(), bytes.end()};
}
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(TextTables, NumbersBeyondTheTypeAreRefused) {
  expect_refused([] { read<int>("1 3000000000"); },
                 "has '3000000000', which int32 does not hold, row 1, column 2");
  expect_refused([] { read<std::uint8_t>("-1"); }, "has '-1', which uint8 does not hold");
  expect_refused([] { read<std::uint8_t>("256"); }, "which uint8 does not hold");
  expect_refused([] { read<std::int8_t>("-129"); }, "which int8 does not hold");
  expect_refused([] { read<std::int64_t>("9223372036854775808"); }, "which int64 does not hold");
  expect_refused([] { read<std::int64_t>("-9223372036854775809"); }, "which int64 does not hold");
  expect_refused([] { read<std::uint64_t>("18446744073709551616"); }, "which uint64 does not hold");
  expect_refused([] { read<std::uint64_t>("99999999999999999999999"); }, "which uint64 does not hold");
  EXPECT_EQ(read<std::int64_t>("-9223372036854775808 9223372036854775807"),
            (std::vector<std::int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(read<std::uint64_t>("18446744073709551615 +7"), (std::vector<std::uint64_t>{UINT64_MAX, 7}));
  EXPECT_EQ(read<std::int8_t>("-128 127"), (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(read<bool>("2 0 -1"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(read<float>("1e39 -1e39 1e-50"), (std::vector<float>{INFINITY, -INFINITY, 0}));
  EXPECT_EQ(read<double>("inf -Infinity +1 .5 5. 1e5"),
            (std::vector<double>{INFINITY, -INFINITY, 1, .5, 5, 1e5}));
  EXPECT_EQ(float(read<half>("1.5 70000")[1]), INFINITY);
  EXPECT_EQ(read<float>("1.00000017881393432617187499"), std::vector<float>{1.00000011920928955078125f});
  for (const char* text : {"0x10", "nan(1)", "1_0", "+-1", "++1", "--1", "1e", "-", "+", "1,2", "e5", "1 \f"})
    expect_refused([&] { read<double>(text, ";"); }, "where a number should be, row 1, column 1");
  for (const char* text : {"0x10", "1e3", "1.", "- 1", "true"})
    expect_refused([&] { read<int>(text, ";"); }, "where a number should be, row 1, column 1");
}

// A locale whose numbers have a comma, while this lives.
struct WithCommas {
  WithCommas() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"})
      if (!is_there) is_there = std::setlocale(LC_NUMERIC, name) != nullptr;
  }
  ~WithCommas() { std::setlocale(LC_NUMERIC, "C"); }
  bool is_there = false;
};
TEST(TextTables, NumbersHaveAPointInEveryLocale) {
  const auto check = [] {
    EXPECT_EQ(read<float>("2.5 1.5e60 -1.5e60 100000.5e38 0.00001e43 1.5e-50"),
              (std::vector<float>{2.5, INFINITY, -INFINITY, INFINITY, 1e38f, 0}));
    EXPECT_EQ(read<double>("0.5e999999999999999999999 -100000.5e-400 -0.5e-99999999999999999999 0e999"),
              (std::vector<double>{INFINITY, 0, 0, 0}));
    EXPECT_TRUE(std::signbit(read<double>("-100000.5e-400")[0]));
    EXPECT_EQ(written(Array<double>{1.5, -2.25}, "a,b %8.3f,"), "a,b    1.500,\na,b   -2.250,\n");
    EXPECT_EQ(written(Array<float>{1.5}, "%.2e"), "1.50e+00\n");
    EXPECT_EQ(written(Array<double>{1e19}, "%#d"), "10000000000000000000.\n");
  };
  check();
  const WithCommas locale;
  if (!locale.is_there) GTEST_SKIP() << "no locale has a comma here";
  check();
}

TEST(TextTables, EmptyTablesHaveNumPysShapes) {
  const std::string empty = table("# x\n");
  EXPECT_EQ(loadtxt(empty).shape(), (Shape{0}));
  EXPECT_EQ(loadtxt(empty, {.ndmin = 1}).shape(), (Shape{0}));
  EXPECT_EQ(loadtxt(empty, {.ndmin = 2}).shape(), (Shape{0, 1}));
  EXPECT_EQ(loadtxt(empty, {.unpack = true, .ndmin = 2}).shape(), (Shape{1, 0}));
  EXPECT_EQ(loadtxt(empty, {.usecols = {1, 2}}).shape(), (Shape{0, 2}));
  EXPECT_EQ(genfromtxt(empty).shape(), (Shape{0}));
  EXPECT_EQ(written(zeros<float>({2, 0}), "%g"), "\n\n");
  EXPECT_EQ(written(zeros<float>({0, 3}), "%g"), "");
}

TEST(TextTables, HolesAreFilledWithWhatTheTypeHolds) {
  const auto holes = [](const char* text) { return table(text); };
  EXPECT_EQ(genfromtxt<int>(holes("1,,1.5,x"), {.delimiter = ","}).to_vector(),
            (std::vector<int>{1, -1, -1, -1}));
  expect_refused([&] { genfromtxt<int>(holes("1,3000000000"), {.delimiter = ","}); },
                 "has '3000000000', which int32 does not hold");
  expect_refused([&] { genfromtxt<std::uint8_t>(holes("1,,3"), {.delimiter = ","}); },
                 "has '' where a number should be");
  EXPECT_EQ(genfromtxt<std::uint8_t>(holes("1,,3"), {.delimiter = ",", .filling_values = 255}).to_vector(),
            (std::vector<std::uint8_t>{1, 255, 3}));
  EXPECT_EQ(genfromtxt<std::uint8_t>(holes("1 2")).to_vector(), (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(
      refusal([&] { genfromtxt<std::uint8_t>(holes("1,,3"), {.delimiter = ",", .filling_values = 256}); }),
      "genfromtxt: uint8 does not hold filling_values: 256.000000");
  EXPECT_EQ(refusal([&] { genfromtxt<int>(holes("1"), {.filling_values = nan}); }),
            "genfromtxt: int32 does not hold filling_values: nan");
}

TEST(TextTables, LinesEndWithAnyOfThreeEnds) {
  const std::vector<float> expected{1, 2, 3, 4, 5, 6};
  for (const char* text :
       {"1 2\r3 4\r5 6", "1 2\r3 4\r5 6\r", "1 2\r\n3 4\r\n5 6\r\n", "1 2\n\r3 4\r\r\n5 6\n"}) {
    const Array<float> x = loadtxt(table(text));
    EXPECT_EQ(x.shape(), (Shape{3, 2})) << text;
    EXPECT_EQ(x.to_vector(), expected) << text;
    EXPECT_EQ(genfromtxt(table(text)).to_vector(), expected) << text;
  }
  EXPECT_EQ(loadtxt(table("x\r\n1\r\n2"), {.skiprows = 1}).to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(loadtxt(table("# x\r1 # 2\r2\r")).to_vector(), (std::vector<float>{1, 2}));
}

TEST(TextTables, BlankDelimitersKeepEmptyFields) {
  const auto fields = [](const char* text, const char* delimiter) {
    std::vector<float> numbers =
        genfromtxt(table(text), {.delimiter = delimiter, .filling_values = -7}).to_vector();
    return numbers;
  };
  using V = std::vector<float>;
  EXPECT_EQ(fields("\t1\t", "\t"), (V{-7, 1, -7}));
  EXPECT_EQ(fields("\t\t", "\t"), (V{-7, -7, -7}));
  EXPECT_EQ(fields("1\t2\t\n\t3\t4\r\n\n", "\t"), (V{1, 2, -7, -7, 3, 4}));
  EXPECT_EQ(fields("1  2 ", " "), (V{1, -7, 2, -7}));
  EXPECT_EQ(fields(" 1 , , 2\t\n \n4,5,6", ","), (V{1, -7, 2, 4, 5, 6}));
  EXPECT_EQ(fields(",1,", ","), (V{-7, 1, -7}));
  EXPECT_EQ(fields("1::2::", "::"), (V{1, 2, -7}));
  EXPECT_EQ(fields("\t1\t# remark\n# \t", "\t"), (V{-7, 1, -7}));
  expect_refused([] { read("\t1\t2", "\t"); }, "has '' where a number should be, row 1, column 1");
  EXPECT_EQ(read("  1\t 2  \n"), (V{1, 2}));
}

TEST(TextTables, IntegersAreWrittenWhole) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(written(Array<std::int64_t>{INT64_MAX, INT64_MIN, odd}, "%d"),
            "9223372036854775807\n-9223372036854775808\n9007199254740993\n");
  EXPECT_EQ(written(Array<std::uint64_t>{UINT64_MAX, 5}, "%i"), "18446744073709551615\n5\n");
  EXPECT_EQ(written(Array<std::int64_t>{5, -5}, "<%+5d>"), "<   +5>\n<   -5>\n");
  EXPECT_EQ(written(Array<std::int64_t>{odd}, "%.18e"), "9.007199254740992000e+15\n");
  EXPECT_EQ(written(Array<bool>{true, false}, "%d"), "1\n0\n");
  EXPECT_EQ(written(Array<double>{1.5, -1.5, 1e19}, "%d"), "1\n-1\n10000000000000000000\n");
  for (const char* fmt : {"%d", "%i"}) {
    EXPECT_EQ(refusal([&] {
                written(Array<double>{1, nan}, fmt);
              }),
              std::string("savetxt: cannot convert float NaN to integer, fmt '") + fmt + "'");
    EXPECT_EQ(refusal([&] { written(Array<double>{-INFINITY}, fmt); }),
              std::string("savetxt: cannot convert float infinity to integer, fmt '") + fmt + "'");
  }
}

TEST(TextTables, FromstringChecksRanges) {
  EXPECT_EQ(refusal([] { fromstring<int>("1 3000000000", {.sep = " "}); }),
            "fromstring: int32 does not hold '3000000000'");
  EXPECT_EQ(refusal([] { fromstring<std::uint8_t>("1,-1", {.sep = ","}); }),
            "fromstring: uint8 does not hold '-1'");
  EXPECT_EQ(fromstring<std::uint64_t>("18446744073709551615", {.sep = " "}).to_vector()[0], UINT64_MAX);
  EXPECT_EQ(fromstring<double>("inf +1.5,-2e400", {.count = 2, .sep = " "}).to_vector(),
            (std::vector<double>{INFINITY, 1.5}));
  EXPECT_EQ(fromstring<bool>("2 0 1", {.sep = " "}).to_vector(), (std::vector<bool>{true, false, true}));
  EXPECT_NE(refusal([] { fromstring<double>("0x10", {.sep = " "}); }).find("unmatched data: 'x10'"),
            std::string::npos);
}

}  // namespace text_tables_test
