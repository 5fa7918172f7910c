#include <gtest/gtest.h>

#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fuses.hpp"

// Programs of many steps: recording takes time in proportion. (If it were quadratic, this would take
// minutes.)
namespace long_programs_test {
using namespace nax;
using D = Array<double>;
using Function = std::function<D(const D&)>;

constexpr int steps = 20000;

D repeated(const D& x, const std::function<D(const D&, int)>& f) {
  D y = x;
  for (int i = 0; i < steps; ++i) y = f(y, i);
  return y;
}

TEST(LongPrograms, GiveTheSame) {
  const D row{.3, .1, .2}, matrix{{.9, .1, 0}, {0, .8, .1}, {.1, 0, .95}},
      wide = linspace<double>(-1, 1, 200);
  const auto cheap = [](const D& x) { return repeated(x, [&](const D& y, int) { return D(y * x + x); }); };
  const auto sines = [](const D& x) { return repeated(x, [](const D& y, int) { return D(sin(y)); }); };
  const auto products = [](const D& x) { return repeated(x, [&](const D& y, int) { return matmul(y, x); }); };
  const auto turns = [](const D& x) {
    return repeated(x, [&](const D& y, int i) { return i % 2 ? D(y + .5) : D(y * x); });
  };
  const auto pieces = [](const D& x) {
    std::vector<D> all;
    for (int i = 0; i < steps / 4; ++i) all.push_back(D(x * double(i)));
    return D(concatenate(all) * 2.);
  };
  const auto sums = [](const D& x) {
    return repeated(D(x * 0.), [&](const D& y, int i) { return i % 4 ? y : D(y + sum(x * double(i))); });
  };
  const auto items = [](const D& x) {
    return repeated(x, [](const D& y, int i) { return i % 4 ? y : D(y.at(i % 3).set(.5 * y(0))); });
  };
  const auto rows = [](const D& x) {
    return repeated(D(x(0) * 0.),
                    [&](const D& y, int i) { return i % 8 ? y : D(y + sin(x(i / 8 % 7)) * x(i / 8 % 5)); });
  };
  const auto slope = [](const Function& f) {
    return Function([=](const D& x) { return grad([&](const D& v) { return D(sum(f(v))); })(x); });
  };
  const std::vector<std::pair<Function, D>> all = {
      {cheap, row},       {cheap, wide},       {sines, row},        {sines, wide},
      {products, matrix}, {turns, row},        {pieces, row},       {sums, wide},
      {items, row},       {slope(cheap), row}, {slope(sines), row}, {slope(products), matrix},
      {slope(rows), wide}};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& [f, x] = all[k];
    const D a = jit(f)(x), b = f(x);
    ASSERT_EQ(a.shape(), b.shape()) << k;
    EXPECT_TRUE(allclose(a, b, {.rtol = 1e-9, .atol = 1e-12})) << k;
  }
}

// Loops have an absolute limit of operations, so chains become many steps of about equal length.
TEST(LongPrograms, ChainsBecomeLoopsOfBoundedLength) {
  if (!fuses()) GTEST_SKIP() << "maps are not fused here";
  const auto chain = [](int n) {
    return [n](const D& x) {
      D y = x;
      for (int i = 0; i < n; ++i) y = y * x + x;
      return y;
    };
  };
  const D wide = linspace<double>(-1, 1, 1000), row{.3, .1, .2};
  const std::size_t of_wide = make_program(chain(2000))(wide).size(),
                    of_row = make_program(chain(8000))(row).size();
  EXPECT_GE(of_wide, 2000u / 64);
  EXPECT_LE(of_wide, 2000u / 8);
  EXPECT_GE(of_row, 8000u / 1024);
  EXPECT_LE(of_row, 8000u / 128);
}

}  // namespace long_programs_test
