// Datasets out of NumPy's and MNIST's files.
#include <gtest/gtest.h>

#include <filesystem>

#include "data/elements.hpp"
#include "nax/core/allocator.hpp"
#include "nax/modules/data/idx.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "support/refusal.hpp"

namespace files_test {
using namespace nax;

std::string file(const char* name) { return ::testing::TempDir() + "nax_data_" + name; }
void write(const std::string& path, const std::string& bytes) {
  io::detail::NewFile out("test", path);
  out.write(bytes.data(), bytes.size());
  out.commit();
}

TEST(DataFiles, NpyIsMappedNotRead) {
  const std::string path = file("rows.npy");
  io::save(path, Array<float>(arange<float>(3'000'000).reshape({1000, 3000})));
  const std::size_t before = memory_stats().in_use;
  const auto rows = data::from_npy<float>(path);
  EXPECT_EQ(rows.size(), 1000);
  EXPECT_LT(memory_stats().in_use, before + 1'000'000);
  int i = 0;
  for (const auto& batch : rows.batch(300))
    EXPECT_EQ(batch(0, 7).item(), static_cast<float>(300 * i++ * 3000 + 7));
  EXPECT_EQ(i, 4);
  // Writing to an element copies it; the file stays unchanged.
  auto it = rows.iterator();
  Array<float> first = *it.next();
  first = first.at(0).set(5.f);
  EXPECT_EQ((*rows.iterator().next())(0).item(), 0.f);
  EXPECT_EQ(data::from_npy<float>(path).shuffle({.key = random::key(0)}).batch(10).size(), 100);
}

TEST(DataFiles, NpyOfOtherForms) {
  const std::string header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() + 1);
  bytes += '\0';
  bytes += header + "\n";
  for (char i = 0; i < 6; ++i) bytes += std::string{'\0', i};
  write(file("fortran.npy"), bytes);
  std::vector<std::int16_t> values;
  for (const auto& row : data::from_npy<std::int16_t>(file("fortran.npy")))
    for (const std::int16_t x : row.to_vector()) values.push_back(x);
  EXPECT_EQ(values, (std::vector<std::int16_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_NE(refusal<IoError>([] { data::from_npy<float>(file("fortran.npy")); }).find("has dtype '>i2'"),
            std::string::npos);
  write(file("cut.npy"), bytes.substr(0, bytes.size() - 1));
  EXPECT_NE(refusal<IoError>([] { data::from_npy<std::int16_t>(file("cut.npy")); }).find("is truncated"),
            std::string::npos);
  EXPECT_NE(
      refusal<IoError>([] { data::from_npy<float>("/no/such.npy"); }).find("'/no/such.npy' cannot be opened"),
      std::string::npos);
}

struct Pair {
  Array<float> x;
  Array<int> y;
};

TEST(DataFiles, NpzByTree) {
  io::save(file("pair.npz"), Pair{Array<float>(arange<float>(6).reshape({3, 2})), arange<int>(3)});
  int i = 0;
  for (const Pair& pair : data::from_npz<Pair>(file("pair.npz"))) {
    EXPECT_EQ(pair.x(1).item(), static_cast<float>(2 * i + 1));
    EXPECT_EQ(pair.y.item(), i++);
  }
  EXPECT_EQ(i, 3);
}

// A table with a column of text.
struct Table {
  Pair pair;
  Array<float> z;
  tree::Static<std::string> text = std::string("day");
};

TEST(DataFiles, NpzPassesOverOtherColumns) {
  io::save(file("table.npz"), Table{{ones<float>({3, 2}), arange<int>(3)}, ones<float>({4})});
  struct Part {
    Pair pair;
  };
  EXPECT_EQ(data::from_npz<Part>(file("table.npz"), {.skip = {"text", "z"}}).size(), 3);
  EXPECT_EQ(data::from_npz<Part>(file("table.npz"), {.columns = {"pair.x", "pair.y"}}).size(), 3);
  const auto refused = [](const data::FromNpzOptions& options) {
    return refusal<IoError>([&] { data::from_npz<Part>(file("table.npz"), options); });
  };
  const std::string name = "load: '" + file("table.npz") + "' ";
  EXPECT_EQ(refused({.skip = {"text"}}), name + "has z, which the tree has not");
  EXPECT_EQ(refused({.skip = {"day"}}), name + "has no array named day");
  EXPECT_EQ(refused({.columns = {"pair.x"}}), name + "has no array named pair.y");
}

TEST(DataFiles, Idx) {
  write(file("images"), std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12) + "abcdef");
  write(file("labels"), std::string("\0\0\x08\x01\0\0\0\x02", 8) + "xy");
  std::string seen;
  for (auto [image, label] : data::from_idx(file("images"), file("labels"))) {
    for (const std::uint8_t c : image.to_vector()) seen += static_cast<char>(c);
    seen += static_cast<char>(label.item());
  }
  EXPECT_EQ(seen, "abcxdefy");
  EXPECT_EQ(data::from_idx(file("images")).size(), 2);
}

}  // namespace files_test
