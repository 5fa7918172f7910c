#include <gtest/gtest.h>

#include <sstream>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/sorting/nonzero.hpp"
#include "nax/transform/vmap.hpp"
#include "support/refusal.hpp"

// Indexing, with NumPy's results for equal indices.
namespace indexing_test {

using nax::_;
using nax::arange;
using nax::Array;
using nax::ellipsis;
using nax::newaxis;
using nax::Shape;
using nax::slice;
using Index = Array<int>;

template <class T>
void expect_array(const Array<T>& got, const Shape& shape, const std::vector<T>& values) {
  EXPECT_EQ(got.shape(), shape);
  EXPECT_EQ(got.to_vector(), values);
}
const Array<int> line = arange(10);
const Array<int> matrix = arange(12).reshape({3, 4});
const Array<int> cube = arange(24).reshape({2, 3, 4});

TEST(BasicIndexing, TakesIntegersAndSlices) {
  expect_array(matrix(1, 2), {}, {6});
  expect_array(matrix(-1), {4}, {8, 9, 10, 11});
  expect_array(matrix[0], {4}, {0, 1, 2, 3});
  expect_array(matrix(_, slice(0, 2)), {3, 2}, {0, 1, 4, 5, 8, 9});
  expect_array(matrix(slice(_, _, -1), 0), {3}, {8, 4, 0});
  expect_array(matrix(ellipsis, -1), {3}, {3, 7, 11});
  expect_array(cube(1, ellipsis, 2), {3}, {14, 18, 22});
  EXPECT_EQ(cube(ellipsis, newaxis).shape(), Shape({2, 3, 4, 1}));
  EXPECT_EQ(cube(newaxis, 0, nax::none, ellipsis).shape(), Shape({1, 1, 3, 4}));
  EXPECT_EQ(matrix(std::size_t{1}, short{2}).item(), 6);
  EXPECT_EQ((matrix * 2)(1, 1).item(), 10);
  int count = 0;
  for (const auto row : matrix)
    expect_array(row, {4}, {4 * count, 4 * count + 1, 4 * count + 2, 4 * count + 3}), ++count;
  EXPECT_EQ(count, 3);
}

TEST(BasicIndexing, SlicesLikePython) {
  const auto check = [](nax::Slice s, const std::vector<int>& want) { EXPECT_EQ(line(s).to_vector(), want); };
  check(slice(3), {0, 1, 2});
  check(slice(-3, _), {7, 8, 9});
  check(slice(1, -1, 3), {1, 4, 7});
  check(slice(_, _, -3), {9, 6, 3, 0});
  check(slice(8, 2, -2), {8, 6, 4});
  check(slice(-2, -100, -4), {8, 4, 0});
  check(slice(100, _), {});
  check(slice(5, 2), {});
  check(slice(-100, 2), {0, 1});
  check(slice(0, nax::none, 5), {0, 5});
}

TEST(BasicIndexing, GivesViews) {
  EXPECT_EQ(nax::detail::raw_data(matrix(1)), nax::detail::raw_data(matrix) + 16);
  EXPECT_EQ(nax::detail::raw_data(matrix(_, slice(_, _, -1))), nax::detail::raw_data(matrix) + 12);
}

TEST(AdvancedIndexing, TakesArraysOfAnyIntegers) {
  expect_array(line(Index{3, -1, 3}), {3}, {3, 9, 3});
  expect_array(line(Array<std::uint8_t>{{1, 2}, {3, 4}}), {2, 2}, {1, 2, 3, 4});
  expect_array(line(std::vector<long>{0, 9}), {2}, {0, 9});
  expect_array(line(Index{0, 1} + 5), {2}, {5, 6});
  expect_array(matrix(Index(2)), {4}, {8, 9, 10, 11});
  expect_array(matrix(nax::zeros<int>({0})), {0, 4}, {});
  expect_array(matrix(Index{0, 2}, Index{1, -1}), {2}, {1, 11});
  expect_array(matrix(Index{{0}, {2}}, Index{1, 3}), {2, 2}, {1, 3, 9, 11});
  expect_array(matrix(_, Index{3, 0}), {3, 2}, {3, 0, 7, 4, 11, 8});
  expect_array(matrix(slice(1, _), Index{3, 0}), {2, 2}, {7, 4, 11, 8});
  expect_array(matrix(slice(_, _, -1), Index{3, 0})(0), {2}, {11, 8});
}

TEST(AdvancedIndexing, PlacesAxesAsNumPyDoes) {
  const Array<int> x = arange(120).reshape({2, 3, 4, 5});
  const Index i{0, 1};
  EXPECT_EQ(x(_, i, _, i).shape(), Shape({2, 2, 4}));
  EXPECT_EQ(x(_, i, i).shape(), Shape({2, 2, 5}));
  EXPECT_EQ(x(0, _, i).shape(), Shape({2, 3, 5}));
  EXPECT_EQ(x(_, 0, i).shape(), Shape({2, 2, 5}));
  EXPECT_EQ(x(_, i, ellipsis, i).shape(), Shape({2, 2, 4}));
  EXPECT_EQ(x(ellipsis, i, newaxis).shape(), Shape({2, 3, 4, 2, 1}));
  EXPECT_EQ(x(i, _, newaxis, i).shape(), Shape({2, 3, 1, 5}));
  EXPECT_EQ(arange(84).reshape({7, 3, 4})(_, i, ellipsis, i).shape(), Shape({2, 7}));
  EXPECT_EQ(x(Index{{0, 1}}, _, _, Index{{2}, {3}}).shape(), Shape({2, 2, 3, 4}));
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        EXPECT_EQ(x(i, _, _, Index{4, 2})(a, b, c).item(), x(a, b, c, a ? 2 : 4).item());
}

TEST(AdvancedIndexing, TakesMasks) {
  expect_array(matrix(matrix > 8), {3}, {9, 10, 11});
  expect_array(matrix(Array<bool>{true, false, true}, 1), {2}, {1, 9});
  expect_array(matrix(_, Array<bool>{false, true, false, true}), {3, 2}, {1, 3, 5, 7, 9, 11});
  expect_array(matrix(Array<bool>{true, false, true}, Array<bool>{false, true, false, true}), {2}, {1, 11});
  EXPECT_EQ(cube(cube(_, _, 0) > 4).shape(), Shape({4, 4}));
  EXPECT_EQ(matrix(true).shape(), Shape({1, 3, 4}));
  EXPECT_EQ(matrix(false).shape(), Shape({0, 3, 4}));
}

TEST(Indexing, ErrorsNameTheIndex) {
  EXPECT_EQ(refusal<nax::Error>([] { line(10); }),
            "index: index 10 is out of bounds for axis 0 with size 10");
  EXPECT_EQ(refusal<nax::Error>([] { matrix(0, -5); }),
            "index: index -5 is out of bounds for axis 1 with size 4");
  EXPECT_EQ(refusal<nax::Error>([] {
              matrix(_, Index{0, 4});
            }),
            "index: index 4 is out of bounds for axis 1 with size 4");
  EXPECT_EQ(refusal<nax::Error>([] { matrix(0, 0, 0); }),
            "index: too many indices for array: array is 2-dimensional, but 3 were indexed, shape (3, 4)");
  EXPECT_EQ(refusal<nax::Error>([] {
              matrix(Index{0, 1}, Index{0, 1, 2});
            }),
            "index: shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)");
  EXPECT_EQ(refusal<nax::Error>([] {
              matrix(Array<bool>{true, false});
            }),
            "index: boolean index did not match indexed array along axis 0; size of axis is 3 but size of "
            "corresponding boolean axis is 2");
  EXPECT_EQ(refusal<nax::Error>([] { line(slice(_, _, 0)); }), "index: slice step cannot be zero");
  EXPECT_THROW(line(-11), nax::IndexError);
  EXPECT_THROW(nax::take(line, Index{12}), nax::IndexError);
  EXPECT_EQ(refusal<nax::Error>([] { line.at(12).set(1); }),
            "index: index 12 is out of bounds for axis 0 with size 10");
}

TEST(Indexing, MapsOverIndicesAndArrays) {
  const Array<float> x = {{1, 2, 3}, {4, 5, 6}};
  const auto pick = [](const Array<float>& x, const Index& i) -> Array<float> { return x(i); };
  expect_array(nax::vmap(pick)(x, Index{2, 0}), {2}, {3.f, 4.f});
  expect_array(nax::vmap(pick, {.in_axes = {nax::none, 0}})(x(0), Index{1, -1}), {2}, {2.f, 3.f});
  const auto at = [](const Array<float>& x, const Index& i) -> Array<float> { return x.at(i).set(0); };
  expect_array(nax::vmap(at)(x, Index{2, 0}), {2, 3}, {1.f, 2.f, 0.f, 0.f, 5.f, 6.f});
  const auto add = [&](const Index& i) -> Array<float> { return x(0).at(i).add(1); };
  expect_array(nax::vmap(add)(Index{{0, 0}, {1, 2}}), {2, 3}, {3.f, 2.f, 3.f, 1.f, 3.f, 4.f});
  const auto twice = [&](const Index& i) -> Array<float> { return x(0).at(i).multiply(2); };
  expect_array(nax::vmap(twice)(Index{{0, 0}, {1, 2}}), {2, 3}, {4.f, 2.f, 3.f, 1.f, 4.f, 6.f});
  const auto masked = [](const Array<float>& x) -> Array<float> { return x(x > 2.f); };
  EXPECT_NE(refusal<nax::Error>([&] { nax::vmap(masked)(x); }).find("batched by vmap"), std::string::npos);
  std::ostringstream out;
  nax::vmap([&](const Array<float>& r) {
    out << r;
    return r;
  })(x);
  EXPECT_EQ(out.str(), "Array(batched by vmap, shape=(3,), dtype=float32)");
}

TEST(Conditions, FindElements) {
  const Array<int> x = {{0, 3, 0}, {5, 0, 6}};
  expect_array(nax::nonzero(x)[0], {3}, {0, 1, 1});
  expect_array(nax::nonzero(x)[1], {3}, {1, 0, 2});
  expect_array(nax::argwhere(x), {3, 2}, {0, 1, 1, 0, 1, 2});
  expect_array(nax::flatnonzero(x), {3}, {1, 3, 5});
  expect_array(nax::where(x > 4)[1], {2}, {0, 2});
  expect_array(nax::extract(x > 4, x), {2}, {5, 6});
  expect_array(nax::compress(Array<bool>{false, true}, x, {.axis = 1}), {2, 1}, {3, 0});
  expect_array(nax::choose(Index{0, 1, 0}, std::vector{x(0), x(1)}), {3}, {0, 0, 0});
  expect_array(nax::select({x > 4, x > 2}, std::vector<Array<int>>{x * 10, x}, {.default_ = -1}), {2, 3},
               {-1, 3, -1, 50, -1, 60});
}

}  // namespace indexing_test
