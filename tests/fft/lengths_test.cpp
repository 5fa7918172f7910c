// Every algorithm for a length, against the sum that defines the transform; types, layouts and errors.

#include <nax/nax.hpp>

#include "elementwise/support.hpp"
#include "support/expect_close.hpp"
#include "support/text_of.hpp"

namespace lengths_test {

using elementwise::numbers;
using nax::Array;
using Real = Array<double>;
using support::expect_close;
using Z = std::complex<double>;
namespace ft = nax::fft;

std::vector<Z> some(std::int64_t n) {
  std::vector<Z> x;
  std::uint32_t state = 5;
  const auto next = [&] {
    return static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const double re = next();
    x.push_back({re, next()});
  }
  return x;
}
std::vector<Z> by_definition(const std::vector<Z>& x, int sign) {
  const std::size_t n = x.size();
  std::vector<Z> root, y;
  for (std::size_t k = 0; k < n; ++k)
    root.push_back(
        std::polar(1.0, sign * 6.283185307179586477 * static_cast<double>(k) / static_cast<double>(n)));
  for (std::size_t k = 0; k < n; ++k) {
    Z sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += x[j] * root[j * k % n];
    y.push_back(sum);
  }
  return y;
}
double distance(const std::vector<Z>& a, const std::vector<Z>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(FftLengths, EveryOneUpTo130AndSomeLargeOnes) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 130; ++n) lengths.push_back(n);
  for (const std::int64_t n : {169, 256, 343, 512, 625, 729, 1000, 1009, 1024, 61 * 16, 67 * 16})
    lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    const std::vector<Z> x = some(n), forward = by_definition(x, -1), backward = by_definition(x, 1);
    const double most = 1e-13 * std::sqrt(static_cast<double>(n));
    const auto a = nax::array(x);
    EXPECT_LT(distance(ft::fft(a).to_vector(), forward), most) << n;
    EXPECT_LT(distance(ft::ifft(a, {.norm = "forward"}).to_vector(), backward), most) << n;
    // Real numbers, and back again.
    std::vector<Z> real = x;
    for (Z& v : real) v = v.real();
    std::vector<Z> half = by_definition(real, -1);
    half.resize(static_cast<std::size_t>(n / 2 + 1));
    const Real r = nax::real(a);
    EXPECT_LT(distance(ft::rfft(r).to_vector(), half), most) << n;
    expect_close("irfft", numbers(ft::irfft(ft::rfft(r), {.n = n})), numbers(r), most, 1);
  }
}

TEST(FftLengths, InversesOfLongOnes) {
  for (const std::int64_t n : {1 << 18, 65537, 3 * 5 * 7 * 11 * 13 * 17}) {
    const std::vector<Z> x = some(n);
    EXPECT_LT(distance(ft::ifft(ft::fft(nax::array(x))).to_vector(), x), 1e-13) << n;
    const Array<float> r = nax::real(nax::array(x)).template astype<float>();
    EXPECT_LT(nax::max(nax::abs(ft::irfft(ft::rfft(r), {.n = n}) - r)).item(), 2e-6f) << n;
  }
}

// Any number of lines, along any axis, in any layout.
TEST(FftLengths, ManyLines) {
  for (const std::int64_t lines : {1, 2, 3, 5, 8, 16, 17, 40})
    for (const std::int64_t n : {6, 17, 64, 67}) {
      const auto x = nax::array(some(lines * n)).reshape({lines, n});
      std::vector<Z> want, want_real;
      for (std::int64_t i = 0; i < lines; ++i) {
        const auto row = ft::fft(x(i)).to_vector();
        want.insert(want.end(), row.begin(), row.end());
        const auto real = ft::rfft(nax::real(x(i))).to_vector();
        want_real.insert(want_real.end(), real.begin(), real.end());
      }
      EXPECT_LT(distance(ft::fft(x).to_vector(), want), 1e-12) << lines << " x " << n;
      EXPECT_LT(distance(ft::fft(x.T(), {.axis = 0}).T().to_vector(), want), 1e-12) << lines << " x " << n;
      const auto columns = nax::copy(x.T());
      EXPECT_LT(distance(ft::fft(columns, {.axis = 0}).T().to_vector(), want), 1e-12) << lines << " x " << n;
      EXPECT_LT(distance(ft::rfft(nax::real(x)).to_vector(), want_real), 1e-12) << lines << " x " << n;
      EXPECT_LT(distance(ft::rfft(nax::real(columns), {.axis = 0}).T().to_vector(), want_real), 1e-12);
      const Real back = ft::irfft(ft::rfft(nax::real(columns), {.axis = 0}), {.n = n, .axis = 0});
      expect_close("irfft", numbers(back), numbers(Real(nax::real(columns))), 1e-12, 1);
    }
}

TEST(Fft, Types) {
  using C = std::complex<float>;
  static_assert(std::is_same_v<decltype(ft::fft(Array<int>{1, 2})), Array<C>>);
  static_assert(std::is_same_v<decltype(ft::fft(Array<bool>{true})), Array<C>>);
  static_assert(std::is_same_v<decltype(ft::rfft(Array<nax::half>{1, 2})), Array<C>>);
  static_assert(std::is_same_v<decltype(ft::rfft(Real{1, 2})), Array<Z>>);
  static_assert(std::is_same_v<decltype(ft::irfft(Array<float>{1, 2})), Array<float>>);
  static_assert(std::is_same_v<decltype(ft::hfft(Array<Z>{1, 2})), Real>);
  EXPECT_EQ(ft::fft(Array<int>{1, 2, 3}).to_vector()[0], C(6));
  EXPECT_EQ(ft::fft(Array<int>{1, 2, 3} * 2).to_vector()[0], C(12));
  EXPECT_EQ(ft::rfft(Array<nax::half>{1, 2}).to_vector()[1], C(-1));
}

TEST(Fft, NanStaysInItsLine) {
  const double nan = std::nan("");
  const Real x = {{1, 2, 3, 4}, {1, nan, 3, 4}};
  const auto y = ft::fft(x);
  EXPECT_EQ(y(0).to_vector()[0], Z(10));
  for (const Z& v : y(1).to_vector()) EXPECT_TRUE(std::isnan(std::abs(v)));
}

TEST(Fft, Refusals) {
  const Array<float> x = nax::ones<float>({3, 4});
  const auto value = [](auto f) { return text_of<nax::ValueError>(f); };
  const auto index = [](auto f) { return text_of<nax::IndexError>(f); };
  EXPECT_EQ(value([&] { ft::fft(x, {.n = 0}); }), "fft: invalid number of data points (0) specified");
  EXPECT_EQ(value([&] { ft::rfft(x, {.n = -2}); }), "rfft: invalid number of data points (-2) specified");
  EXPECT_EQ(value([&] { ft::irfft(nax::ones<float>({1})); }),
            "irfft: invalid number of data points (0) specified");
  EXPECT_EQ(value([&] {
              ft::fft(nax::zeros<float>({2, 0}));
            }),
            "fft: invalid number of data points (0) specified");
  EXPECT_EQ(value([&] { ft::fft(x, {.norm = "other"}); }),
            "fft: invalid norm value 'other'; it should be 'backward', 'ortho' or 'forward'");
  EXPECT_EQ(index([&] { ft::fft(x, {.axis = 2}); }), "fft: axis 2 is out of bounds for array of dimension 2");
  EXPECT_EQ(index([&] { ft::fft(Array<float>(1.f)); }),
            "fft: axis -1 is out of bounds for array of dimension 0");
  EXPECT_EQ(index([&] { ft::fft2(nax::ones<float>({3})); }),
            "fft2: axis -2 is out of bounds for array of dimension 1");
  EXPECT_EQ(value([&] {
              ft::fftn(x, {.s = {2}, .axes = {0, 1}});
            }),
            "fftn: shape and axes have different lengths: s (2,), axes (0, 1)");
  EXPECT_EQ(value([&] { ft::fftn(x, {.axes = {1, -1}}); }), "fftn: duplicate value in 'axis': -1");
  EXPECT_EQ(value([&] { ft::rfftn(Array<float>(1.f)); }), "rfftn: at least 1 axis must be transformed");
  EXPECT_EQ(value([&] { ft::irfftn(Array<float>(1.f)); }), "irfftn: at least 1 axis must be transformed");
  EXPECT_EQ(value([&] { ft::fftfreq(0); }), "fftfreq: n must be at least 1, got 0");
  EXPECT_EQ(value([&] { ft::rfftfreq(4, {.d = 0}); }), "rfftfreq: the sample spacing d must not be 0");
  EXPECT_NE(value([&] { ft::fft(x, {.n = std::int64_t{1} << 62}); }).find("too big"), std::string::npos);
  // No axes, nothing to do.
  EXPECT_EQ(ft::fftn(Array<float>(2.f)).item(), std::complex<float>(2));
}

}  // namespace lengths_test
