// Corner cases of functions on arrays, with NumPy's results.

#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/refusal.hpp"

namespace numbers {

using namespace nax;
using D = Array<double>;
using I = Array<int>;
using Z = std::complex<double>;
using C = Array<Z>;
template <class T>
using List = std::vector<T>;

TEST(Cross, OperandsOfUnequalRank) {
  const D one = {1, 2, 3}, many = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {4, 5, 6}};
  const D by_one = cross(many, one), of_one = cross(one, many);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(by_one(i).to_vector(), cross(many(i), one).to_vector());
    EXPECT_EQ(of_one(i).to_vector(), cross(one, many(i)).to_vector());
  }
  // A negative axis counts from the end of the result's axes.
  const D along_first = cross(many.T().reshape({3, 4, 1}), reshape(one, {3, 1, 1}), {.axis = 0});
  EXPECT_EQ(along_first.shape(), (Shape{3, 4, 1}));
  EXPECT_EQ(D(along_first(_, 3, 0)).to_vector(), by_one(3).to_vector());
}

TEST(CumulativeArray, SmallIntegersWiden) {
  const Array<std::int8_t> x = {100, 100, 2};
  const I sums = cumulative_sum(x), products = cumulative_prod(x, {.include_initial = true});
  EXPECT_EQ(sums.to_vector(), (List<int>{100, 200, 202}));
  EXPECT_EQ(products.to_vector(), (List<int>{1, 100, 10000, 20000}));
  const Array<std::uint16_t> u = {65535, 2};
  const Array<std::uint32_t> of_u = cumulative_sum(u);
  EXPECT_EQ(of_u.to_vector(), (List<std::uint32_t>{65535, 65537}));
  // cumsum keeps them, as JAX's.
  const Array<std::int8_t> kept = cumsum(x);
  EXPECT_EQ(kept.to_vector(), (List<std::int8_t>{100, -56, -54}));
}

// A mask names the places where it is true.
TEST(Insert, MasksAsPlaces) {
  const I x = arange<int>(5);
  const nax::Array<bool> mask = {true, false, false, true, false};
  const List<bool> list = mask.to_vector();
  EXPECT_EQ(I(nax::delete_(x, mask)).to_vector(), (List<int>{1, 2, 4}));
  EXPECT_EQ(I(nax::delete_(x, list)).to_vector(), (List<int>{1, 2, 4}));
  EXPECT_EQ(I(nax::delete_(x, x > 2)).to_vector(), (List<int>{0, 1, 2}));
  EXPECT_EQ(I(nax::insert(x, mask, 9)).to_vector(), (List<int>{9, 0, 1, 2, 9, 3, 4}));
  EXPECT_EQ(I(nax::insert(x, list, I{8, 9})).to_vector(), (List<int>{8, 0, 1, 2, 9, 3, 4}));
  EXPECT_EQ(refusal<ValueError>([&] {
              nax::delete_(x, nax::Array<bool>{true, false});
            }),
            "delete: the mask of shape (2,) must be 1-d and of the extent 5 of axis 0");
}

// Takes time in proportion to the places and the slices, not to their product.
TEST(Insert, ManyPlaces) {
  const std::int64_t n = 300000;
  const I x = arange<int>(static_cast<int>(n));
  const I y = nax::insert(x, nax::arange<std::int64_t>(n), x);
  EXPECT_EQ(y.size(), 2 * n);
  EXPECT_EQ(y(2 * n - 3).item(), n - 2);
}

TEST(Insert, NegativePlaces) {
  const I x = arange<int>(5);
  const auto at = [&](const List<int>& places, const I& values) {
    return I(nax::insert(x, places, values)).to_vector();
  };
  EXPECT_EQ(at({-1, -2}, I{10, 20}), (List<int>{0, 1, 2, 20, 3, 10, 4}));
  EXPECT_EQ(at({1, -1, -5}, I{10, 20, 30}), (List<int>{30, 0, 10, 1, 2, 3, 20, 4}));
  EXPECT_EQ(at({3, 1, 3}, I{10, 20, 30}), (List<int>{0, 20, 1, 2, 10, 30, 3, 4}));
  EXPECT_EQ(at({5, -1}, I{10, 20}), (List<int>{0, 1, 2, 3, 20, 4, 10}));
  EXPECT_EQ(at({-1}, I{10, 20}), (List<int>{0, 1, 2, 3, 10, 20, 4}));
  EXPECT_EQ(I(nax::insert(x, -1, 7)).to_vector(), (List<int>{0, 1, 2, 3, 7, 4}));
  EXPECT_EQ(I(nax::insert(x, 5, 7)).to_vector(), (List<int>{0, 1, 2, 3, 4, 7}));
  EXPECT_EQ(refusal<IndexError>([&] { nax::insert(x, -6, 7); }),
            "insert: index -6 is out of bounds for axis 0 with size 5");
  EXPECT_EQ(refusal<IndexError>([&] {
              nax::insert(x, List<int>{0, 6}, 7);
            }),
            "insert: index 6 is out of bounds for axis 0 with size 5");
}

TEST(Nonzero, RefusesArraysWithoutAxes) {
  EXPECT_EQ(refusal([] { nonzero(I(3)); }),
            "nonzero: a 0-d array has no axes: use atleast_1d, or item() for its value");
  EXPECT_EQ(refusal([] { where(Array<bool>(true)); }),
            "where: a 0-d array has no axes: use atleast_1d, or item() for its value");
  EXPECT_EQ(argwhere(I(3)).shape(), (Shape{1, 0}));
  EXPECT_EQ(flatnonzero(I(3)).to_vector(), (List<int>{0}));
}

TEST(Masks, AnExtentOfZeroChoosesNothing) {
  const auto mask = [](const Shape& shape) { return zeros<bool>(shape); };
  const D line = {1, 2, 3}, rows = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(D(line(mask({0}))).shape(), (Shape{0}));
  EXPECT_EQ(D(rows(mask({0}))).shape(), (Shape{0, 2}));
  EXPECT_EQ(D(rows(mask({3, 0}))).shape(), (Shape{0}));
  EXPECT_EQ(D(rows(_, mask({0}))).shape(), (Shape{3, 0}));
  EXPECT_EQ(D(line.at(mask({0})).set(7.)).to_vector(), line.to_vector());
  EXPECT_EQ(refusal<IndexError>([&] {
              rows(mask({2, 0}));
            }),
            "index: boolean index did not match indexed array along axis 0; size of axis is 3 but size of "
            "corresponding boolean axis is 2");
}

TEST(Sets, OfComplexNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const C x = {Z(1, 1), Z(2), Z(0, 1), Z(nan, 0), Z(1, nan)}, tests = {Z(0, 1), Z(2, -0.), Z(1, nan)};
  EXPECT_EQ(isin(x, tests).to_vector(), (List<bool>{false, true, true, false, false}));
  EXPECT_EQ(isin(x, tests, {.invert = true}).to_vector(), (List<bool>{true, false, false, true, true}));
  EXPECT_EQ(isin(x, C(zeros<Z>({0}))).to_vector(), List<bool>(5, false));
  EXPECT_EQ(isin(D{1, 2}, tests).to_vector(), (List<bool>{false, true}));
  const C less = setdiff1d(x, C{Z(0, 1)});
  EXPECT_EQ(C(less(slice(2))).to_vector(), (List<Z>{Z(1, 1), Z(2)}));
  EXPECT_EQ(less.size(), 3);  // and one NaN for all
  EXPECT_EQ(C(intersect1d(x, C{Z(0, 1), Z(1, 1), Z(5)})).to_vector(), (List<Z>{Z(0, 1), Z(1, 1)}));
  EXPECT_EQ(C(setxor1d(C{Z(1), Z(0, 1)}, C{Z(0, 1), Z(3)})).to_vector(), (List<Z>{Z(1), Z(3)}));
  const auto both = intersect1d_indices(C{Z(3), Z(1), Z(3)}, C{Z(3)});
  EXPECT_EQ(both.values.to_vector(), (List<Z>{Z(3)}));
  EXPECT_EQ(both.ar1_indices.to_vector(), (List<int>{0}));
  // Under vmap, and where x is differentiated.
  const auto found = vmap([&](const C& row) { return isin(row, tests); })(reshape(x(slice(4)), {2, 2}));
  EXPECT_EQ(found.to_vector(), (List<bool>{false, true, true, false}));
}

}  // namespace numbers
