// .npy files as datasets: every form that NumPy writes, mapped; the access pattern that the system is told.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <sstream>

#include "data/elements.hpp"
#include "nax/core/allocator.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "support/refusal.hpp"

namespace npy_test {
using namespace nax;

std::string file(const std::string& name) {
  return ::testing::TempDir() + "nax_npy_" + std::to_string(::getpid()) + name;
}

// Writes rows of `shape` in this order of bytes ('<' or '>') and of elements, behind a header whose length
// leaves the elements at an odd offset where so said.
template <class T>
void write(const std::string& path, const std::vector<T>& elements, const Shape& shape, char bytes,
           bool fortran, bool odd) {
  std::string descr = io::detail::npy_descr(dtype_of<T>);
  if (descr[0] == '<') descr[0] = bytes;
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + to_string(shape) + ", }";
  while ((10 + header.size() + 1) % 64 != (odd ? 1u : 0u)) header += ' ';
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  text += header;
  std::vector<T> in_order = elements;
  if (fortran) {  // the first index changes fastest
    std::vector<std::int64_t> index(shape.size(), 0);
    for (T& x : in_order) {
      std::size_t place = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        place = place * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(index[axis]);
      x = elements[place];
      for (std::size_t axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; ++axis) index[axis] = 0;
    }
  }
  for (const T x : in_order) {
    char one[sizeof(T)];
    std::memcpy(one, &x, sizeof(T));
    if (bytes == '>') {
      if constexpr (is_complex_v<T>)
        std::reverse(one, one + sizeof(T) / 2), std::reverse(one + sizeof(T) / 2, one + sizeof(T));
      else
        std::reverse(one, one + sizeof(T));
    }
    text.append(one, sizeof(T));
  }
  std::ofstream(path, std::ios::binary) << text;
}

template <class T>
void expect_all_forms() {
  SCOPED_TRACE(dtype_name(dtype_of<T>));
  const std::string path = file("forms.npy");
  for (const Shape& shape : {Shape{7}, Shape{7, 3}, Shape{5, 2, 3, 4}})
    for (const char bytes : {'<', '>'})
      for (const bool fortran : {false, true})
        for (const bool odd : {false, true}) {
          std::vector<T> elements(static_cast<std::size_t>(
              std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
          for (std::size_t i = 0; i < elements.size(); ++i)
            elements[i] = static_cast<T>(static_cast<float>(i + 3));
          SCOPED_TRACE(std::string(1, bytes) + (fortran ? " fortran " : " ") + (odd ? "odd " : "") +
                       to_string(shape));
          write(path, elements, shape, bytes, fortran, odd);
          const auto rows = data::from_npy<T>(path);
          const std::size_t width = elements.size() / static_cast<std::size_t>(shape[0]);
          const auto row = [&](std::size_t i) {
            return std::vector<T>(elements.begin() + static_cast<std::ptrdiff_t>(i * width),
                                  elements.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
          };
          ASSERT_EQ(rows.size(), shape[0]);
          std::size_t i = 0;
          for (const Array<T>& x : rows) EXPECT_EQ(x.to_vector(), row(i++));
          EXPECT_EQ(Array<T>(rows.at(2) + T(0)).to_vector(), row(2));  // computed with, where it lies
          std::vector<T> batched;
          for (const Array<T>& batch : rows.batch(2))
            for (const T x : batch.to_vector()) batched.push_back(x);
          EXPECT_EQ(batched, elements);
          // In random order, one by one and gathered.
          const auto numbered = data::zip(rows, data::range(shape[0])).shuffle({.key = random::key(1)});
          for (const auto& [x, at] : numbered) EXPECT_EQ(x.to_vector(), row(static_cast<std::size_t>(at)));
          const auto order = data::range(shape[0]).shuffle({.key = random::key(1)}).batch(3);
          auto numbers = order.iterator();
          for (const Array<T>& batch : rows.shuffle({.key = random::key(1)}).batch(3)) {
            std::vector<T> expected;
            for (const std::int64_t at : numbers.next()->to_vector())
              for (const T x : row(static_cast<std::size_t>(at))) expected.push_back(x);
            EXPECT_EQ(batch.to_vector(), expected);
          }
        }
}

TEST(DataNpy, EveryForm) {
  expect_all_forms<std::uint8_t>();
  expect_all_forms<std::int16_t>();
  expect_all_forms<float>();
  expect_all_forms<std::int64_t>();
  expect_all_forms<double>();
  expect_all_forms<std::complex<float>>();
  expect_all_forms<std::complex<double>>();
}

TEST(DataNpy, BoolsAreZerosAndOnes) {
  const std::string path = file("bools.npy");
  write(path, std::vector<std::uint8_t>{0, 7, 1, 255, 0, 2}, {3, 2}, '<', false, false);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(8 + 2 + 11).write("|b1", 3);
  std::vector<int> seen;
  for (const Array<bool>& row : data::from_npy<bool>(path))
    for (std::int64_t i = 0; i < 2; ++i)
      seen.push_back(*reinterpret_cast<const char*>(detail::raw_data(row) + i));
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 1, 1, 0, 1}));
}

TEST(DataNpy, NoFormIsReadAsAWhole) {
  std::vector<float> elements(1'000'000);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  for (const auto& [bytes, fortran] : {std::pair{'>', false}, std::pair{'<', true}, std::pair{'>', true}}) {
    const std::string path = file("large.npy");
    write(path, elements, {1000, 1000}, bytes, fortran, false);
    const std::size_t before = memory_stats().in_use;
    const auto rows = data::from_npy<float>(path);
    const Array<float> row = rows.at(700), batch = *rows.skip(900).batch(10).iterator().next();
    EXPECT_LT(memory_stats().in_use, before + 500'000);
    EXPECT_EQ(row(3).item(), 700'003.f);
    EXPECT_EQ(batch(2, 4).item(), 902'004.f);
  }
}

// Kilobytes in memory of the mappings of a file: those read ahead, and those told that order is random.
std::pair<long, long> resident(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  std::pair<long, long> all{0, 0};
  long kilobytes = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.find('-') != std::string::npos && first.back() != ':') {
      inside = line.find(path) != std::string::npos;
    } else if (inside && first == "Rss:") {
      words >> kilobytes;
    } else if (inside && first == "VmFlags:") {
      (line.find(" rr") != std::string::npos ? all.second : all.first) += kilobytes;
    }
  }
  return all;
}

TEST(DataNpy, ShufflesReadNothingAhead) {
  const std::string path = file("order.npy");
  write(path, std::vector<float>(1 << 20), {1 << 10, 1 << 10}, '<', false, false);
  const auto rows = data::from_npy<float>(path);
  EXPECT_EQ(resident(path), (std::pair<long, long>{0, 0}));
  const auto walk = [](const auto& dataset) {
    for (const auto& batch : dataset) EXPECT_EQ(batch.shape(1), 1 << 10);
  };
  walk(rows.shuffle({.key = random::key(0)}).batch(32));
  EXPECT_EQ(resident(path).first, 0);
  EXPECT_GE(resident(path).second, 4096);
  walk(rows.shuffle({.key = random::key(0)}).map([](const Array<float>& x) { return x; }).batch(32));
  walk(data::from_npy<float>(path).skip(3).shuffle({.key = random::key(0)}).take(9).batch(2).prefetch(1));
  EXPECT_EQ(resident(path).first, 0);
  walk(rows.batch(32));
  EXPECT_GE(resident(path).first, 4096);
}

TEST(DataNpy, PositionsAndRefusals) {
  const std::string path = file("position.npy");
  write(path, std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}, {3, 2}, '>', true, false);
  const auto rows = data::from_npy<std::int16_t>(path).shuffle({.key = random::key(3)});
  auto it = rows.iterator();
  it.next();
  const auto position = it.state();
  const auto expected = it.next()->to_vector();
  EXPECT_EQ(rows.iterator(position).next()->to_vector(), expected);
  write(path, std::vector<std::int16_t>{1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}, '>', true, false);
  EXPECT_THROW(data::from_npy<std::int16_t>(path).shuffle({.key = random::key(3)}).iterator(position),
               ValueError);
  write(path, std::vector<std::int16_t>{1}, {}, '<', false, false);
  EXPECT_EQ(refusal<ValueError>([&] { data::from_npy<std::int16_t>(path); }),
            "from_npy: an array without axes has no rows");
  write(path, std::vector<std::int16_t>{}, {0, 2}, '>', true, false);
  EXPECT_EQ(data::from_npy<std::int16_t>(path).size(), 0);
  for ([[maybe_unused]] const auto& row : data::from_npy<std::int16_t>(path).batch(2)) ADD_FAILURE();
  write(path, std::vector<std::int16_t>{}, {2, 0}, '<', false, false);
  EXPECT_EQ(data::from_npy<std::int16_t>(path).batch(2).at(0).shape(), (Shape{2, 0}));
}

}  // namespace npy_test
