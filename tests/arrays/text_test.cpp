#include <gtest/gtest.h>

#include <list>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/array_text.hpp"
#include "nax/transform/vmap.hpp"
#include "support/refusal.hpp"

// repr() and array2string() against NumPy 2; arrays from text and bytes.
namespace text_test {

using nax::Array;

TEST(ArrayText, Repr) {
  EXPECT_EQ(nax::array_repr(Array<float>{1, 2.5}), "array([1. , 2.5], dtype=float32)");
  EXPECT_EQ(nax::array_repr(Array<double>{1, 2}), "array([1., 2.])");
  EXPECT_EQ(nax::array_repr(Array<std::int64_t>{{1, -20}, {3, 4}}),
            "array([[  1, -20],\n       [  3,   4]])");
  EXPECT_EQ(nax::array_repr(Array<bool>{true, false}), "array([ True, False])");
  EXPECT_EQ(nax::array_repr(Array<bool>(true)), "array(True)");
  EXPECT_EQ(nax::array_repr(Array<float>(1.5f)), "array(1.5, dtype=float32)");
  EXPECT_EQ(nax::array_repr(nax::zeros<double>({0})), "array([], dtype=float64)");
  EXPECT_EQ(nax::array_repr(nax::zeros({0, 3})), "array([], shape=(0, 3), dtype=float32)");
  EXPECT_EQ(nax::array_repr(nax::arange<int>(30)),
            "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,\n"
            "       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29], dtype=int32)");
  EXPECT_EQ(nax::array_repr(nax::arange<int>(2000)),
            "array([   0,    1,    2, ..., 1997, 1998, 1999],\n      shape=(2000,), dtype=int32)");
  EXPECT_EQ(nax::array_repr(nax::ones<double>({2, 1, 2})), "array([[[1., 1.]],\n\n       [[1., 1.]]])");
  EXPECT_EQ(nax::array_repr(Array<std::complex<double>>{std::complex<double>(1, -2)}), "array([1.-2.j])");
  EXPECT_EQ(nax::array_repr(nax::arange<double>(4) + 0.123, {.max_line_width = 20, .precision = 2}),
            "array([0.12, 1.12,\n       2.12, 3.12])");
  EXPECT_EQ(nax::array_str(Array<float>{1.23456f, 2}, {.precision = 2}), "[1.23 2.  ]");
  EXPECT_EQ(nax::array_str(Array<double>{1e-9, 1}, {.suppress_small = true}), "[0. 1.]");
}

TEST(ArrayText, ToString) {
  const Array<int> x = {{1, 2}, {3, 40}};
  EXPECT_EQ(nax::array2string(x, {.separator = ", "}), "[[ 1,  2],\n [ 3, 40]]");
  EXPECT_EQ(nax::array2string(x, {.separator = ",", .prefix = "x = "}), "[[ 1, 2],\n     [ 3,40]]");
  EXPECT_EQ(
      nax::array2string(x * 2, {.formatter = [](const int& i) { return "<" + std::to_string(i) + ">"; }}),
      "[[<2> <4>]\n [<6> <80>]]");
  EXPECT_EQ(nax::array2string(nax::arange<int>(10), {.threshold = 5, .edgeitems = 2}), "[0 1 ... 8 9]");
  EXPECT_EQ(nax::array2string(x.T()), "[[ 1  3]\n [ 2 40]]");
  EXPECT_EQ(nax::array2string(Array<float>(2.f)), "2.");
  EXPECT_EQ(nax::array2string(nax::zeros({0})), "[]");
  EXPECT_EQ(
      refusal([] {
        nax::vmap([](const Array<float>& r) { return nax::array_repr(r), r; })(nax::ones({2, 3}));
      }),
      "array_repr: the array is batched by vmap and has no single value here; return it from the mapped "
      "function instead");
}

TEST(ArrayText, FromString) {
  EXPECT_EQ(nax::fromstring<int>("1, 2,3", {.sep = ","}).to_vector(), std::vector<int>({1, 2, 3}));
  EXPECT_EQ(nax::fromstring("1  2.5\n-3e2 ", {.sep = " "}).to_vector(), std::vector<float>({1, 2.5, -300}));
  EXPECT_EQ(nax::fromstring("1 2 3", {.count = 2, .sep = " "}).size(), 2);
  EXPECT_EQ(nax::fromstring<std::uint64_t>("18446744073709551615", {.sep = " "}).item(), UINT64_MAX);
  EXPECT_EQ(nax::fromstring<double>("", {.sep = " "}).size(), 0);
  EXPECT_EQ(refusal([] { nax::fromstring("1 x", {.sep = " "}); }),
            "fromstring: string or file could not be read to its end due to unmatched data: 'x'");
  EXPECT_EQ(refusal([] { nax::fromstring("1 2", {.sep = ","}); }),
            "fromstring: string or file could not be read to its end due to unmatched data: '2'");
  EXPECT_EQ(refusal([] { nax::fromstring("12"); }),
            "fromstring: `sep` must be given; bytes are read by frombuffer and fromfile");
}

TEST(ArrayText, FromBuffer) {
  const std::vector<std::uint8_t> bytes = {1, 0, 2, 0, 3, 0};
  EXPECT_EQ(nax::frombuffer<std::uint16_t>(bytes).to_vector(), std::vector<std::uint16_t>({1, 2, 3}));
  EXPECT_EQ(nax::frombuffer<std::uint16_t>(bytes, {.count = 1, .offset = 2}).item(), 2);
  EXPECT_EQ(nax::frombuffer<std::uint8_t>(std::string("az")).to_vector(),
            std::vector<std::uint8_t>({97, 122}));
  EXPECT_EQ(nax::frombuffer<bool>(bytes).to_vector(),
            std::vector<bool>({true, false, true, false, true, false}));
  EXPECT_EQ(refusal([&] { nax::frombuffer<float>(bytes); }),
            "frombuffer: buffer size must be a multiple of element size: 6 bytes, elements of 4");
  EXPECT_EQ(refusal([&] { nax::frombuffer<float>(bytes, {.count = 2}); }),
            "frombuffer: buffer is smaller than requested size: 6 bytes for 2 elements of 4");
  EXPECT_EQ(refusal([&] { nax::frombuffer<float>(bytes, {.offset = 7}); }),
            "frombuffer: offset must be non-negative and no greater than buffer length (6)");
}

TEST(ArrayText, FromIter) {
  EXPECT_EQ(nax::fromiter(std::list<int>{1, 2, 3}).to_vector(), std::vector<int>({1, 2, 3}));
  EXPECT_EQ(nax::fromiter<double>(std::list<int>{1, 2, 3}, {.count = 2}).to_vector(),
            std::vector<double>({1, 2}));
  EXPECT_EQ(refusal([] { nax::fromiter(std::list<int>{1}, {.count = 2}); }),
            "fromiter: iterator too short: expected 2 but iterator had only 1 items");
}

}  // namespace text_test
