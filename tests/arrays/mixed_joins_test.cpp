// Joins of arrays of different element types, in a tuple: values and types are NumPy's, as the types promote;
// gradients return to each array in its own type.

#include <gtest/gtest.h>

#include <complex>
#include <tuple>
#include <type_traits>
#include <vector>

#include "nax/linalg/products.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vmap.hpp"
#include "support/refusal.hpp"

namespace mixed_joins_test {

using nax::Array;
using nax::Shape;
using std::tuple;

template <class T>
void expect(const Array<T>& got, const Array<T>& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_EQ(nax::copy(got.reshape({-1})).to_vector(), want.reshape({-1}).to_vector());
}

const Array<int> i{1, 2};
const Array<float> f{.5f, 3};
const Array<double> d{-1.25, 1e300};

TEST(MixedJoins, PromoteTheirTypes) {
  expect(nax::concatenate(tuple{i, f}), Array<float>{1, 2, .5f, 3});
  expect(nax::concatenate(tuple{f, i, d}), Array<double>{.5, 3, 1, 2, -1.25, 1e300});
  expect(nax::concat(tuple{i, i}), Array<int>{1, 2, 1, 2});
  expect(nax::concatenate(tuple{Array<bool>{true}, Array<std::int8_t>{-3}, Array<std::uint8_t>{200}}),
         Array<std::int16_t>{1, -3, 200});
  expect(nax::concatenate(tuple{i, Array<std::complex<float>>{std::complex<float>(0, 1)}}),
         Array<std::complex<float>>{1, 2, std::complex<float>(0, 1)});
  const Array<int> rows{{1, 2}, {3, 4}};
  expect(nax::concatenate(tuple{rows, rows * .5f}, {.axis = 1}),
         Array<float>{{1, 2, .5f, 1}, {3, 4, 1.5f, 2}});
  expect(nax::concatenate(tuple{rows, f}, {.axis = nax::none}), Array<float>{1, 2, 3, 4, .5f, 3});
}

TEST(MixedJoins, StackAndItsKin) {
  expect(nax::stack(tuple{i, f}), Array<float>{{1, 2}, {.5f, 3}});
  expect(nax::stack(tuple{i, f}, {.axis = -1}), Array<float>{{1, .5f}, {2, 3}});
  expect(nax::stack(tuple{nax::sum(i), nax::sum(f)}), Array<float>{3, 3.5f});
  expect(nax::vstack(tuple{i, d}), Array<double>{{1, 2}, {-1.25, 1e300}});
  expect(nax::hstack(tuple{i, f}), Array<float>{1, 2, .5f, 3});
  expect(nax::dstack(tuple{i, f}), Array<float>{1, .5f, 2, 3}.reshape({1, 2, 2}));
  expect(nax::column_stack(tuple{i, f}), Array<float>{{1, .5f}, {2, 3}});
  expect(nax::linalg::multi_dot(tuple{i, Array<double>{{1, 2}, {3, 4}}, i}), Array<double>(27.));
}

TEST(MixedJoins, PassGradients) {
  const auto loss = [](const Array<float>& x, const Array<double>& y) {
    const auto all = nax::concatenate(tuple{x, i, y});
    static_assert(std::is_same_v<decltype(all), const Array<double>>);
    return Array<double>(nax::sum(all * all));
  };
  const auto both = nax::grad<0, 1>(loss);
  const auto [gx, gy] = both(f, Array<double>{-1.25, 4});
  expect(gx, Array<float>{1, 6});
  expect(gy, Array<double>{-2.5, 8});
  const auto fast = nax::jit(both);
  for (int turn = 0; turn < 3; ++turn) {
    const auto [jx, jy] = fast(f, Array<double>{-1.25, 4});
    expect(jx, gx), expect(jy, gy);
  }
  const Array<float> many{{1, 2}, {3, 4}, {5, 6}};
  expect(nax::vmap([](const Array<float>& x) {
           return Array<float>(nax::hstack(tuple{i, x}));
         })(many),
         Array<float>{{1, 2, 1, 2}, {1, 2, 3, 4}, {1, 2, 5, 6}});
}

TEST(MixedJoins, RefuseShapesAsListsDo) {
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              nax::stack(tuple{i, Array<float>{1}});
            }),
            "stack: all input arrays must have the same shape: (2,) at 0, (1,) at 1");
}

}  // namespace mixed_joins_test
