#include "nax/backend/cpu/maps/tiles.hpp"

#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/with_threads.hpp"

// Operands that kernels read in tiles (repeated rows and columns, views, other types) against contiguous
// copies, which kernels read in place: equal values and gradients, over loops of one chunk and of many, whose
// rows end with a chunk or do not. All numbers are small integers, so sums are exact.

namespace {

using namespace nax;

constexpr std::int64_t row_lengths[] = {1, 2, 3, 10, 63, 64, 65, 200, 1024, 1025};
// Elements in all: within a tile, over several, over several threads' parts.
constexpr std::int64_t sizes[] = {600, 5'000, 100'000};

template <class T>
Array<T> numbers(const Shape& shape, std::int64_t from) {
  const Array<std::int64_t> ones = nax::ones<std::int64_t>(shape);
  return eval((cumsum(ones.reshape(-1)) + from) * 7 % 5 - 2).template astype<T>().reshape(shape);
}

// f(rows, length) for each loop.
template <class F>
void for_each_loop(const F& f) {
  const WithThreads threads(2);
  for (std::int64_t length : row_lengths)
    for (std::int64_t size : sizes) {
      SCOPED_TRACE(testing::Message() << size / length + 1 << " x " << length);
      f(size / length + 1, length);
    }
}

// f(x, full): an operand that lies in one of many ways, and one of all elements.
template <class T, class F>
void for_each_operand(std::int64_t rows, std::int64_t length, const F& f) {
  const Array<float> full = numbers<float>({rows, length}, 1);
  f(numbers<T>({length}, 2), full);
  f(numbers<T>({1, length}, 2), full);
  f(numbers<T>({rows, 1}, 3), full);
  f(numbers<T>({1, 1}, 4), full);
  f(numbers<T>({length, rows}, 5).T(), full);
  f(numbers<T>({rows, 2 * length}, 6)(_, slice(_, _, 2)), full);
  f(numbers<T>({2 * length}, 7)(slice(_, _, 2)), full);
  f(flip(numbers<T>({length}, 8)), full);
  f(numbers<T>({rows, length}, 9), full);
  f(numbers<T>({1, length}, 2), full.reshape({1, rows, length}));
  f(numbers<T>({rows, 1}, 3),
    swapaxes(concatenate(std::vector{full, full}, {.axis = 1}).reshape({rows, 2, length}), 0, 1));
}

template <class T>
Array<T> whole(const Array<T>& x, const Shape& shape) {
  return copy(broadcast_to(x, shape));
}

template <class T>
class Tiles : public testing::Test {};
using Types = testing::Types<float, half, std::int8_t>;
TYPED_TEST_SUITE(Tiles, Types);

TYPED_TEST(Tiles, Values) {
  for_each_loop([](std::int64_t rows, std::int64_t length) {
    for_each_operand<TypeParam>(rows, length, [](const auto& x, const Array<float>& full) {
      const auto f = [](const auto& a, const auto& b) { return eval(a * b + a - 2 * b); };
      EXPECT_TRUE(array_equal(f(x, full), f(whole(x, full.shape()), copy(full))));
    });
  });
}

TYPED_TEST(Tiles, Sums) {
  for_each_loop([](std::int64_t rows, std::int64_t length) {
    for_each_operand<TypeParam>(rows, length, [](const auto& x, const Array<float>& full) {
      const auto same = whole(x, full.shape());
      for (int axis = 0; axis < full.ndim(); ++axis)
        EXPECT_TRUE(array_equal(sum(x * full, {.axis = axis}), sum(eval(same * full), {.axis = axis})));
      EXPECT_EQ(sum(x * full).item(), sum(eval(same * full)).item());
    });
  });
}

TEST(Tiles, Gradients) {
  for_each_loop([](std::int64_t rows, std::int64_t length) {
    for_each_operand<float>(rows, length, [](const Array<float>& x, const Array<float>& full) {
      // Two nodes: the first adds its shares to the other's.
      const auto f = [](const Array<float>& a, const Array<float>& b) { return eval(a * b + a * a) + b * a; };
      const auto g = numbers<float>(full.shape(), 11);
      const auto [value, pull] = vjp(f, x, full);
      const auto [dx, dfull] = pull(g);
      const auto [same_value, same_pull] = vjp(f, whole(x, full.shape()), full);
      const auto [dsame, same_dfull] = same_pull(g);
      EXPECT_TRUE(array_equal(value, same_value));
      EXPECT_TRUE(array_equal(dfull, same_dfull));
      const auto [whole_value, shrink] =
          vjp([&](const Array<float>& a) { return eval(broadcast_to(a, full.shape())); }, x);
      EXPECT_TRUE(array_equal(dx, std::get<0>(shrink(dsame))));
    });
  });
}

}  // namespace
