#include "nax/backend/cpu/maps/transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "nax/core/allocator.hpp"
#include "support/with_threads.hpp"

namespace {

using Index = std::vector<std::int64_t>;

// Copies with the library and element by element, and compares whole buffers.
template <class T>
void check(const Index& shape, const Index& to_strides, const Index& from_strides) {
  std::int64_t size = 1, low_to = 0, high_to = 0, low_from = 0, high_from = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    size *= shape[d];
    const auto widen = [n = shape[d] - 1](std::int64_t stride, std::int64_t& low, std::int64_t& high) {
      (stride < 0 ? low : high) += n * stride;
    };
    if (shape[d] > 0) {
      widen(to_strides[d], low_to, high_to);
      widen(from_strides[d], low_from, high_from);
    }
  }
  std::vector<T> to(static_cast<std::size_t>(high_to - low_to + 1), T(99)), want = to;
  std::vector<T> from(static_cast<std::size_t>(high_from - low_from + 1));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(static_cast<float>(i % 101));
  for (std::int64_t i = 0; i < size; ++i) {
    std::int64_t rest = i, to_offset = -low_to, from_offset = -low_from;
    for (std::size_t d = shape.size(); d-- > 0;) {
      to_offset += rest % shape[d] * to_strides[d];
      from_offset += rest % shape[d] * from_strides[d];
      rest /= shape[d];
    }
    want[static_cast<std::size_t>(to_offset)] = from[static_cast<std::size_t>(from_offset)];
  }
  nax::cpu::strided_copy<T>(static_cast<int>(shape.size()), shape.data(), to.data() - low_to,
                            to_strides.data(), from.data() - low_from, from_strides.data());
  EXPECT_EQ(to, want) << testing::PrintToString(shape) << testing::PrintToString(to_strides)
                      << testing::PrintToString(from_strides);
}

Index row_major(const Index& shape) {
  Index strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

// The source holds the axes in another order, some of them backward.
template <class T>
void check_permuted(const Index& shape, unsigned backward) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    Index stored;
    for (auto d : order) stored.push_back(shape[d]);
    const Index strides = row_major(stored);
    Index from(shape.size());
    for (std::size_t d = 0; d < order.size(); ++d)
      from[order[d]] = (backward >> d) & 1 ? -strides[d] : strides[d];
    check<T>(shape, row_major(shape), from);
    check<T>(shape, from, row_major(shape));
  } while (std::next_permutation(order.begin(), order.end()));
}

template <class T>
class StridedCopy : public testing::Test {};
using Types = testing::Types<std::int8_t, std::int16_t, float, double, std::complex<double>>;
TYPED_TEST_SUITE(StridedCopy, Types);

TYPED_TEST(StridedCopy, PermutedAxes) {
  for (unsigned backward : {0u, 1u, 6u, 15u}) {
    check_permuted<TypeParam>({5, 7}, backward);
    check_permuted<TypeParam>({70, 90}, backward);
    check_permuted<TypeParam>({3, 20, 33}, backward);
    check_permuted<TypeParam>({2, 3, 4, 5}, backward);
    check_permuted<TypeParam>({1, 17, 1, 6}, backward);
  }
}
TYPED_TEST(StridedCopy, RepeatsSlicesAndNothing) {
  check<TypeParam>({}, {}, {});
  check<TypeParam>({0}, {1}, {1});
  check<TypeParam>({4, 0, 3}, {0, 3, 1}, {9, 3, 1});
  check<TypeParam>({6, 5}, {5, 1}, {0, 1});
  check<TypeParam>({6, 5}, {5, 1}, {1, 0});
  check<TypeParam>({6, 5}, {5, 1}, {0, 0});
  check<TypeParam>({40, 50}, {50, 1}, {300, 3});
  check<TypeParam>({40, 50}, {400, 2}, {1, 40});
}
TYPED_TEST(StridedCopy, ThreadsShareLargeCopies) {
  const WithThreads threads(3);
  check<TypeParam>({700, 900}, {900, 1}, {1, 700});
  check<TypeParam>({700, 900}, {900, 1}, {900, 1});
  check<TypeParam>({3, 300, 500}, {150000, 500, 1}, {500, 1500, 1});
  check<TypeParam>({9, 200, 300}, {60000, 300, 1}, {1, 9, 1800});
  check<TypeParam>({9, 200, 300}, {60000, 300, 1}, {60000, 1, 200});
}

// Aligned rows of a large matrix are written past the caches.
template <class T>
void check_aligned(std::int64_t rows, std::int64_t columns, std::int64_t used) {
  const auto bytes = static_cast<std::size_t>(rows * columns) * sizeof(T);
  auto* to = static_cast<T*>(nax::HostAllocator::allocate(bytes));
  std::vector<T> from(static_cast<std::size_t>(rows * used));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i % 1013);
  const std::int64_t shape[] = {rows, used}, to_strides[] = {columns, 1}, from_strides[] = {1, rows};
  std::fill_n(to, rows * columns, T(-1));
  nax::cpu::strided_copy<T>(2, shape, to, to_strides, from.data(), from_strides);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      wrong += to[i * columns + j] != (j < used ? from[static_cast<std::size_t>(j * rows + i)] : T(-1));
  EXPECT_EQ(wrong, 0);
  nax::HostAllocator::deallocate(to, bytes);
}
TEST(StridedCopyOf, LargeAlignedPlanes) {
  check_aligned<float>(803, 832, 832);
  check_aligned<float>(1003, 832, 805);
  check_aligned<double>(603, 640, 639);
}

TEST(StridedCopyOf, OddSizesAreRefused) {
  const std::int64_t one = 1;
  char to[3], from[3];
  EXPECT_THROW(nax::cpu::strided_copy(3, 1, &one, to, &one, from, &one), nax::TypeError);
}

}  // namespace
