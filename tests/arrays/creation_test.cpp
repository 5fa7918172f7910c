#include <gtest/gtest.h>

#include <array>
#include <span>
#include <sstream>

#include "nax/backend/cpu/factor/eigen_core.hpp"
#include "nax/numpy/conversion/eigen.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/manipulation/edit.hpp"

namespace creation_test {

using nax::Array;
using nax::Shape;

TEST(Creation, TakesTypesFromArgumentsOrNames) {
  static_assert(std::is_same_v<decltype(nax::zeros({2})), Array<float>>);
  static_assert(std::is_same_v<decltype(nax::full({2}, 7.f)), Array<float>>);
  static_assert(std::is_same_v<decltype(nax::full({2}, 7)), Array<int>>);
  static_assert(std::is_same_v<decltype(nax::arange(3)), Array<int>>);
  static_assert(std::is_same_v<decltype(nax::arange<double>(3)), Array<double>>);
  static_assert(std::is_same_v<decltype(nax::array(std::vector<double>{1})), Array<double>>);
  EXPECT_EQ(nax::full({2, 2}, true).to_vector(), std::vector<bool>(4, true));
  EXPECT_EQ(nax::ones_like(nax::arange(3)).to_vector(), std::vector<int>(3, 1));
  EXPECT_EQ(nax::zeros_like<double>(nax::arange(2) + 1).to_vector(), std::vector<double>(2, 0));
  EXPECT_EQ(nax::arange<int>(5, 0, -2).to_vector(), std::vector<int>({5, 3, 1}));
  EXPECT_EQ(nax::arange(3, 1).size(), 0);
  EXPECT_EQ(nax::geomspace<double>(1, 1000, 4).to_vector().back(), 1000);
  EXPECT_EQ(nax::identity<int>(2).to_vector(), std::vector<int>({1, 0, 0, 1}));
  EXPECT_THROW(nax::zeros({2, -1}), nax::ValueError);
  EXPECT_THROW(nax::arange(0, 1, 0), nax::ValueError);
}

TEST(Creation, SpacesIntegersGeometricallyAsNumPy) {
  using Int = std::vector<int>;
  EXPECT_EQ(nax::geomspace<int>(1, 1000, 4).to_vector(), Int({1, 10, 100, 1000}));
  EXPECT_EQ(nax::geomspace<int>(1000, 1, 3, {.endpoint = false}).to_vector(), Int({1000, 100, 10}));
  EXPECT_EQ(nax::geomspace<int>(-1, -1000, 7).to_vector(), Int({-1, -3, -10, -31, -100, -316, -1000}));
  EXPECT_EQ(nax::geomspace<int>(5, 9, 1).to_vector(), Int({5}));
}

TEST(Creation, CopiesDataFromOutside) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(nax::asarray(numbers, {2, 3})(1, 0).item(), 4);
  EXPECT_EQ(nax::asarray(std::span(numbers)).shape(), Shape({6}));
  EXPECT_EQ(nax::asarray(std::vector<bool>{true, false}, {2, 1}).shape(), Shape({2, 1}));
  EXPECT_EQ(nax::array(std::vector<std::vector<int>>{{1, 2}, {3, 4}})(1, 0).item(), 3);
  EXPECT_THROW(nax::asarray(std::vector<int>{1, 2}, {3}), nax::ShapeError);
  EXPECT_THROW(nax::array(std::vector<std::vector<int>>{{1, 2}, {3}}), nax::ShapeError);
  const Array<float> row = {1, 2};
  EXPECT_EQ(nax::array({row, row}).shape(), Shape({2, 2}));
  EXPECT_EQ(nax::array(std::vector{row * 2, row * 3})(1, 1).item(), 6);
}

TEST(Creation, GoesToAndFromEigen) {
  Eigen::MatrixXd columns(2, 3);  // column-major
  columns << 1, 2, 3, 4, 5, 6;
  const Array<double> a = nax::from_eigen(columns);
  EXPECT_EQ(a.to_vector(), std::vector<double>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(nax::from_eigen(columns.row(1)).shape(), Shape({3}));
  const auto back = nax::as_eigen(a);
  const Array<double> transposed = a.T();
  const auto turned = nax::as_eigen(transposed);
  ASSERT_EQ(back.rows(), 2);
  ASSERT_EQ(turned.rows(), 3);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(back(i, j), columns(i, j));
      EXPECT_EQ(turned(j, i), columns(i, j));
    }
  EXPECT_EQ(nax::as_eigen(a(0)).rows(), 3);
  EXPECT_EQ(nax::as_eigen(a(0)).cols(), 1);
  EXPECT_THROW(nax::as_eigen(a.reshape({1, 2, 3})), nax::ShapeError);
}

TEST(Members, WalkViewsInOrder) {
  const Array<int> a = nax::arange(6).reshape({2, 3});
  EXPECT_EQ(a.T().to_vector(), std::vector<int>({0, 3, 1, 4, 2, 5}));
  const Array<int> t = a.T();
  EXPECT_EQ(t.data()[1], 3);
  EXPECT_EQ(t(1, 1).item(), 4);
  EXPECT_EQ(nax::copy(t).shape(), Shape({3, 2}));
  std::ostringstream out;
  out << t << a + 1;
  EXPECT_EQ(out.str(), "[[0 3]\n [1 4]\n [2 5]][[1 2 3]\n [4 5 6]]");
}

TEST(Edit, MatchesNumPy) {
  const Array<double> x = {{1, 2, 3}, {4, 0, 6}};
  using Values = std::vector<double>;
  EXPECT_EQ(nax::append(x, 3).to_vector(), Values({1, 2, 3, 4, 0, 6, 3}));
  EXPECT_EQ(nax::delete_(x, 1, {.axis = 1}).to_vector(), Values({1, 3, 4, 6}));
  EXPECT_EQ(nax::delete_(x, nax::slice(1, 3)).to_vector(), Values({1, 4, 0, 6}));
  EXPECT_EQ(nax::insert(x, 1, 9, {.axis = 1}).to_vector(), Values({1, 9, 2, 3, 4, 9, 0, 6}));
  EXPECT_EQ(nax::insert(x(0), std::vector<int>{0, 2}, Array<double>{7, 8}).to_vector(),
            Values({7, 1, 2, 8, 3}));
  EXPECT_EQ(nax::insert(x, 1, Array<double>{5, 6}, {.axis = 1}).to_vector(),
            Values({1, 5, 2, 3, 4, 6, 0, 6}));
  EXPECT_EQ(nax::insert(x, 0, Array<double>{5, 6, 7}, {.axis = 0})(0).to_vector(), Values({5, 6, 7}));
  EXPECT_EQ(nax::resize(x, {3, 3})(2).to_vector(), Values({1, 2, 3}));
}

}  // namespace creation_test
