// Trees of arrays: rows and batches.
#include <gtest/gtest.h>

#include "data/elements.hpp"
#include "nax/expr/expressions/operators.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "support/refusal.hpp"

namespace arrays_test {
using namespace nax;

struct Example {
  Array<float> image;
  Array<int> label;
};

Array<float> images(std::int64_t n) { return arange<float>(static_cast<float>(n * 6)).reshape({n, 2, 3}); }

TEST(DataArrays, RowsAndBatches) {
  const auto pairs = data::from_arrays(std::tuple{images(7), arange<int>(7)});
  EXPECT_EQ(pairs.size(), 7);
  int i = 0;
  for (auto [x, y] : pairs) {
    EXPECT_EQ(x.shape(), (Shape{2, 3}));
    EXPECT_EQ(y.item(), i);
    EXPECT_EQ(x(0, 0).item(), 6.f * static_cast<float>(i++));
  }
  i = 0;
  for (auto [x, y] : pairs.batch(3)) {
    EXPECT_EQ(x.shape(), (Shape{i < 2 ? 3 : 1, 2, 3}));
    EXPECT_EQ(y.to_vector()[0], 3 * i);
    EXPECT_EQ(x(0, 0, 0).item(), 18.f * static_cast<float>(i++));
  }
  EXPECT_EQ(i, 3);
  EXPECT_EQ(pairs.batch(3).size(), 3);
  EXPECT_EQ(pairs.batch(3, {.drop_remainder = true}).size(), 2);
  EXPECT_EQ(pairs.batch(8, {.drop_remainder = true}).size(), 0);
}

// Batches taken straight from the arrays, from elements, and by threads are equal.
TEST(DataArrays, AllWaysToBatchAgree) {
  const auto shuffled =
      data::from_arrays(std::tuple{images(50), arange<int>(50)}).shuffle({.key = random::key(1)}).skip(3);
  const auto as_it_is = [](Array<float> x, Array<int> y) { return std::tuple{x, y}; };
  const auto keep = [](const auto&, const auto&) { return true; };
  const auto reference = shuffled.batch(8);
  const auto expect_same_batches = [&](const auto& batches, bool all) {
    auto it = batches.iterator();
    for (auto [x, y] : reference) {
      if (!all && y.shape(0) < 8) break;
      auto other = it.next();
      ASSERT_TRUE(other);
      EXPECT_EQ(std::get<0>(*other).to_vector(), x.to_vector());
      EXPECT_EQ(std::get<0>(*other).shape(), x.shape());
      EXPECT_EQ(std::get<1>(*other).to_vector(), y.to_vector());
    }
    EXPECT_FALSE(it.next());
  };
  for (const int threads : {0, 3}) {
    expect_same_batches(shuffled.batch(8, {.threads = threads}), true);
    expect_same_batches(shuffled.map(as_it_is).batch(8, {.threads = threads}), true);
    expect_same_batches(shuffled.map(as_it_is, {.threads = 2}).batch(8, {.threads = threads}), true);
    expect_same_batches(shuffled.filter(keep).batch(8, {.drop_remainder = true, .threads = threads}), false);
    expect_same_batches(shuffled.batch(5).unbatch().batch(8, {.threads = threads}), true);
    expect_same_batches(shuffled.batch(8, {.threads = threads}).take(100).prefetch(3), true);
  }
}

TEST(DataArrays, StructsNumbersAndExpressions) {
  const auto examples = data::from_arrays(Example{images(4), arange<int>(4)});
  for (const Example& batch : examples.batch(4)) EXPECT_EQ(batch.image.shape(), (Shape{4, 2, 3}));
  auto halves = data::range(5).map([](std::int64_t i) {
    return std::pair{Array<float>(1.f) * static_cast<float>(i), i};
  });
  for (auto [x, i] : halves.batch(5)) {
    static_assert(std::is_same_v<decltype(x), Array<float>>);
    static_assert(std::is_same_v<decltype(i), Array<std::int64_t>>);
    EXPECT_EQ(x.to_vector(), (std::vector<float>{0, 1, 2, 3, 4}));
    EXPECT_EQ(i.to_vector(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  }
  // A view's elements are taken where they lie.
  for (const auto& x : data::from_arrays(images(4).transpose()).batch(2).take(1))
    EXPECT_EQ(x(1, 1, 3).item(), images(4)(3, 1, 1).item());
}

TEST(DataArrays, Refusals) {
  EXPECT_EQ(refusal([] {
              data::from_arrays(std::tuple{images(3), arange<int>(4)});
            }),
            "from_arrays: the arrays have 3 rows at [0] and 4 at [1]");
  EXPECT_EQ(refusal([] { data::from_arrays(Array<float>(1.f)); }),
            "from_arrays: an array without axes has no rows");
  EXPECT_EQ(refusal([] { data::range(3).batch(0); }), "batch: the size of a batch must be at least 1, not 0");
  const auto ragged = data::range(1, 5).map([](std::int64_t i) {
    return std::tuple{i, Array<float>(zeros<float>({i}))};
  });
  EXPECT_EQ(refusal<ShapeError>([&] {
              for (const auto& batch : ragged.batch(2)) static_cast<void>(batch);
            }),
            "batch: the batch of element 0 on: batch: elements 0 and 1 of a batch have shapes (1,) and (2,) "
            "at [1]");
}

}  // namespace arrays_test
