#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/fft.hpp"
#include "nax/linalg.hpp"
#include "nax/nn/softmax.hpp"
#include "nax/numpy.hpp"
#include "nax/transform.hpp"
#include "support/text_of.hpp"

namespace debug_nans_test {
using namespace nax;
using F = Array<float>;
const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");

// On while this lives.
struct Watch {
  explicit Watch(bool infs = false) { debug_nans(true), debug_infs(infs); }
  ~Watch() { debug_nans(false), debug_infs(false); }
};
template <class Function>
std::string error(const Function& f) {
  return text_of<FloatingPointError>(f);
}

TEST(DebugNans, NamesTheFormulaThatMakesThem) {
  const F x = {1, -2, 3}, y = {{1}, {2}};
  EXPECT_NO_THROW(F(sqrt(x)));
  const Watch watch;
  EXPECT_EQ(error([&] { F(sqrt(x)); }), "sqrt: made NaN, of shape (3,), by sqrt(x0), from x0 float32 (3,)");
  EXPECT_EQ(error([&] { F(y + log(x - 1.5f)); }),
            "add: made NaN, of shape (2, 3), by add(x0, log(subtract(x1, 1.5))), from x0 float32 (2, 1), x1 "
            "float32 (3,)");
  EXPECT_EQ(error([&] { F(F(-1.f) / F(0.f) * F(0.f)); }),
            "multiply: made NaN, of shape (), by multiply(divide(x0, x1), x2), from x0 float32 (), x1 "
            "float32 (), x2 float32 ()");
  // Written over its operand.
  F z = {1, 0};
  EXPECT_NE(error([&] { z = F({0, 0}) / z * z; }).find("multiply: made NaN"), std::string::npos);
  EXPECT_NE(error([&] { sum(sqrt(x)); }).find("sqrt: made NaN, of shape (3,), by sqrt(x0)"),
            std::string::npos);
  EXPECT_NE(error([&] { Array<half>(sqrt(x.astype<half>())); }).find("from x0 float16 (3,)"),
            std::string::npos);
  EXPECT_NE(error([&] { Array<double>(log(Array<double>{-1})); }).find("float64"), std::string::npos);
}

TEST(DebugNans, AcceptsOtherResults) {
  const Watch watch;
  const F x = {1, nan, -1};
  EXPECT_NO_THROW(F(sqrt(x)));  // it was there before
  EXPECT_NO_THROW(F(x(slice(1, 2)) * 2.f));
  EXPECT_NO_THROW(F(where(x > 0.f, log(x), 0.f)));
  EXPECT_NO_THROW(F(log(F{0, 1})));  // an infinity
  EXPECT_NO_THROW(Array<int>(Array<int>{1, 2} + 3));
  EXPECT_NE(error([&] { F(sqrt(x(slice(2, 3)))); }).find("sqrt"), std::string::npos);  // a part without it
}

TEST(DebugNans, ChecksProductsReductionsAndFactorisations) {
  const Watch watch;
  const F big = {{infinity, -infinity}, {0, 1}};
  EXPECT_EQ(error([&] { sum(big); }), "reduce: made NaN, of shape (), from float32 (2, 2)");
  EXPECT_NE(error([&] {
              matmul(big, ones({2, 2}));
            }).find("matmul: made NaN, of shape (2, 2), from float32 (2, 2), float32 (2, 2)"),
            std::string::npos);
  EXPECT_NE(error([&] {
              linalg::cholesky(F{{-1, 0}, {0, 1}});
            }).find("cholesky: made NaN"),
            std::string::npos);
  EXPECT_NE(error([&] {
              nn::softmax(F{-infinity, -infinity});
            }).find("softmax: made NaN"),
            std::string::npos);
  EXPECT_NE(error([&] { fft::fft(F{infinity, -infinity}); }).find("fft: made NaN"), std::string::npos);
}

TEST(DebugNans, ChecksGradientsAndTangents) {
  const Watch watch;
  // The value is 0, the derivative 0 * inf.
  const auto norm = [](const F& x) { return sum(sqrt(x * x)); };
  EXPECT_NE(error([&] {
              grad(norm)(F{1, 0});
            }).find("sqrt (gradient): made NaN, of shape (2,), by sqrt(multiply(x0, x1))"),
            std::string::npos);
  EXPECT_NE(error([&] { grad([](const F& x) { return sqrt(x * x); })(F(0.f)); }).find("(gradient)"),
            std::string::npos);
  EXPECT_NE(error([&] {
              jvp(norm, std::tuple(F{1, 0}), std::tuple(F{1, 1}));
            }).find("(derivative): made NaN"),
            std::string::npos);
  EXPECT_NO_THROW(grad(norm)(F{1, 2}));
  const auto f = [](const F& x) { return sum(exp(x) * matmul(x, x)); };
  const auto watched = grad(f)(F{1, 2}).to_vector();
  debug_nans(false);
  EXPECT_EQ(watched, grad(f)(F{1, 2}).to_vector());
}

TEST(DebugNans, InfinitiesAreASeparateOption) {
  const Watch watch(true);
  EXPECT_NE(error([&] { F(log(F{0, 1})); }).find("log: made an infinity"), std::string::npos);
  EXPECT_NE(error([&] {
              matmul(full({1, 1}, 1e30f), full({1, 1}, 1e30f));
            }).find("matmul: made an infinity"),
            std::string::npos);
  EXPECT_NO_THROW(F(F{infinity} + 1.f));
  EXPECT_NE(error([&] { F(F{infinity} - infinity); }).find("made NaN"), std::string::npos);
}

TEST(DebugNans, WorkUnderVmap) {
  const Watch watch;
  const F x = {{1, 2}, {3, -4}};
  EXPECT_NE(error([&] {
              vmap([](const F& row) { return F(sqrt(row)); })(x);
            }).find("sqrt: made NaN, of shape (2,)"),
            std::string::npos);
}

}  // namespace debug_nans_test
