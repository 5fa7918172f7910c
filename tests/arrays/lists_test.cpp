#include <gtest/gtest.h>

#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/sorting/nonzero.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Functions that NumPy calls with lists take vectors, and those that give a list give a vector.
namespace lists_test {

using nax::Array;
using nax::Shape;

TEST(Lists, OfQuantiles) {
  const Array<float> x = {{4, 1, 3}, {2, 0, 5}};
  const std::vector<double> q = {0, 0.5, 1};
  EXPECT_EQ(nax::quantile(x, q).to_vector(), std::vector<float>({0, 2.5, 5}));
  EXPECT_EQ(nax::quantile(x, q, {.axis = 1}).to_vector(),
            nax::quantile(x, nax::array(q), {.axis = 1}).to_vector());
  EXPECT_EQ(nax::quantile(x, q, {.axis = 1, .keepdims = true}).shape(), Shape({3, 2, 1}));
  EXPECT_EQ(nax::quantile(x, std::vector<float>{1}).shape(), Shape({1}));
  EXPECT_EQ(nax::quantile(x + 1, std::vector<int>{0, 1}).to_vector(), std::vector<float>({1, 6}));
  EXPECT_EQ(nax::percentile(x, std::vector<int>{0, 50, 100}).to_vector(), std::vector<float>({0, 2.5, 5}));
  EXPECT_EQ(nax::quantile(x, nax::array(q) * 0.5).to_vector(), std::vector<float>({0, 1.25, 2.5}));
  EXPECT_EQ(nax::quantile(x, 0.5).item(), 2.5f);
  EXPECT_THROW(nax::quantile(x, std::vector<double>{2}), nax::ValueError);
}

TEST(Lists, OfConditions) {
  const Array<float> x = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(nax::compress(std::vector<bool>{true, false, true}, x, {.axis = 0}).to_vector(),
            std::vector<float>({1, 2, 5, 6}));
  EXPECT_EQ(nax::compress(std::vector<bool>{false, true}, x).to_vector(), std::vector<float>({2}));
  EXPECT_EQ(nax::compress(std::vector<int>{0, 2}, x, {.axis = 1}).to_vector(), std::vector<float>({2, 4, 6}));
  EXPECT_EQ(nax::compress(Array<bool>{true, false}, x, {.axis = 1}).shape(), Shape({3, 1}));
  EXPECT_THROW(nax::compress(std::vector<bool>(4, true), x, {.axis = 0}), nax::IndexError);
  EXPECT_EQ(nax::extract(std::vector<bool>{true, false, false, false, true, false}, x).to_vector(),
            std::vector<float>({1, 5}));
}

TEST(Lists, OfBroadcastArrays) {
  const Array<float> row = {1, 2, 3}, column = {{1}, {2}};
  const std::vector<Array<float>> both = nax::broadcast_arrays(row, column);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].to_vector(), std::vector<float>({1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(both[1].to_vector(), std::vector<float>({1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(nax::broadcast_arrays({row, column, Array<float>(1.f)})[2].shape(), Shape({2, 3}));
  EXPECT_EQ(nax::broadcast_arrays(row * 2, column)[0](1, 2).item(), 6);
  EXPECT_EQ(nax::broadcast_arrays(both).size(), 2U);
  EXPECT_EQ(nax::broadcast_arrays(row).size(), 1U);
  const auto [p, q] = nax::broadcast_arrays(row, Array<int>{{1}, {2}});
  static_assert(std::is_same_v<decltype(q), const Array<int>>);
  EXPECT_EQ(p.shape(), q.shape());
  EXPECT_THROW(nax::broadcast_arrays(row, Array<float>{1, 2}), nax::ShapeError);
}

}  // namespace lists_test
