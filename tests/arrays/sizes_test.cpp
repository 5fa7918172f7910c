#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/edit.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/random/choice.hpp"
#include "nax/random/uniform.hpp"
#include "support/refusal.hpp"

// Impossible sizes throw an error that names the function before anything is allocated or read, even if their
// product overflows.
namespace sizes_test {

using nax::Array;
using nax::Shape;
using nax::slice;

constexpr std::int64_t huge = std::int64_t{1} << 62, large = std::int64_t{1} << 31;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       highest = std::numeric_limits<std::int64_t>::max();

template <class F>
void expect_too_big(const std::string& function, const std::string& shape, const F& f) {
  EXPECT_EQ(refusal(f),
            function + ": array is too big: shape " + shape + " has more than 576460752303423487 elements");
}

TEST(Sizes, OfNewArrays) {
  expect_too_big("zeros", "(4611686018427387904,)", [] { nax::zeros<float>({huge}); });
  expect_too_big("zeros", "(2147483648, 2147483648, 4)", [] { nax::zeros({large, large, 4}); });
  expect_too_big("ones", "(4294967296, 4294967296)", [] { nax::ones<bool>({2 * large, 2 * large}); });
  // Extents are checked even beside an extent of 0: later code may multiply them without it.
  expect_too_big("empty", "(2147483648, 2147483648, 2147483648, 0)", [] {
    nax::empty({large, large, large, 0});
  });
  expect_too_big("full", "(0, 4611686018427387904, 2)", [] { nax::full({0, huge, 2}, 1.f); });
  // Small enough for bytes, too large for elements of 16 bytes.
  expect_too_big("zeros", "(576460752303423488,)",
                 [] { nax::zeros<std::complex<double>>({std::int64_t{1} << 59}); });
  expect_too_big("eye", "(4294967296, 4294967296)", [] { nax::eye(2 * large); });
  expect_too_big("tri", "(4294967296, 4294967296)", [] { nax::tri(2 * large); });
  expect_too_big("linspace", "(4611686018427387904,)", [] { nax::linspace(0, 1, huge); });
  expect_too_big("asarray", "(4611686018427387904, 4)", [] {
    const float x = 0;
    nax::asarray(&x, {huge, 4});
  });
  expect_too_big("array", "(4294967296, 4294967296, 4)", [] {
    nax::array(std::vector<float>(), {2 * large, 2 * large, 4});
  });
  EXPECT_EQ(refusal([] {
              nax::zeros({2, -3});
            }),
            "zeros: negative dimensions are not allowed, shape (2, -3)");
  EXPECT_EQ(refusal([] { nax::zeros({std::uint64_t{1} << 63}); }),
            "zeros: negative dimensions are not allowed, shape (-9223372036854775808,)");
  // A valid shape that exceeds the memory.
  EXPECT_THROW(nax::zeros<std::complex<double>>({1 << 20, 1 << 20, 1 << 18}), nax::Error);
  EXPECT_EQ(nax::zeros({0, large, 4}).size(), 0);
  EXPECT_THROW(Shape({huge, 4}).count(), nax::ValueError);
}

TEST(Sizes, OfDraws) {
  const auto key = nax::random::key(0);
  expect_too_big("uniform", "(2147483648, 2147483648, 4)", [&] {
    nax::random::uniform(key, {large, large, 4});
  });
  expect_too_big("split", "(4611686018427387904,)", [&] { nax::random::split(key, {huge}); });
  expect_too_big("choice", "(4611686018427387904, 4)", [&] { nax::random::choice(key, 5, {huge, 4}); });
  EXPECT_EQ(refusal([&] { nax::random::uniform(key, {-1}); }),
            "uniform: negative dimensions are not allowed, shape (-1,)");
}

TEST(Sizes, OfReshapedArrays) {
  const Array<float> pair = {1, 2};
  expect_too_big("reshape", "(3, 6148914691236517206)", [&] { pair.reshape({3, 6148914691236517206}); });
  expect_too_big("reshape", "(4611686018427387904, 4, 1)", [&] { pair.reshape({huge, 4, -1}); });
  EXPECT_THROW(pair.reshape({huge, -1}), nax::ValueError);
  EXPECT_THROW(pair.reshape({large, -1}), nax::ShapeError);
  EXPECT_THROW(pair.reshape({lowest, 2}), nax::ShapeError);
}

TEST(Sizes, OfRepetitions) {
  const Array<float> pair = {1, 2};
  expect_too_big("tile", "(9223372036854775807,)", [&] { nax::tile(pair, {huge}); });
  expect_too_big("tile", "(4294967296, 4294967296, 2)", [&] { nax::tile(pair, {2 * large, 2 * large, 1}); });
  expect_too_big("repeat", "(9223372036854775807,)", [&] { nax::repeat(pair, huge); });
  expect_too_big("repeat", "(9223372036854775807,)", [&] {
    nax::repeat(pair, std::vector<std::int64_t>{huge, huge});
  });
  expect_too_big("broadcast_to", "(4611686018427387904, 2)", [&] { nax::broadcast_to(pair, {huge, 2}); });
  EXPECT_EQ(refusal([] { nax::broadcast_to(Array<float>{1}, {-1}); }),
            "broadcast_to: negative dimensions are not allowed, shape (-1,)");
  EXPECT_THROW(nax::broadcast_to(pair, {-1, 2}), nax::ValueError);
  expect_too_big("resize", "(4611686018427387904,)", [&] { nax::resize(pair, {huge}); });
  EXPECT_EQ(nax::repeat(pair, std::vector<int>{0, 3}).to_vector(), std::vector<float>({2, 2, 2}));
  EXPECT_EQ(nax::repeat(pair, std::vector<int>{2}).to_vector(), std::vector<float>({1, 1, 2, 2}));
  EXPECT_EQ(nax::repeat(pair, std::vector<int>{0, 0}).size(), 0);
  EXPECT_EQ(nax::resize(pair, {3}).to_vector(), std::vector<float>({1, 2, 1}));
}

TEST(Sizes, OfPaddedArrays) {
  const Array<float> pair = {1, 2};
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"}) {
    expect_too_big("pad", "(9223372036854775807,)", [&] { nax::pad(pair, {highest, 1}, {.mode = mode}); });
    expect_too_big("pad", "(4611686018427387906,)", [&] { nax::pad(pair, {huge, 0}, {.mode = mode}); });
  }
  EXPECT_EQ(nax::pad(pair, {2, 1}, {.mode = "wrap"}).to_vector(), std::vector<float>({1, 2, 1, 2, 1}));
}

TEST(Sizes, OfProducts) {
  const Array<float> one = 1.f;
  const Array<float> many = nax::broadcast_to(one, {2 * large});  // no memory behind them
  expect_too_big("outer", "(4294967296, 4294967296)", [&] { nax::outer(many, many); });
  expect_too_big("kron", "(9223372036854775807,)", [&] { nax::kron(many, many); });
  expect_too_big("add", "(4294967296, 4294967296)", [&] { many.reshape({-1, 1}) + many; });
  expect_too_big("broadcast_shapes", "(4294967296, 4294967296)", [&] {
    nax::broadcast_shapes({{2 * large, 1}, {2 * large}});
  });
  expect_too_big("matmul", "(4294967296, 4294967296)", [&] {
    nax::matmul(many.reshape({-1, 1}), many.reshape({1, -1}));
  });
  const Array<float> more = nax::broadcast_to(one, {std::int64_t{1} << 58});
  expect_too_big("concatenate", "(576460752303423488,)", [&] { nax::concatenate({more, more}); });
  expect_too_big("stack", "(2, 288230376151711744)", [&] { nax::stack({more, more}); });
  expect_too_big("diag", "(9223372036854775807, 9223372036854775807)", [&] {
    nax::diag(Array<float>{1, 2}, {.k = lowest});
  });
}

TEST(Sizes, OfRanges) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(nax::arange<float>(0, infinity), nax::ValueError);
  EXPECT_THROW(nax::arange<float>(0, 1, std::nan("")), nax::ValueError);
  EXPECT_THROW(nax::arange(std::nan("")), nax::ValueError);
  EXPECT_THROW(nax::arange<float>(infinity, infinity), nax::ValueError);
  EXPECT_THROW(nax::arange(0, 1, 1e-300), nax::ValueError);
  expect_too_big("arange", "(9223372036854775807,)", [] { nax::arange<std::int64_t>(infinity, 0.0); });
  expect_too_big("arange", "(9223372036854775807,)", [] { nax::arange(highest); });
  expect_too_big("arange", "(9223372036854775807,)", [] { nax::arange(lowest, highest, 1); });
  expect_too_big("arange", "(9223372036854775807,)", [] { nax::arange<std::int64_t>(highest, lowest, -1); });
  // Integers that round to one double.
  EXPECT_EQ(nax::arange<std::int64_t>(huge, huge + 3).to_vector(),
            std::vector<std::int64_t>({huge, huge + 1, huge + 2}));
  EXPECT_EQ(nax::arange<std::int64_t>(lowest, highest, huge).size(), 4);
  EXPECT_EQ(nax::arange<std::int64_t>(highest, lowest, lowest).to_vector(),
            std::vector<std::int64_t>({highest, -1}));
  EXPECT_EQ(nax::arange<int>(-2, 2u).to_vector(), std::vector<int>({-2, -1, 0, 1}));
  EXPECT_EQ(nax::arange<int>(7, 0, -3).to_vector(), std::vector<int>({7, 4, 1}));
  EXPECT_EQ(nax::arange<int>(0, 5, -1).size() + nax::arange<int>(5, 0).size(), 0);
  EXPECT_EQ(nax::arange<float>(0, 1, 0.25).size(), 4);
}

TEST(Sizes, OfStepsAndOffsets) {
  const Array<int> x = nax::arange<int>(5), matrix = nax::arange<int>(6).reshape({2, 3});
  for (const std::int64_t step : {lowest, lowest + 1, std::int64_t{-6}, std::int64_t{-5}}) {
    EXPECT_EQ(x(slice(nax::_, nax::_, step)).to_vector(), std::vector<int>({4})) << step;
    EXPECT_EQ(x(slice(2, nax::_, step)).to_vector(), std::vector<int>({2})) << step;
    EXPECT_EQ(x(slice(0, 4, step)).size(), 0) << step;
  }
  EXPECT_EQ(x(slice(nax::_, nax::_, -4)).to_vector(), std::vector<int>({4, 0}));
  for (const std::int64_t step : {highest, std::int64_t{5}})
    EXPECT_EQ(x(slice(1, nax::_, step)).to_vector(), std::vector<int>({1})) << step;
  EXPECT_EQ(matrix(slice(nax::_, nax::_, highest), slice(nax::_, nax::_, lowest)).to_vector(),
            std::vector<int>({2}));
  EXPECT_EQ(x(slice(lowest, highest, highest)).to_vector(), std::vector<int>({0}));
  EXPECT_EQ(x.at(slice(nax::_, nax::_, lowest)).set(9).to_vector(), std::vector<int>({0, 1, 2, 3, 9}));
  for (const std::int64_t k : {lowest, highest}) {
    EXPECT_EQ(nax::sum(nax::eye<int>(3, {.k = k})).item(), 0);
    EXPECT_EQ(nax::sum(nax::tri<int>(3, {.k = k})).item(), k < 0 ? 0 : 9);
    EXPECT_EQ(nax::diagonal(matrix, {.offset = k}).size(), 0);
    EXPECT_EQ(nax::sum(nax::tril(matrix, {.k = k})).item(), k < 0 ? 0 : 15);
    EXPECT_EQ(nax::roll(x, k).size(), 5);
  }
}

}  // namespace sizes_test
