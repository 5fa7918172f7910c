// Matrices near the ends of the floating-point range: factors are as accurate as in the middle.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/linalg.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "support/refusal.hpp"

namespace extreme_test {

namespace la = nax::linalg;
template <class T>
using A = nax::Array<T>;

// The largest difference of two matrices over the largest element of each column of `want`.
template <class T>
double column_error(const A<T>& got, const A<T>& want) {
  const auto g = got.template astype<double>(), w = want.template astype<double>();
  return nax::max(nax::abs(g - w) / nax::max(nax::abs(w), {.axis = 0, .keepdims = true})).item();
}

// A matrix of four rows and three columns, well-conditioned at every scale.
template <class T>
A<T> tall() {
  return A<T>{{4, 1, -2}, {0.5f, -3, 1}, {2, 0.25f, 5}, {-1, 2, 0.75f}};
}
template <class T>
A<T> power_of_two(int power) {
  return A<T>(std::ldexp(T(1), power));
}

template <class T>
void check_qr(const A<T>& a) {
  constexpr double few = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto [q, r] = la::qr(a);
  EXPECT_LT(column_error<T>(nax::matmul(q, r), a), few);
  EXPECT_LT(column_error<T>(nax::matmul(nax::matrix_transpose(q), q), nax::eye<T>(q.shape(-1))), few);
  EXPECT_LT(column_error<T>(la::qr(a, {.mode = "r"}).R, r), few);
  const auto complete = la::qr(a, {.mode = "complete"});
  EXPECT_LT(column_error<T>(nax::matmul(complete.Q, complete.R), a), few);
}

TEST(Extreme, QrScalesMatricesAndColumns) {
  for (const int power : {-120, -66, 66, 120}) check_qr<float>(tall<float>() * power_of_two<float>(power));
  for (const int power : {-1000, -515, 515, 1000})
    check_qr<double>(tall<double>() * power_of_two<double>(power));
  check_qr<float>(tall<float>() * A<float>{1e20f, 1, 1e-20f});
  check_qr<double>(tall<double>() * A<double>{1e155, 1e-155, 1e-300});
  // Powers of two change no digit.
  const auto plain = la::qr(tall<double>()), large = la::qr(tall<double>() * power_of_two<double>(700));
  EXPECT_TRUE(nax::all(plain.Q == large.Q).item());
  EXPECT_TRUE(nax::all(plain.R * power_of_two<double>(700) == large.R).item());
}

TEST(Extreme, QrOfComplexMatrices) {
  using C = std::complex<double>;
  const A<C> a = tall<double>().astype<C>() * A<C>(C(1, 0.5));
  for (const double size : {1e-300, 1e-155, 1e155, 1e300}) {
    const auto [q, r] = la::qr(a * A<C>(C(size)));
    const A<C> back = nax::matmul(q, r * A<C>(C(1 / size)));
    EXPECT_LT(nax::max(nax::abs(back - a)).item(), 1e-13) << size;
  }
}

template <class T>
A<T> square() {
  return A<T>{{4, 1, -2}, {0.5f, 3, 1}, {2, 0.25f, 5}};
}

TEST(Extreme, EigenvaluesSchurAndRoots) {
  const A<double> a = square<double>();
  const auto sorted = [](const auto& w) { return nax::sort(nax::real(w)); };
  for (const int power : {-1040, -1000, -600, 600, 1000}) {
    SCOPED_TRACE(power);
    const double tolerance = power < -1030 ? 1e-8 : 1e-13;  // subnormals have fewer digits
    const A<double> s = power_of_two<double>(power), x = a * s;
    const A<double> back = power_of_two<double>(-power / 2);
    EXPECT_LT(column_error<double>(sorted(la::eigvals(x)) * back * back, sorted(la::eigvals(a))), tolerance);
    EXPECT_LT(column_error<double>(nax::abs(la::eig(x).eigenvectors), nax::abs(la::eig(a).eigenvectors)),
              tolerance);
    const auto [t, z] = la::schur(x);
    EXPECT_LT(column_error<double>(nax::matmul(nax::matmul(z, t * back * back), nax::matrix_transpose(z)), a),
              tolerance);
    EXPECT_LT(column_error<double>(nax::real(la::sqrtm(x)) * back, nax::real(la::sqrtm(a))), tolerance);
    const A<double> sym = a + nax::matrix_transpose(a);
    EXPECT_LT(
        column_error<double>(la::eigvalsh(x + nax::matrix_transpose(x)) * back * back, la::eigvalsh(sym)),
        tolerance);
    EXPECT_LT(column_error<double>(la::svdvals(x) * back * back, la::svdvals(a)), tolerance);
    EXPECT_NEAR(la::cond(x).item(), la::cond(a).item(), tolerance * 100);
  }
  const A<float> f = square<float>() * A<float>(1e-25f);
  EXPECT_LT(column_error<float>(nax::real(la::sqrtm(f)) * A<float>(std::sqrt(1e25f)),
                                nax::real(la::sqrtm(square<float>()))),
            1e-5);
  const A<std::complex<double>> c = (a * A<double>(1e200)).astype<std::complex<double>>();
  EXPECT_LT(column_error<double>(sorted(la::eigvals(c)) * A<double>(1e-200), sorted(la::eigvals(a))), 1e-13);
}

TEST(Extreme, LuSolveAndDet) {
  for (const std::int64_t n : {3, 12}) {  // few rows are factored many at a time
    const A<double> one = nax::eye<double>(n), a = one * 4.0 + nax::ones<double>({n, n});
    const double det = la::det(a).item();
    for (const int power : {-1060, -1022, 1019}) {
      SCOPED_TRACE(power);
      const A<double> x = a * power_of_two<double>(power);
      const auto [p, l, u] = la::lu(x);
      EXPECT_LT(column_error<double>(nax::matmul(nax::matmul(p, l), u), x), 1e-3);
      EXPECT_EQ(la::det(x).item(), power < 0 ? 0 : std::numeric_limits<double>::infinity());
      EXPECT_NEAR(la::slogdet(x).logabsdet.item(),
                  std::log(det) + static_cast<double>(n * power) * std::log(2.0), 1e-2);
      EXPECT_LT(column_error<double>(la::solve(x, x), one), 1e-3);
    }
    // The determinant is a number, its factors are not alike.
    A<double> scales = nax::ones<double>({n});
    scales = scales.at(0).set(std::ldexp(1.0, -1060)).at(1).set(std::ldexp(1.0, 1000)).at(2).set(0x1p60);
    EXPECT_NEAR(la::det(a * scales).item(), det, 1e-4 * det);
    EXPECT_NEAR(la::det(nax::diag(scales)).item(), 1, 1e-15);
    scales = scales.at(0).set(std::ldexp(1.0, -1010)).at(2).set(std::ldexp(1.0, 10));
    EXPECT_NEAR(la::det(a * scales).item(), det, 1e-14 * det);
  }
  EXPECT_FLOAT_EQ(la::det(A<float>{{1e-30f, 0, 0}, {0, 1e-30f, 0}, {0, 0, 1e38f}}).item(), 1e-22f);
  const A<double> tiny = {{4.9406564584124654e-324}};
  EXPECT_EQ(la::solve(tiny, A<double>{4.9406564584124654e-324}).item(), 1);
  EXPECT_EQ(la::det(tiny).item(), 4.9406564584124654e-324);
}

}  // namespace extreme_test
