#include <gtest/gtest.h>

#include <cstring>
#include <span>

#include "nax/backend/cpu/factor/eigen_core.hpp"
#include "nax/numpy/conversion/eigen.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/indexing/select.hpp"
#include "nax/numpy/reductions/sum.hpp"

// Bools from outside may be any bytes; arrays normalise them to 0 and 1.
namespace bools_test {

using nax::Array;

const unsigned char bytes[] = {0, 1, 2, 0, 128, 255, 3, 0, 4, 16};
const bool* const bools = reinterpret_cast<const bool*>(bytes);
constexpr int trues = 7;

void expect_zeros_and_ones(const Array<bool>& mask) {
  unsigned char stored[sizeof bytes];
  ASSERT_EQ(mask.size(), static_cast<std::int64_t>(sizeof bytes));
  std::memcpy(stored, mask.data(), sizeof stored);
  for (std::size_t i = 0; i < sizeof bytes; ++i) EXPECT_EQ(stored[i], bytes[i] ? 1 : 0) << i;
  EXPECT_EQ(nax::sum(mask).item(), trues);
  EXPECT_EQ(nax::sum(nax::ravel(mask).astype<float>()).item(), trues);
  const Array<float> x = nax::arange<float>(10);
  EXPECT_EQ(x(nax::ravel(mask)).to_vector(), std::vector<float>({1, 2, 4, 5, 6, 8, 9}));
  EXPECT_EQ(nax::sum(nax::where(nax::ravel(mask), x, 0)).item(), 35);
}

TEST(Bools, OfAPointer) { expect_zeros_and_ones(nax::asarray(bools, {2, 5})); }

TEST(Bools, OfASpan) {
  expect_zeros_and_ones(nax::asarray(std::span(bools, sizeof bytes)));
  expect_zeros_and_ones(nax::asarray(std::span(bools, sizeof bytes), {5, 2}));
  EXPECT_EQ(nax::asarray(std::span(bools, 0)).size(), 0);
}

TEST(Bools, OfAVectorOfBits) {
  EXPECT_EQ(nax::array(std::vector<bool>{true, false, true}).to_vector(),
            std::vector<bool>({true, false, true}));
}

TEST(Bools, OfEigen) {
  Eigen::Array<bool, Eigen::Dynamic, 1> mask(10);
  std::memcpy(mask.data(), bytes, sizeof bytes);
  expect_zeros_and_ones(nax::from_eigen(mask));
}

}  // namespace bools_test
