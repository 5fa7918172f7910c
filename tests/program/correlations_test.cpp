#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "program/recorded_once.hpp"

// Correlations are one operation of a program, as they are one loop without jit.
namespace correlations_test {
using namespace nax;
using D = Array<double>;
using recorded_once::expect_near;

template <class F, class... X>
void expect_one_operation(const std::string& name, const F& f, const X&... x) {
  int calls = 0;
  const auto fast = jit([&](const X&... each) { return ++calls, D(f(each...)); });
  for (int turn = 0; turn < 2; ++turn) EXPECT_TRUE(array_equal(fast(x...), D(f(x...))).item()) << name;
  EXPECT_EQ(calls, 1) << name;
  const std::string program = make_program(f)(x...).text();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = program.find("convolve", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 1U) << name << '\n' << program;
  EXPECT_EQ(program.find("multiply"), std::string::npos) << name << '\n' << program;
}

TEST(Correlations, AreOneOperationOfAProgram) {
  const D x = random::normal<double>(random::key(0), {4, 30}),
          w = random::normal<double>(random::key(1), {4, 5});
  expect_one_operation(
      "convolve", [](const D& a, const D& b) { return D(convolve(a, b)); }, D(x(0)), D(w(0)));
  expect_one_operation(
      "same", [](const D& a, const D& b) { return D(correlate(a, b, {.mode = "same"})); }, D(x(0)), D(w(0)));
  const auto rows = [](const D& a, const D& b) { return D(convolve(a, b, {.mode = "valid"})); };
  expect_one_operation("one filter", vmap(rows, {.in_axes = {0, none}}), x, D(w(0)));
  expect_one_operation("a filter a row", vmap(rows), x, w);
  expect_one_operation("columns", vmap(rows, {.in_axes = {1, 1}}), D(x.T()), D(w.T()));
}

TEST(Correlations, DerivativesAreRecorded) {
  const D x = random::normal<double>(random::key(0), {30}), w = random::normal<double>(random::key(1), {5});
  const auto loss = [](const D& a, const D& b) { return D(sum(sin(convolve(a, b)))); };
  const auto slope = [&](const D& b) { return grad([&](const D& v) { return loss(x, v); })(b); };
  recorded_once::expect_recorded_once("gradient of the filter", slope, w, D(w * 2.));
  const auto curve = [&](const D& b) { return D(jacfwd(slope)(b)); };
  recorded_once::expect_recorded_once("second derivatives", curve, w, D(w * 2.));
}

TEST(Correlations, OfEveryType) {
  const auto of = [](auto zero) {
    using T = decltype(zero);
    const Array<T> x = (arange<int>(40) % 7).template astype<T>(),
                   w = (arange<int>(6) % 4).template astype<T>();
    const auto f = [](const Array<T>& a, const Array<T>& b) { return Array<T>(convolve(a, b)); };
    const Array<T> plain = f(x, w), fast = jit(f)(x, w);
    EXPECT_TRUE(array_equal(plain, fast).item()) << dtype_name(dtype_of<T>);
  };
  of(std::int8_t()), of(std::uint8_t()), of(std::int16_t()), of(std::int32_t()), of(std::int64_t());
  of(half()), of(bfloat16()), of(float()), of(double()), of(std::complex<float>()),
      of(std::complex<double>());
}

}  // namespace correlations_test
