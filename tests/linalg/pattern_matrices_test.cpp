// SciPy's matrices of a pattern, held against SciPy's own.
#include "linalg/golden_records.hpp"
#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace pattern_matrices_test {
using namespace nax;
using linalg_records::Records;
using D = Array<double>;
namespace la = nax::linalg;

template <class T>
void of_vectors() {
  using R = Records<T>;
  R::each("circulant", {""}, [](const std::string& r) { R::expect(r, la::circulant(R::in(r))); });
  R::each("hankel", {""}, [](const std::string& r) { R::expect(r, la::hankel(R::in(r), R::in(r, 1))); });
  R::each("hankel", {"c"}, [](const std::string& r) { R::expect(r, la::hankel(R::in(r))); });
}
TEST(PatternMatrices, OfVectors) {
  of_vectors<float>();
  of_vectors<double>();
  of_vectors<std::complex<double>>();
  using R = Records<double>;
  R::each("fiedler", {""}, [](const std::string& r) { R::expect(r, la::fiedler(R::in(r))); });
  R::each("leslie", {""}, [](const std::string& r) { R::expect(r, la::leslie(R::in(r), R::in(r, 1))); });
  const std::vector<std::string> sizes = {"2", "3", "6", "7"};
  R::each("companion", sizes, [](const std::string& r) { R::expect(r, la::companion(R::in(r))); });
  R::each("fiedler_companion", sizes,
          [](const std::string& r) { R::expect(r, la::fiedler_companion(R::in(r))); });
  using C = Records<std::complex<double>>;
  C::each("companion", sizes, [](const std::string& r) { C::expect(r, la::companion(C::in(r))); });
  for (const std::string mode : {"full", "same", "valid"})
    for (const int n : {1, 2, 4, 6})
      R::each("convolution_matrix", {mode + "." + std::to_string(n)},
              [&](const std::string& r) { R::expect(r, la::convolution_matrix(R::in(r), n, mode)); });
}

TEST(PatternMatrices, OfNames) {
  using R = Records<double>;
  for (const int n : {1, 5, 8}) {
    const std::string size = "." + std::to_string(n) + "/f64";
    for (const std::string kind : {"symmetric", "lower", "upper"}) {
      R::expect("pascal." + kind + size, la::pascal<double>(n, kind));
      R::expect("invpascal." + kind + size, la::invpascal<double>(n, kind));
    }
    R::expect("dft." + size, la::dft<double>(n));
    R::expect("dft.n" + size, la::dft<double>(n, "n"));
    R::expect("dft.sqrtn" + size, la::dft<double>(n, "sqrtn"));
    R::expect("helmert" + size, la::helmert<double>(n, true));
    R::expect("hilbert" + size, la::hilbert<double>(n));
    R::expect("invhilbert" + size, la::invhilbert<double>(n));
  }
  R::expect("hadamard.8/f64", la::hadamard<double>(8));
  EXPECT_EQ(la::helmert(4).shape(), Shape({3, 4}));
  EXPECT_EQ(la::hadamard(1).to_vector(), std::vector<int>({1}));
  for (const auto& empty : {la::hilbert(0), la::invhilbert(0), la::pascal(0), la::invpascal(0)})
    EXPECT_EQ(empty.shape(), Shape({0, 0}));
  EXPECT_TRUE(
      allclose(matmul(la::invhilbert<double>(6), la::hilbert<double>(6)), eye<double>(6), {.atol = 1e-6}));
}

// A batch is its members', and a convolution matrix convolves.
TEST(PatternMatrices, BatchesAndProducts) {
  const D c = random::normal<double>(random::key(1), {3, 4}), r = random::normal<double>(random::key(2), {5});
  for (int i = 0; i < 3; ++i) {
    const D own = c(i);
    EXPECT_TRUE(array_equal(la::circulant(c)(i), la::circulant(own)));
    EXPECT_TRUE(array_equal(la::fiedler(c)(i), la::fiedler(own)));
    EXPECT_TRUE(array_equal(la::hankel(c, r)(i), la::hankel(own, r)));
  }
  const D v = random::normal<double>(random::key(3), {6});
  for (const char* mode : {"full", "same", "valid"})
    EXPECT_TRUE(allclose(matmul(la::convolution_matrix(r, 6, mode), v), convolve(r, v, {.mode = mode})))
        << mode;
  const D roots = {1, -2, 3};  // x^3 - 2 x^2 - 5 x + 6
  for (const D& m : {la::companion(D{1, -2, -5, 6}), la::fiedler_companion(D{2, -4, -10, 12})})
    EXPECT_TRUE(allclose(sort(real(la::eigvals(m))), sort(roots), {.rtol = 1e-9}));
}

TEST(PatternMatrices, RefuseWhatHasNoPattern) {
  const D two = {{1, 2}, {3, 4}}, number = 1.0;
  EXPECT_THROW(la::circulant(number), ShapeError);
  EXPECT_THROW(la::fiedler(number), ShapeError);
  EXPECT_EQ(refusal<ShapeError>([&] { la::companion(two); }),
            "companion: an array must be 1-d, of at least 2 elements, shape (2, 2)");
  EXPECT_THROW(la::fiedler_companion(D{1}), ShapeError);
  EXPECT_EQ(refusal<ShapeError>([&] {
              la::leslie(D{1, 2, 3}, D{1, 2, 3});
            }),
            "leslie: s must have one element less than f, shapes (3,) and (3,)");
  EXPECT_THROW(la::convolution_matrix(two, 3), ShapeError);
  EXPECT_THROW(la::convolution_matrix(D{1, 2}, 0), ValueError);
  EXPECT_THROW(la::convolution_matrix(D{1, 2}, 2, "some"), ValueError);
  EXPECT_THROW(la::hankel(two, ones<double>({3, 2})), ShapeError);
  EXPECT_THROW(la::hadamard(6), ValueError);
  EXPECT_THROW(la::hadamard(0), ValueError);
  EXPECT_THROW(la::hilbert(-1), ValueError);
  EXPECT_THROW(la::helmert(0), ValueError);
  EXPECT_THROW(la::pascal(3, "both"), ValueError);
  EXPECT_THROW(la::dft(4, "root"), ValueError);
}

}  // namespace pattern_matrices_test
