// Tables of comma-separated values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

namespace csv_test {
using namespace nax;
using io::Bytes;
using Fields = std::vector<std::string>;

const std::string golden = NAX_GOLDENS_DIR "/table.csv";

Bytes bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }
template <class T = float>
std::vector<std::vector<T>> rows(const std::string& text, const data::CsvOptions& options = {}) {
  std::vector<std::vector<T>> all;
  for (const Array<T>& row : data::from_csv<T>(bytes(text), "t.csv", options)) {
    all.emplace_back();
    for (const T value : row.to_vector()) all.back().push_back(value);
  }
  return all;
}
std::vector<Fields> texts(const std::string& text, const data::CsvOptions& options = {.header = false}) {
  return nax::testing::all_of(data::from_csv<std::string>(bytes(text), "t.csv", options));
}
template <class Kind = IoError>
void expect_error(const std::string& part, const auto& f) {
  std::string text = "no error";
  try {
    f();
  } catch (const Kind& error) {
    text = error.what();
  }
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DataCsv, GoldenAsText) {
  std::vector<Fields> all;
  for (const Fields& fields : data::from_csv<std::string>(golden)) all.push_back(fields);
  EXPECT_EQ(all, (std::vector<Fields>{{"1", "0.5", "a \"quoted\" one", "-3"},
                                      {"2", "1e-3", "two\r\nlines", "+4"},
                                      {"3", " nan ", "", "5"},
                                      {"4", "-inf", "comma, and\ttab", "0"}}));
}

struct Row {
  Array<std::int64_t> id;
  Array<float> x;
  Array<std::int8_t> y;
};

TEST(DataCsv, GoldenAsNumbers) {
  std::vector<double> seen;
  for (const Row& row : data::from_csv<Row>(golden)) {
    seen.push_back(static_cast<double>(row.id.item()));
    seen.push_back(row.x.item());
    seen.push_back(row.y.item());
  }
  ASSERT_EQ(seen.size(), 12u);
  EXPECT_TRUE(std::isnan(seen[7]));
  seen[7] = 0;
  EXPECT_EQ(seen, (std::vector<double>{1, .5, -3, 2, 1e-3f, 4, 3, 0, 5, 4, -INFINITY, 0}));
  const auto batches = data::from_csv(golden, {.columns = {"y", 0}}).batch(3);
  EXPECT_EQ((*batches.iterator().next()).shape(), (Shape{3, 2}));
  EXPECT_EQ((*batches.iterator().next())(1).to_vector(), (std::vector<float>{4, 2}));
  expect_error("has '0.5' where a number (int32) should be, in column 'x', in line 2",
               [] { data::from_csv<int>(golden, {.columns = {"x"}}); });
  expect_error(
      "has 'a \"quoted\" one' where a number (float32) should be, in column 'name, in full', in line 2",
      [] { data::from_csv(golden, {.columns = {2}, .missing = 0.}); });
}

TEST(DataCsv, HeadersColumnsAndDelimiters) {
  using V = std::vector<std::vector<float>>;
  EXPECT_EQ(rows("a,b\n1,2\n3,4\n"), (V{{1, 2}, {3, 4}}));
  EXPECT_EQ(rows("1;2\r\n\r\n3;4", {.header = false, .delimiter = ';'}), (V{{1, 2}, {3, 4}}));
  EXPECT_EQ(rows("1\t2\n", {.header = false, .columns = {1, 0, 1}, .delimiter = '\t'}), (V{{2, 1, 2}}));
  EXPECT_EQ(rows("a,b\n,\" 2 \"\n", {.missing = -1.}), (V{{-1, 2}}));
  EXPECT_EQ(rows("a,b\n"), V{});
  EXPECT_EQ(rows("", {.header = false}), V{});
  EXPECT_EQ(data::from_csv(bytes("a,b\n"), "t").size(), 0);
  EXPECT_EQ(rows<bool>("1,0\ntrue,False\n", {.header = false}),
            (std::vector<std::vector<bool>>{{true, false}, {true, false}}));
  EXPECT_EQ(rows<std::uint64_t>("18446744073709551615\n", {.header = false})[0][0], UINT64_MAX);
  EXPECT_EQ(rows<double>("1e400,-1e400,1e-400,0.1\n", {.header = false}),
            (std::vector<std::vector<double>>{{INFINITY, -INFINITY, 0, 0.1}}));
  // Trees without names take their columns in order, or those that are named.
  using Two = std::tuple<Array<int>, Array<double>>;
  for (const auto& [i, x] : data::from_csv<Two>(bytes("u,v\n7,.5\n"), "t"))
    EXPECT_EQ(i.item() * x.item(), 3.5);
  for (const auto& [i, x] : data::from_csv<Two>(bytes("u,v\n.5,7\n"), "t", {.columns = {"v", "u"}}))
    EXPECT_EQ(i.item() * x.item(), 3.5);
}

TEST(DataCsv, MissingWordsCommentsSkippedRowsAndDecimalCommas) {
  const auto same = [](const auto& got, const std::vector<std::vector<float>>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      for (std::size_t j = 0; j < want[i].size(); ++j)
        EXPECT_TRUE(got[i][j] == want[i][j] || (std::isnan(got[i][j]) && std::isnan(want[i][j]))) << i << j;
  };
  same(rows("a,b\nNA, null \n1,\"NA\"\n", {.na = {"NA", "null"}}), {{NAN, NAN}, {1, NAN}});
  same(rows("a,b\nNA,2\n", {.missing = -1., .na = {"NA"}}), {{-1, 2}});
  same(rows("a,b\n,2\n", {.na = {""}}), {{NAN, 2}});
  expect_error("has 'NA' where a number (int32)", [] { rows<int>("a\nNA\n", {.na = {"NA"}}); });
  EXPECT_EQ(rows<int>("a\nNA\n", {.missing = 7., .na = {"NA"}})[0][0], 7);
  expect_error("has '' where a number (float32)", [] { rows("a,b\n,2\n", {.na = {"NA"}}); });
  same(rows("# made by hand\na,b # names\n#1,2\n3,4#5\n\"6\",7 # \"8\n#", {.comment = '#'}),
       {{3, 4}, {6, 7}});
  EXPECT_EQ(texts("\"#a\",b#c\r#\rd,\"e\"#\r", {.header = false, .comment = '#'}),
            (std::vector<Fields>{{"#a", "b"}, {"d", "e"}}));
  same(rows("title, of \"it\r\n\r\na,b\r\n1,2", {.skiprows = 2}), {{1, 2}});
  expect_error("in line 4", [] { rows("x\ny\na\nq\n", {.skiprows = 2}); });
  expect_error("has no header", [] { rows("x\n", {.skiprows = 5}); });
  same(rows("a;b\n1,5;-2,25e1\n", {.delimiter = ';', .decimal = ','}), {{1.5, -22.5}});
  expect_error("has '1.5' where a number", [] { rows("a;b\n1.5;2\n", {.delimiter = ';', .decimal = ','}); });
  expect_error<ValueError>("another meaning", [] { rows("a\n", {.decimal = ','}); });
  expect_error<ValueError>("another meaning", [] { rows("a\n", {.delimiter = '#', .comment = '#'}); });
}

TEST(DataCsv, TablesHaveColumnsOfAnyTypes) {
  const std::string path = ::testing::TempDir() + "nax_table" + std::to_string(::getpid()) + ".csv";
  std::ofstream(path) << "species,width,count\nsetosa,1.5,3\n\"virginica, x\",NA,4\nsetosa,2,5000000000\n";
  const data::CsvTable table = data::read_csv(path, {.na = {"NA"}});
  EXPECT_EQ(table.names(), (Fields{"species", "width", "count"}));
  const Array<float> width = table.numbers<float>("width");
  EXPECT_EQ(width.shape(), (Shape{3}));
  EXPECT_EQ(width(0).item() + width(2).item(), 3.5f);
  EXPECT_TRUE(std::isnan(width(1).item()));
  EXPECT_EQ(table.numbers<std::int64_t>(2).to_vector(), (std::vector<std::int64_t>{3, 4, 5000000000}));
  EXPECT_EQ(table.text("species"), (Fields{"setosa", "virginica, x", "setosa"}));
  const auto [codes, names] = table.categories("species");
  EXPECT_EQ(codes.to_vector(), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(names, (Fields{"setosa", "virginica, x"}));
  int n = 0;
  for (const auto& [w, code] : data::from_arrays(std::tuple{width, codes})) n += code.item();
  EXPECT_EQ(n, 1);
  expect_error("has '5000000000' where a number (int32)", [&] { table.numbers<int>("count"); });
  expect_error("has no column 'length'", [&] { table.text("length"); });
  std::remove(path.c_str());
}

TEST(DataCsv, Quotes) {
  EXPECT_EQ(texts("\"\",\"a,b\"\n\"\"\"\",\"x\"\"y\"\"\"\nq\"q,\"\"\n"),
            (std::vector<Fields>{{"", "a,b"}, {"\"", "x\"y\""}, {"q\"q", ""}}));
  EXPECT_EQ(texts("\"a\nb\",\"c\"\"\n\"\"d\""), (std::vector<Fields>{{"a\nb", "c\"\n\"d"}}));
  EXPECT_EQ(texts("\"a\rb\",\n"), (std::vector<Fields>{{"a\rb", ""}}));
  EXPECT_EQ(texts("\"a\"\r\n"), (std::vector<Fields>{{"a"}}));
}

// As Python's csv reads them: old files end lines with a carriage return alone, some with several kinds.
TEST(DataCsv, LinesEndWithAnyOfThreeEnds) {
  EXPECT_EQ(texts("a,b\rc,d\r\re,f"), (std::vector<Fields>{{"a", "b"}, {"c", "d"}, {"e", "f"}}));
  EXPECT_EQ(texts("a\r\nb\rc\nd\r"), (std::vector<Fields>{{"a"}, {"b"}, {"c"}, {"d"}}));
  const auto numbers = rows("x,y\r1,2\r3,4\r");
  EXPECT_EQ(numbers.size(), 2);
  expect_error("has 'q' where a number (float32) should be, in column 'x', in line 3",
               [] { rows("x\r1\rq\r"); });
  expect_error("has 1 fields where the first line has 2, in line 2", [] { rows("1,2\r3\r"); });
}

TEST(DataCsv, ErrorsNameTheLine) {
  expect_error("from_csv: 't.csv' has 1 fields where the first line has 2, in line 4",
               [] { rows("a,b\n\n1,2\n3\n"); });
  expect_error("has '' where a number (float32) should be, in column 'b', in line 2",
               [] { rows("a,b\n1,\n"); });
  expect_error("has '1 2' where a number", [] { rows("1 2\n", {.header = false}); });
  expect_error("in column 0, in line 1", [] { rows("0x10\n", {.header = false}); });
  expect_error("has '300' where a number (uint8)", [] { rows<std::uint8_t>("300\n", {.header = false}); });
  expect_error("has '-1' where a number (uint8)", [] { rows<std::uint8_t>("-1\n", {.header = false}); });
  expect_error("has '+-1' where", [] { rows("+-1\n", {.header = false}); });
  expect_error("has '' where a number (int32)",
               [] { rows<int>("a,b\n1,\n", {.missing = std::numeric_limits<double>::quiet_NaN()}); });
  expect_error("has a quoted field without an end, in line 3", [] { rows("a\n1\n\"2\n3\n"); });
  expect_error("has text behind a quoted field, in line 2", [] { rows("a\n\"2\"3\n"); });
  // Lines within a field count.
  expect_error("in line 4", [] { rows("\"a\nb\"\n1\nx\n"); });
  expect_error("has no header", [] { rows(""); });
  expect_error("has no column 'c'", [] { rows("a,b\n1,2\n", {.columns = {"c"}}); });
  expect_error("has no column 2, only 2", [] { rows("a,b\n1,2\n", {.columns = {2}}); });
  expect_error("has two columns 'a'", [] { rows("a,a\n1,2\n", {.columns = {"a"}}); });
  expect_error(".header is false", [] { rows("a,a\n", {.header = false, .columns = {"a"}}); });
  expect_error("has no column 'y'", [] { data::from_csv<Row>(bytes("id,x\n1,2\n"), "t"); });
  expect_error<ValueError>(".columns has 1 columns for a tree of 3 arrays",
                           [] { data::from_csv<Row>(bytes("id,x\n1,2\n"), "t", {.columns = {0}}); });
  expect_error<ValueError>("another meaning", [] { rows("a\n", {.delimiter = '"'}); });
  expect_error("'/no/such' cannot be opened", [] { data::from_csv("/no/such"); });
}

}  // namespace csv_test
