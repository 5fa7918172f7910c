#include <gtest/gtest.h>

#include "nax/numpy/constants.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/grids/open_grids.hpp"
#include "nax/numpy/manipulation/block.hpp"
#include "nax/numpy/manipulation/pack_bits.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "nax/numpy/products/einsum_path.hpp"
#include "nax/numpy/sequences/gradient.hpp"
#include "nax/numpy/updates/replace.hpp"
#include "nax/transform/apply_along_axis.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vectorize.hpp"
#include "support/refusal.hpp"
#include "support/text_of.hpp"

// Types, corner cases and errors of functions whose values tests/table checks.
namespace numpy_names_test {

using nax::Array;
using nax::Shape;
using nax::slice;
using Floats = std::vector<float>;
using Ints = std::vector<int>;

TEST(Grids, OpenOnes) {
  const Array<float> x = nax::arange<float>(12).reshape({3, 4});
  const auto [i, j] = nax::ix_(Ints{0, 2}, Array<bool>{true, false, false, true});
  EXPECT_EQ(x(i, j).to_vector(), Floats({0, 3, 8, 11}));
  EXPECT_EQ(nax::ix_(std::vector<bool>{false, true}, Ints{3})[0].item(), 1);
  EXPECT_EQ(x(nax::tril_indices_from(x)[0], nax::tril_indices_from(x)[1]).to_vector(),
            Floats({0, 4, 5, 8, 9, 10}));
  EXPECT_EQ(nax::triu_indices_from(x, {.k = 2})[1].to_vector(), Ints({2, 3, 3}));
  EXPECT_EQ(nax::diag_indices_from(nax::ones({3, 3, 3})).size(), 3U);
  EXPECT_EQ(nax::sparse_indices({2, 3})[1].shape(), Shape({1, 3}));
  EXPECT_EQ(nax::ogrid(slice(2), slice(1, 7, 2))[1].to_vector(), Ints({1, 3, 5}));
  EXPECT_EQ(nax::indices({0, 2}).shape(), Shape({2, 0, 2}));
  EXPECT_EQ(nax::ravel_multi_index({1, 2}, {3, 4}).item(), 6);
  EXPECT_EQ(nax::unravel_index(7, {3, 4})[1].item(), 3);
  EXPECT_EQ(nax::ravel_multi_index<std::int64_t>({1LL << 20, 5LL}, {1LL << 21, 1LL << 21}).item(),
            (1LL << 41) + 5);
  EXPECT_EQ(nax::r_(Array<int>{1, 2}, 7, slice(0, 2)).to_vector(), Ints({1, 2, 7, 0, 1}));
  EXPECT_EQ(nax::c_(Array<float>{1, 2}, Array<int>{3, 4}).to_vector(), Floats({1, 3, 2, 4}));
  EXPECT_EQ(refusal([] {
              nax::ravel_multi_index({3, 0}, {3, 4});
            }),
            "ravel_multi_index: index 3 is out of bounds for size 3");
  EXPECT_EQ(refusal([] {
              nax::ravel_multi_index({-1, 0}, {3, 4});
            }),
            "ravel_multi_index: index -1 is out of bounds for size 3");
  EXPECT_EQ(refusal([] {
              nax::unravel_index(Array<std::uint8_t>{1, 13, 99}, {3, 4});
            }),
            "unravel_index: index 13 is out of bounds for size 12");
  EXPECT_EQ(refusal([] {
              nax::ravel_multi_index({1, 0}, {1 << 20, 1 << 20});
            }),
            "ravel_multi_index: int32 does not hold indices up to 1099511627775");
  EXPECT_EQ(
      refusal([] {
        nax::ravel_multi_index({1}, {3, 4});
      }),
      "ravel_multi_index: the number of index arrays, 1, must be that of the dimensions (3, 4), and not 0");
  EXPECT_EQ(refusal([] {
              nax::unravel_index(12, {3, 4});
            }),
            "unravel_index: index 12 is out of bounds for size 12");
  EXPECT_EQ(refusal([] { nax::ix_(Array<int>{{1}}); }), "ix_: each argument must be 1-d, shape (1, 1)");
  EXPECT_EQ(refusal([] {
              nax::diag_indices_from(nax::ones({2, 3}));
            }),
            "diag_indices_from: all dimensions of input must be of equal length, shape (2, 3)");
  EXPECT_EQ(refusal([] { nax::mgrid(slice(nax::none)); }), "mgrid: a slice must have an end");
  EXPECT_EQ(refusal([] {
              nax::fromfunction([](const auto& i) { return i; }, {2, 3});
            }),
            "fromfunction: the function takes 1 indices, shape (2, 3)");
  EXPECT_EQ(nax::fromfunction([](const auto&, const auto&) { return 3.f; }, {2, 2}).shape(), Shape({2, 2}));
}

TEST(Replacing, Corners) {
  const Array<float> x = {1, 2, 3};
  EXPECT_EQ(nax::put(x, 1, 9).to_vector(), Floats({1, 9, 3}));
  EXPECT_EQ(nax::put(x, Ints{0, 0}, std::vector<float>{8, 9}).to_vector(), Floats({9, 2, 3}));
  EXPECT_EQ(nax::put(x, Ints{}, 9).to_vector(), x.to_vector());
  EXPECT_EQ(nax::place(x, x > 1, std::vector<int>{7}).to_vector(), Floats({1, 7, 7}));
  EXPECT_EQ(nax::place(Array<int>{1, 2, 3, 4}, Array<int>{1, 0, 5, 1}, Ints{7, 8}).to_vector(),
            Ints({7, 2, 8, 7}));
  EXPECT_EQ(nax::fill_diagonal(nax::zeros<int>({2, 2}), 5).to_vector(), Ints({5, 0, 0, 5}));
  EXPECT_EQ(nax::select({x<2, x> 2}, {10, 20}).to_vector(), Ints({10, 0, 20}));
  EXPECT_EQ(nax::select({x<2, x> 2}, {x, x * 2}, {.default_ = -1}).to_vector(), Floats({1, -1, 6}));
  EXPECT_EQ(nax::piecewise(Array<int>{-1, 2}, {Array<int>{-1, 2} < 0}, {1, 2.9}).to_vector(), Ints({1, 2}));
  EXPECT_THROW(nax::put(x, 3, 9), nax::IndexError);
  EXPECT_EQ(refusal([&] { nax::place(x, x > 0, nax::zeros({0})); }),
            "place: cannot insert from an empty array");
  EXPECT_EQ(text_of<nax::ShapeError>([&] { nax::place(x, Array<bool>{true}, 1.f); }),
            "place: mask and data must be the same size: (1,) and (3,)");
  EXPECT_EQ(refusal([&] { nax::fill_diagonal(x, 1); }),
            "fill_diagonal: array must be at least 2-d, shape (3,)");
  EXPECT_EQ(refusal([] {
              nax::fill_diagonal(nax::ones({2, 2, 3}), 1);
            }),
            "fill_diagonal: all dimensions of input must be of equal length, shape (2, 2, 3)");
  EXPECT_EQ(refusal([&] { nax::piecewise(x, {x<0, x> 1}, {1}); }),
            "piecewise: with 2 condition(s), either 2 or 3 functions are expected, got 1");
}

TEST(Padding, OfOtherTypes) {
  const Array<int> x = {1, 2, 5, 9};
  EXPECT_EQ(nax::pad(x, {3, 4}, {.mode = "linear_ramp", .end_values = {-4, 20}}).to_vector(),
            Ints({-4, -3, -1, 1, 2, 5, 9, 11, 14, 17, 20}));
  EXPECT_EQ(nax::pad(x, {1, 2}, {.mode = "mean", .stat_length = 2}).to_vector(), Ints({2, 1, 2, 5, 9, 7, 7}));
  EXPECT_EQ(nax::pad(x, {2, 0}, {.mode = "reflect", .reflect_type = "odd"}).to_vector(),
            Ints({-3, 0, 1, 2, 5, 9}));
  EXPECT_EQ(nax::pad(Array<bool>{true}, 1).to_vector(), std::vector<bool>({false, true, false}));
  EXPECT_EQ(nax::pad(Array<float>(3.f), 2).item(), 3.f);
  EXPECT_EQ(nax::pad(nax::zeros({0}), 2, {.constant_values = 1}).to_vector(), Floats({1, 1, 1, 1}));
  const auto with = [&](const char* mode, const char* type = "even") {
    return refusal([&] { nax::pad(nax::zeros({0}), 2, {.mode = mode, .reflect_type = type}); });
  };
  EXPECT_EQ(with("mean"), "pad: can't extend empty axis 0 using modes other than 'constant' or 'empty'");
  EXPECT_EQ(with("mirror"), "pad: mode 'mirror' is not supported");
  EXPECT_EQ(with("reflect", "strange"), "pad: reflect_type must be 'even' or 'odd', not 'strange'");
  EXPECT_EQ(refusal([&] { nax::pad(x, 2, {.mode = "mean", .stat_length = 0}); }),
            "pad: stat_length of 0 yields no value for padding with mode 'mean'");
  EXPECT_EQ(refusal([&] {
              nax::pad(x, 1, {.constant_values = {1, 2, 3}});
            }),
            "pad: values must be a number or pairs (before, after), not of shape (3,)");
}

TEST(Gradient, Refusals) {
  const Array<float> x = {1, 2, 4};
  EXPECT_EQ(nax::gradient(Array<int>{1, 2, 4})[0].to_vector(), Floats({1, 1.5, 2}));
  EXPECT_EQ(nax::gradient(Array<float>(1.f)).size(), 0U);
  EXPECT_EQ(nax::gradient(nax::ones({2, 3, 4}), {.axis = {0, -1}}).size(), 2U);
  EXPECT_EQ(nax::gradient(nax::ones({2, 2, 2}), 1., 2, 3.f).size(), 3U);
  EXPECT_EQ(refusal([&] { nax::gradient(x, {.edge_order = 3}); }),
            "gradient: 'edge_order' greater than 2 not supported, got 3");
  EXPECT_EQ(refusal([&] { nax::gradient(nax::ones({2}), {.edge_order = 2}); }),
            "gradient: shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
            "elements "
            "are required, shape (2,)");
  EXPECT_EQ(text_of<nax::TypeError>([&] { nax::gradient(x, 1, 2); }),
            "gradient: invalid number of arguments: 2 spacings for 1 axes");
  EXPECT_EQ(
      text_of<nax::ShapeError>([&] {
        nax::gradient(x, Array<float>{1, 2});
      }),
      "gradient: coordinates must be numbers or 1-d and as long as axis 0: (2,) for an array of shape (3,)");
}

TEST(Blocks, OfVectors) {
  const Array<float> x = {1, 2};
  const std::vector<Array<float>> row = {x, x};
  EXPECT_EQ(nax::block(row).shape(), Shape({4}));
  EXPECT_EQ(nax::block(std::vector{row, row, row}).shape(), Shape({3, 4}));
  EXPECT_EQ(nax::block(std::vector<std::vector<std::vector<Array<float>>>>{{row}, {row}}).shape(),
            Shape({2, 1, 4}));
  EXPECT_EQ(nax::block({{x, x * 2}, {x, x}}).to_vector(), Floats({1, 2, 2, 4, 1, 2, 1, 2}));
  EXPECT_THROW(nax::block({{x, x}, {x}}), nax::ShapeError);
  EXPECT_EQ(refusal([] { nax::block(std::vector<Array<float>>{}); }), "block: lists must not be empty");
  EXPECT_EQ(text_of<nax::IndexError>([&] { nax::rollaxis(x, 0, {.start = 2}); }),
            "rollaxis: start 2 is out of bounds for array of dimension 1");
}

TEST(Vectorize, SizesOfResults) {
  const auto first_two = [](const Array<float>& a) { return Array<float>(a(nax::slice(nax::none, 2))); };
  const Array<float> x = nax::ones({4, 3});
  EXPECT_EQ(nax::vectorize(first_two, {.signature = "(n)->(k)"})(x).shape(), Shape({4, 2}));
  EXPECT_EQ(nax::vectorize(first_two, {.signature = "(n)->(n)"})(nax::ones({4, 2})).shape(), Shape({4, 2}));
  EXPECT_EQ(nax::vectorize(first_two, {.signature = "(n)->(2)"})(x).shape(), Shape({4, 2}));
  EXPECT_EQ(text_of<nax::ShapeError>([&] { nax::vectorize(first_two, {.signature = "(n)->(n)"})(x); }),
            "vectorize: output 0 has shape (2,) but core dimension 'n', axis 0 of it, has size 3");
  EXPECT_EQ(text_of<nax::ShapeError>([&] { nax::vectorize(first_two, {.signature = "(n)->(5)"})(x); }),
            "vectorize: output 0 has shape (2,) but core dimension '5', axis 0 of it, has size 5");
  const auto both = [&](const Array<float>& a) { return std::pair{first_two(a), a}; };
  EXPECT_EQ(nax::vectorize(both, {.signature = "(n)->(k),(n)"})(x).second.shape(), Shape({4, 3}));
  EXPECT_EQ(text_of<nax::ShapeError>([&] { nax::vectorize(both, {.signature = "(n)->(k),(k)"})(x); }),
            "vectorize: output 1 has shape (3,) but core dimension 'k', axis 0 of it, has size 2");
  const auto g = nax::grad([&](const Array<float>& a) {
    return nax::sum(nax::jit(nax::vectorize(first_two, {.signature = "(n)->(k)"}))(a));
  })(x);
  EXPECT_EQ(nax::sum(g).item(), 8);
}

TEST(Vectorize, Signatures) {
  const auto dot = nax::vectorize([](const auto& a, const auto& b) { return nax::sum(a * b); },
                                  {.signature = "(n),(n)->()"});
  const Array<float> x = {{1, 2, 3}, {4, 5, 6}}, v = {1, 0, 2};
  EXPECT_EQ(dot(x, v).to_vector(), Floats({7, 16}));
  EXPECT_EQ(dot(v, v).shape(), Shape());
  EXPECT_EQ(dot(nax::ones({3, 1, 4}), nax::ones({2, 4})).shape(), Shape({3, 2}));
  EXPECT_EQ(dot(nax::ones({0, 4}), nax::ones({4})).shape(), Shape({0}));
  const auto parts = nax::vectorize(
      [](const Array<float>& a) {
        return std::pair{a * 2, nax::sum(a)};
      },
      {.signature = "(n)->(n),()"});
  EXPECT_EQ(parts(x).second.to_vector(), Floats({6, 15}));
  const auto scaled =
      nax::vectorize([](const auto& a, const auto& list) { return a * nax::sum(list); }, {.excluded = {1}});
  EXPECT_EQ(scaled(x, v).shape(), Shape({2, 3}));
  EXPECT_EQ(nax::vectorize([](const auto& a) { return a + 1; })(2.f).item(), 3.f);
  EXPECT_EQ(refusal([&] { dot(x, nax::ones({4})); }),
            "vectorize: inconsistent size for core dimension 'n': 4 against 3");
  EXPECT_EQ(refusal([&] { dot(x, 1.f); }), "vectorize: argument 1 has shape () but 1 core dimension(s)");
  EXPECT_EQ(refusal([] {
              nax::vectorize([](const Array<float>& a) { return a; },
                             {.signature = "(n)->()"})(nax::ones({3}));
            }),
            "vectorize: output 0 has shape (3,) but the signature gives it 0 core dimension(s)");
  for (const char* wrong : {"", "n->n", "(n", "(n)->(n),", "(,n)->()", "(n)(m)->()"})
    if (*wrong) {
      EXPECT_EQ(
          refusal([&] { nax::vectorize([](const Array<float>& a) { return a; }, {.signature = wrong}); }),
          std::string("vectorize: not a valid gufunc signature: ") + wrong);
    }
  EXPECT_EQ(
      nax::apply_along_axis([](const auto& line) { return nax::sum(line); }, -1, nax::ones({0, 3})).shape(),
      Shape({0}));
}

TEST(Einsum, Path) {
  const auto a = nax::ones({2, 30}), b = nax::ones({30, 40}), c = nax::ones({40, 3});
  const auto plan = nax::einsum_path("ij,jk,kl->il", a, b, c);
  EXPECT_EQ(plan.path, (std::vector<std::vector<int>>{{0, 1}, {0, 1}}));
  EXPECT_EQ(plan.flops, 2 * 2 * 30 * 40 + 2 * 2 * 40 * 3);
  EXPECT_EQ(plan.naive_flops, 3. * 2 * 30 * 40 * 3);
  EXPECT_EQ(plan.largest_intermediate, 80);
  EXPECT_EQ(plan.text().substr(0, 33), "['einsum_path', (0, 1), (0, 1)]\n ");
  EXPECT_EQ(nax::einsum_path("ii->i", nax::ones({3, 3})).path, (std::vector<std::vector<int>>{{0}}));
  EXPECT_EQ(nax::einsum_path("...i,...i", nax::ones({5, 3}), nax::ones({3})).largest_intermediate, 5);
  EXPECT_EQ(refusal([&] { nax::einsum_path("ij,jk", a, a); }),
            "einsum_path: operand 1 of shape (2, 30) does not fit another operand, subscripts 'ij,jk'");
}

TEST(Constants, AreWeak) {
  static_assert(std::is_same_v<decltype(Array<float>{1} * nax::pi)::value_type, float>);
  EXPECT_FLOAT_EQ(Array<float>(Array<float>{2} * nax::e + nax::euler_gamma).item(), 6.0137794f);
  EXPECT_GT(nax::inf, 1e308);
  EXPECT_TRUE(nax::nan != nax::nan);
}

}  // namespace numpy_names_test
