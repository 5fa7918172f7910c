#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "fuses.hpp"

// Products that add to arrays, and those of loops that are computed of all turns at once.
namespace products_test {
using namespace nax;
using D = Array<double>;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
// The lines of the program that `step` runs.
std::string body_of(const std::string& text, const std::string& step) {
  const std::size_t begin = text.find("program(", text.find(" = " + step + "("));
  return text.substr(begin, text.find("      return", begin) - begin);
}
void expect_near(const D& a, const D& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-11 * (1 + std::abs(y[i]))) << i;
}
D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape) * 0.3; }

TEST(AccumulateProducts, GradientsOfAWeightThatSeveralStepsRead) {
  const D x = draw(1, {6, 5, 4}), start = draw(2, {5, 4}), w = draw(3, {4, 4});
  const auto f = [&](const D& v) {
    D h = start;
    for (int t = 0; t < 6; ++t) h = tanh(D(matmul(h, v) + x(t)));
    return sum(h);
  };
  const auto slope = [&](const D& v) { return grad(f)(v); };
  const std::string text = make_program(slope)(w).text();
  EXPECT_EQ(count(text, "matmul_add("), 5u) << text;
  expect_near(jit(slope)(w), slope(w));
}

// The array may be read later, on either side, or be the program's argument.
TEST(AccumulateProducts, ArraysThatAreKept) {
  const auto f = [](const D& a, const D& b, const D& c) {
    const D t = matmul(a, b), left = c + t, right = D(matmul(b, a)) + left, both = t + D(matmul(a, a));
    return std::tuple(left, right, D(left * c), both);
  };
  const auto fast = jit(f), donated = jit(f, {.donate_argnums = {0, 1, 2}});
  for (const std::int64_t n : {1, 2, 3, 17, 40}) {
    const D a = draw(4, {n, n}), b = draw(5, {n, n}), c = draw(6, {n, n});
    const auto want = f(a, b, c), got = fast(a, b, c), over = donated(D(a * 1.0), D(b * 1.0), D(c * 1.0));
    expect_near(std::get<0>(got), std::get<0>(want));
    expect_near(std::get<1>(got), std::get<1>(want));
    expect_near(std::get<2>(got), std::get<2>(want));
    expect_near(std::get<3>(got), std::get<3>(want));
    expect_near(std::get<1>(over), std::get<1>(want));
    expect_near(std::get<3>(over), std::get<3>(want));
  }
}

// The result lies where the array lies that it is added to, and never where a factor lies.
TEST(AccumulateProducts, InPlace) {
  const auto f = [](const D& x) {
    D sum_ = tanh(x), y = sin(x);
    for (int i = 0; i < 5; ++i) sum_ = sum_ + D(matmul(sum_, y));
    return D(matmul(sum_, y));
  };
  const D x = draw(7, {9, 9});
  expect_near(jit(f)(x), f(x));
  const auto g = [](const D& a, const D& b) {
    D total = tanh(a);
    for (const D& left : {a, b})
      for (const D& right : {a, b}) total = total + D(matmul(left, right));
    return D(cumsum(total, {.axis = 0}));
  };
  const auto program = make_program(g)(x, D(x * 2.0));
  if (fuses()) {
    EXPECT_LE(program.temporary_bytes(), 9u * 9 * 8 + 128) << program;
  }
  expect_near(jit(g)(x, D(x * 2.0)), g(x, D(x * 2.0)));
}

// x_t W moves before the loop, and the sums of the weights' gradients behind it.
TEST(TurnProducts, LeaveTheLoop) {
  for (const bool reverse : {false, true})
    for (const std::int64_t batch : {1, 3, 8}) {
      const D x = draw(8, {40, batch, 6}), w = draw(9, {6, 8}), u = draw(10, {8, 8}), bias = draw(11, {8});
      const auto loss = [&](const D& xs, const D& v, const D& r, const D& b) {
        const auto step = [&](const D& h, const D& row) {
          const D next = tanh(D(D(matmul(row, v)) + D(matmul(h, r)) + b));
          return std::pair{next, next};
        };
        return sum(square(lax::scan(step, zeros<double>({batch, 8}), xs, {.reverse = reverse}).second));
      };
      const auto slope = [&](const D& xs, const D& v, const D& r, const D& b) {
        return grad<0, 1, 2, 3>(loss)(xs, v, r, b);
      };
      const std::string text = make_program(slope)(x, w, u, bias).text();
      EXPECT_EQ(count(body_of(text, "scan"), "matmul("), 1u) << text;
      EXPECT_EQ(count(body_of(text, "scan_gradient"), "matmul("), 2u) << text;
      const auto fast = jit(slope)(x, w, u, bias), plain = slope(x, w, u, bias);
      expect_near(std::get<0>(fast), std::get<0>(plain));
      expect_near(std::get<1>(fast), std::get<1>(plain));
      expect_near(std::get<2>(fast), std::get<2>(plain));
      expect_near(std::get<3>(fast), std::get<3>(plain));
    }
}

// Products that come out, whose operands change with the carry, or that loops within loops compute.
TEST(TurnProducts, ThatStay) {
  const D x = draw(12, {40, 3, 4}), w = draw(13, {4, 4});
  const auto f = [&](const D& v) {
    const auto step = [&](const D& c, const D& row) {
      const D y = matmul(row, v);
      return std::pair{D(tanh(matmul(c, D(matmul(v, c))) + v)), y};
    };
    const auto [last, ys] = lax::scan(step, D(v * 0.5), x);
    return D(sum(last) + sum(square(ys)));
  };
  const auto slope = [&](const D& v) { return grad(f)(v); };
  expect_near(jit(f)(w), f(w));
  expect_near(jit(slope)(w), slope(w));
  const auto nested = [&](const D& v) {
    const auto outer = [&](const D& c, const D& rows) {
      const auto inner = [&](const D& h, const D& row) {
        return std::pair{D(tanh(matmul(row, v) + h)), none};
      };
      return std::pair{lax::scan(inner, c, D(stack(std::vector<D>(33, rows)))).first, none};
    };
    return sum(lax::scan(outer, zeros<double>({3, 4}), x).first);
  };
  const auto nested_slope = [&](const D& v) { return grad(nested)(v); };
  expect_near(jit(nested)(w), nested(w));
  expect_near(jit(nested_slope)(w), nested_slope(w));
}

TEST(TurnProducts, UnderVmap) {
  const D x = draw(14, {5, 40, 3, 4}), w = draw(15, {4, 4});
  const auto f = [&](const D& v, const D& xs) {
    const auto step = [&](const D& h, const D& row) {
      const D next = tanh(matmul(row, v) + matmul(h, v));
      return std::pair{next, none};
    };
    return sum(lax::scan(step, zeros<double>({3, 4}), xs).first);
  };
  const auto each = [&](const D& v) { return vmap(grad(f), {.in_axes = {none, 0}})(v, x); };
  const auto all = [&](const D& v) {
    return grad([&](const D& u) { return sum(vmap(f, {.in_axes = {none, 0}})(u, x)); })(v);
  };
  expect_near(jit(each)(w), each(w));
  expect_near(jit(all)(w), all(w));
}

}  // namespace products_test
