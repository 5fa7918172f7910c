// concatenate, stack and roll of few bytes against their definition, element by element. Arrays of one row
// and of several, views, empty pieces, every element size; sizes around the limit of the small copies; and
// gradients.

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/transform/grad.hpp"

namespace small_joins_test {

using nax::Array;
using nax::Shape;

template <class T>
Array<T> numbers(const Shape& shape, std::int64_t from) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return (nax::arange<std::int64_t>(n) + from).template astype<T>().reshape(shape);
}
template <class T>
std::vector<T> listed(const Array<T>& x) {
  return nax::copy(x.reshape({-1})).to_vector();
}

// The elements of arrays of `outer` lines: line by line those of each.
template <class T>
std::vector<T> joined(const std::vector<Array<T>>& list, std::int64_t outer) {
  std::vector<T> out;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Array<T>& x : list) {
      const std::vector<T> all = listed(x);
      const std::int64_t line = static_cast<std::int64_t>(all.size()) / outer;
      for (std::int64_t i = 0; i < line; ++i) out.push_back(all[static_cast<std::size_t>(o * line + i)]);
    }
  return out;
}

template <class T>
class SmallJoins : public testing::Test {};
using Types = testing::Types<std::int8_t, float, double, std::complex<double>>;
TYPED_TEST_SUITE(SmallJoins, Types);

TYPED_TEST(SmallJoins, Concatenate) {
  using T = TypeParam;
  for (const std::int64_t outer : {1, 2, 5})
    for (const std::int64_t inner : {1, 3, 4000}) {
      std::vector<Array<T>> list;
      for (const std::int64_t extent : {2, 0, 1, 3})
        list.push_back(numbers<T>({outer, extent, inner}, 10 * extent));
      list.push_back(nax::transpose(numbers<T>({inner, 2, outer}, 7)));
      const Array<T> all = nax::concatenate(list, {.axis = 1});
      EXPECT_EQ(all.shape(), (Shape{outer, 8, inner}));
      EXPECT_EQ(listed(all), joined(list, outer));
      list.pop_back();
      EXPECT_EQ(listed(nax::concatenate(list, {.axis = -2})), joined(list, outer));
    }
}

TYPED_TEST(SmallJoins, Stack) {
  using T = TypeParam;
  for (const std::int64_t rows : {1, 3})
    for (const std::int64_t columns : {1, 2, 9}) {
      const std::vector<Array<T>> list{numbers<T>({rows, columns}, 1), numbers<T>({rows, columns}, 50),
                                       nax::transpose(numbers<T>({columns, rows}, 20))};
      EXPECT_EQ(listed(nax::stack(list)), joined(list, 1));
      EXPECT_EQ(listed(nax::stack(list, {.axis = 1})), joined(list, rows));
      EXPECT_EQ(listed(nax::stack(list, {.axis = 2})), joined(list, rows * columns));
      EXPECT_EQ(nax::stack(list, {.axis = 2}).shape(), (Shape{rows, columns, 3}));
    }
}

TYPED_TEST(SmallJoins, Roll) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 7, 20'000})
    for (const std::int64_t by : {0, 1, -1, 5, -9, 7}) {
      const Array<T> x = numbers<T>({2, n, 3}, 1);
      for (const Array<T>& y : {x, nax::transpose(numbers<T>({3, n, 2}, 4))}) {
        const std::vector<T> from = listed(y), to = listed(nax::roll(y, by, {.axis = 1}));
        ASSERT_EQ(from.size(), to.size());
        for (std::int64_t o = 0; o < 2; ++o)
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < 3; ++j) {
              const std::int64_t at = ((i + by) % n + n) % n;
              ASSERT_EQ(to[static_cast<std::size_t>((o * n + at) * 3 + j)],
                        from[static_cast<std::size_t>((o * n + i) * 3 + j)]);
            }
      }
    }
  const Array<T> x = numbers<T>({4, 3}, 0);
  EXPECT_EQ(listed(nax::roll(x, 5)), listed(nax::roll(x.reshape({12}), 5)));
  EXPECT_EQ(listed(nax::roll(x, {1, 2}, {.axis = {0, 1}})),
            listed(nax::roll(nax::roll(x, 1, {.axis = 0}), 2, {.axis = 1})));
}

TEST(SmallJoins, Gradients) {
  const Array<double> w = numbers<double>({5}, 1), a = numbers<double>({2}, 3), b = numbers<double>({3}, 6);
  const auto pieces = [&](const Array<double>& x) { return nax::sum(nax::concatenate({x, b}) * w); };
  EXPECT_EQ(nax::grad(pieces)(a).to_vector(), (std::vector<double>{1, 2}));
  const auto turned = [&](const Array<double>& x) { return nax::sum(nax::roll(x, 2) * w); };
  EXPECT_EQ(nax::grad(turned)(w).to_vector(), (std::vector<double>{3, 4, 5, 1, 2}));
}

}  // namespace small_joins_test
