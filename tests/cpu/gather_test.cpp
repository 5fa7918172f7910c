#include "nax/backend/cpu/maps/gather.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "support/with_threads.hpp"

// Rows read by indices, at every length with a copy loop of its own: one element, less than a step, whole
// steps and a remainder. Also indices out of range, one data row for each index, and results with gaps
// between rows.

namespace {

using namespace nax::cpu;

template <class T>
void check(std::int64_t rows, std::int64_t length, std::int64_t gap, bool batched) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << length << " x " << sizeof(T) << " bytes, gap "
                                  << gap << ", batched " << batched);
  constexpr std::int64_t places = 23;
  const std::int64_t from_size = (batched ? rows : 1) * places * length, to_row = length + gap,
                     to_size = (rows - 1) * to_row + length;
  const std::unique_ptr<T[]> from(new T[static_cast<std::size_t>(from_size)]),
      to(new T[static_cast<std::size_t>(to_size)]);
  for (std::int64_t i = 0; i < from_size; ++i) from[i] = static_cast<T>(i % 101 + 1);
  for (std::int64_t i = 0; i < to_size; ++i) to[i] = static_cast<T>(99);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < indices.size(); ++i)
    indices[i] = i % 5 == 3 ? dropped_index : static_cast<std::int64_t>(i) * 7 % places;

  constexpr nax::DType type = nax::dtype_of<T>;
  SelectLoop loop;
  const auto dims = [](std::int64_t a, std::int64_t b) {
    nax::Dims d(2, a);
    d[1] = b;
    return d;
  };
  loop.shape = dims(rows, length);
  loop.values() = {reinterpret_cast<char*>(to.get()), dims(to_row, 1), type, type};
  loop.data() = {reinterpret_cast<char*>(from.get()), dims(batched ? places * length : 0, 1), type, type};
  loop.indices() = {reinterpret_cast<char*>(indices.data()), dims(1, 0), nax::DType::int64,
                    nax::DType::int64};
  loop.scale = length;
  gather(loop, sizeof(T));
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t index = indices[static_cast<std::size_t>(r)];
    for (std::int64_t i = 0; i < to_row && r * to_row + i < to_size; ++i) {
      T want = static_cast<T>(99);
      if (i < length)
        want = index == dropped_index ? T(0) : from[(batched ? r * places * length : 0) + index * length + i];
      ASSERT_EQ(to[r * to_row + i], want) << r << " " << i;
    }
  }
}

template <class T>
class GatherRows : public testing::Test {};
using Types = testing::Types<std::int8_t, std::int16_t, float, double>;
TYPED_TEST_SUITE(GatherRows, Types);

TYPED_TEST(GatherRows, EveryLength) {
  for (std::int64_t length = 1; length <= 70; ++length)
    for (const std::int64_t rows : {1, 2, 40}) {
      check<TypeParam>(rows, length, 0, false);
      check<TypeParam>(rows, length, 0, true);
      check<TypeParam>(rows, length, 2, false);
    }
  for (const std::int64_t length : {127, 128, 129, 255, 256, 257, 300})
    check<TypeParam>(10, length, 0, false);
}

TYPED_TEST(GatherRows, SingleElements) {
  constexpr nax::DType type = nax::dtype_of<TypeParam>;
  for (const std::int64_t n : {1, 7, 8, 9, 16, 100, 1003}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<TypeParam> from(size), to(size);
    std::vector<std::int64_t> indices(size);
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<TypeParam>(i % 101 + 1);
    for (std::size_t i = 0; i < size; ++i) indices[i] = static_cast<std::int64_t>(i * 7919 % size);
    indices[size / 2] = dropped_index;
    SelectLoop loop;
    loop.shape = nax::Dims(1, n);
    loop.values() = {reinterpret_cast<char*>(to.data()), nax::Dims(1, 1), type, type};
    loop.data() = {reinterpret_cast<char*>(from.data()), nax::Dims(1, 0), type, type};
    loop.indices() = {reinterpret_cast<char*>(indices.data()), nax::Dims(1, 1), nax::DType::int64,
                      nax::DType::int64};
    loop.scale = 1;
    gather(loop, sizeof(TypeParam));
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(to[i], i == size / 2 ? TypeParam(0) : from[static_cast<std::size_t>(indices[i])])
          << n << " " << i;
  }
}

TYPED_TEST(GatherRows, Threads) {
  for (const int count : {1, 2, 3}) {
    const WithThreads threads(count);
    check<TypeParam>(9'001, 11, 0, false);
  }
}

}  // namespace
