#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"

namespace at_test {

using nax::_;
using nax::Array;
using nax::slice;
using Index = Array<int>;
using Values = std::vector<double>;

const Array<double> x = {{1, 2, 3}, {4, 5, 6}};

TEST(At, ReturnsAChangedCopy) {
  EXPECT_EQ(x.at(0, 1).set(9).to_vector(), Values({1, 9, 3, 4, 5, 6}));
  EXPECT_EQ(x.at(1).set({7, 8, 9}).to_vector(), Values({1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(x.at(_, slice(_, _, 2)).set(x(_, slice(1)) * 10).to_vector(), Values({10, 2, 10, 40, 5, 40}));
  EXPECT_EQ(x.at(x > 2.0).set(0).to_vector(), Values({1, 2, 0, 0, 0, 0}));
  EXPECT_EQ(x.at(Index{0, 1}, Index{2, 0}).set(Array<int>{-1, -2}).to_vector(), Values({1, 2, -1, -2, 5, 6}));
  EXPECT_EQ(x.at(0).set(Array<double>{{7, 8, 9}}).to_vector(), Values({7, 8, 9, 4, 5, 6}));
  EXPECT_EQ(x.at(_, 1).get().to_vector(), Values({2, 5}));
  EXPECT_EQ(x.to_vector(), Values({1, 2, 3, 4, 5, 6}));
  const auto place = x.at(0, 0);
  EXPECT_EQ(place.set(5)(0, 0).item(), 5);
  EXPECT_EQ(place.add(5)(0, 0).item(), 6);
}

TEST(At, AccumulatesOverEqualIndices) {
  const Index twice{0, 0, 2};
  EXPECT_EQ(x.at(_, twice).add(Array<double>{10, 20, 30}).to_vector(), Values({31, 2, 33, 34, 5, 36}));
  EXPECT_EQ(x.at(0, twice).multiply(Array<double>{2, 3, 4}).to_vector(), Values({6, 2, 12, 4, 5, 6}));
  EXPECT_EQ(x.at(0, twice).divide(2).to_vector(), Values({.25, 2, 1.5, 4, 5, 6}));
  EXPECT_EQ(x.at(1, twice).power(2).to_vector(), Values({1, 2, 3, 256, 5, 36}));
  EXPECT_EQ(x.at(1, twice).min({9, 2, 5}).to_vector(), Values({1, 2, 3, 2, 5, 5}));
  EXPECT_EQ(x.at(1, twice).max({9, 10, 5}).to_vector(), Values({1, 2, 3, 10, 5, 6}));
  EXPECT_EQ(x.at(0, twice).set({7, 8, 9}).to_vector(), Values({8, 2, 9, 4, 5, 6}));
  EXPECT_EQ(x.at(0, twice).apply([](const auto& v) { return v * v; }).to_vector(),
            Values({1, 2, 9, 4, 5, 6}));
}

TEST(At, WorksOnOtherTypes) {
  EXPECT_EQ((Array<int>{1, 2, 3}.at(1).add(2.9).to_vector()), std::vector<int>({1, 4, 3}));
  EXPECT_EQ((Array<bool>{true, false}.at(1).set(true).to_vector()), std::vector<bool>({true, true}));
  EXPECT_EQ((Array<nax::half>{1, 2}.at(Index{0, 0}).add(1).astype<float>().to_vector()),
            std::vector<float>({3, 2}));
  EXPECT_EQ(static_cast<float>(
                Array<std::complex<float>>({1, 2}).at(0).set(std::complex<float>(0, 1))(0).item().imag()),
            1);
}

TEST(At, WritesInPlaceIfUnshared) {
  Array<double> mine = nax::copy(x);
  const void* before = mine.data();
  mine = std::move(mine).at(0, 0).set(5);
  EXPECT_EQ(mine.data(), before);
  mine = std::move(mine).at(Index{1, 1}).add(1);
  EXPECT_EQ(mine.data(), before);
  EXPECT_EQ(mine.to_vector(), Values({5, 2, 3, 6, 7, 8}));
  const Array<double> other = mine;
  mine = std::move(mine).at(0, 0).set(6);
  EXPECT_NE(mine.data(), before);
  EXPECT_EQ(other(0, 0).item(), 5);
  // The written values lie in the same buffer.
  Array<double> own = nax::arange<double>(4);
  const Array<double> front = own(slice(_, -1));
  own = std::move(own).at(slice(1, _)).set(front);
  EXPECT_EQ(own.to_vector(), Values({0, 0, 1, 2}));
}

TEST(At, NamesShapesThatDoNotFit) {
  try {
    x.at(0).set({1, 2});
    FAIL();
  } catch (const nax::ShapeError& e) {
    EXPECT_STREQ(e.what(), "at.set: could not broadcast values of shape (2,) into the selected shape (3,)");
  }
}

}  // namespace at_test
