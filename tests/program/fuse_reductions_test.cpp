#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <string>

#include "fuses.hpp"

// Reductions of a program that compute what they reduce. Where no machine code is made, the same programs are
// not fused, and their values are tested alone.
namespace fuse_reductions_test {
using namespace nax;
using F = Array<float>;
using D = Array<double>;

template <class T>
void expect_near(const Array<T>& a, const Array<T>& b, double within) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i])) {
      ASSERT_TRUE(std::isnan(x[i])) << i;
      continue;
    }
    ASSERT_NEAR(x[i], y[i], within * (1 + std::abs(static_cast<double>(y[i])))) << i;
  }
}

const auto sum_of_product = [](const F& x, const F& y) {
  const F t = tanh(x), u = t * y;
  return sum(u);
};

TEST(FuseReductions, StoresNothingThatOnlyASumReads) {
  const F x = linspace<float>(-1, 1, 1000), y = cos(x);
  const std::string text = make_program(sum_of_product)(x, y).text();
  if (fuses()) {
    EXPECT_EQ(text,
              "program(a: float32[1000], b: float32[1000]):\n"
              "  c: float32[] = fused{tanh multiply sum}(b, a)\n"
              "  return c\n");
  } else {
    EXPECT_EQ(text,
              "program(a: float32[1000], b: float32[1000]):\n"
              "  c: float32[1000] = tanh(a)\n"
              "  d: float32[1000] = multiply(c, b)\n"
              "  e: float32[] = sum(d)\n"
              "  return e\n");
  }
  for (const std::int64_t n : {1, 2, 7, 64, 1000, 2049, 100003}) {
    const F a = linspace<float>(0, 1, n), b = cos(a);
    expect_near(jit(sum_of_product)(a, b), sum_of_product(a, b), 1e-5);
  }
}

TEST(FuseReductions, StoresWhatOthersRead) {
  const auto softmax = [](const F& x) {
    const F e = exp(x - max(x, {.axis = -1, .keepdims = true}));
    return F(e / sum(e, {.axis = -1, .keepdims = true}));
  };
  const F x = reshape(linspace<float>(-3, 5, 1000), {20, 50});
  const std::string text = make_program(softmax)(x).text();
  if (fuses()) {
    EXPECT_EQ(text,
              "program(a: float32[20,50]):\n"
              "  b: float32[20,1] = max(a)\n"
              "  c: float32[20,50], d: float32[20,1] = fused{exp sum}(a, b)\n"
              "  e: float32[20,50] = divide(c, d)\n"
              "  return e\n");
  }
  for (const std::int64_t rows : {1, 3, 20, 1000})
    for (const std::int64_t n : {1, 10, 50, 65, 5000}) {
      if (rows * n > 300000) continue;
      const F y = reshape(linspace<float>(-3, 5, rows * n), {rows, n});
      expect_near(jit(softmax)(y), softmax(y), 1e-5);
    }
}

// Both gradients come from one pass, one of them stored and one summed over rows.
TEST(FuseReductions, GradientsOfRowsAndOfWholeOperands) {
  const auto loss = [](const D& x, const D& row) {
    const D p = tanh(x + row);
    return sum(square(p));
  };
  const auto slope = value_and_grad<0, 1>(loss);
  for (const std::int64_t rows : {2, 20, 700})
    for (const std::int64_t n : {2, 50, 1100}) {
      const D x = reshape(linspace<double>(-1, 1, rows * n), {rows, n}), row = linspace<double>(0, 1, n);
      const auto [value, grads] = jit(slope)(x, row);
      const auto [plain_value, plain] = slope(x, row);
      expect_near(value, plain_value, 1e-12);
      expect_near(std::get<0>(grads), std::get<0>(plain), 1e-12);
      expect_near(std::get<1>(grads), std::get<1>(plain), 1e-12);
    }
  if (!fuses()) return;
  const std::string text = make_program(slope)(ones<double>({20, 50}), ones<double>({50})).text();
  EXPECT_NE(text.find("float64[20,50], "), std::string::npos) << text;
  EXPECT_EQ(text.find("] = tanh_gradient("), std::string::npos) << text;
}

TEST(FuseReductions, EveryKindAndEveryAxis) {
  const auto reduce = [](int kind, const D& x, const Axis& axis, bool keepdims) -> D {
    switch (kind) {
      case 0:
        return sum(x, {.axis = axis, .keepdims = keepdims});
      case 1:
        return max(x, {.axis = axis, .keepdims = keepdims});
      case 2:
        return min(x, {.axis = axis, .keepdims = keepdims});
      case 3:
        return prod(x, {.axis = axis, .keepdims = keepdims});
      default:
        return mean(x, {.axis = axis, .keepdims = keepdims});
    }
  };
  const D x = reshape(sin(linspace<double>(0, 100, 7 * 130 * 3)), {7, 130, 3}), row = {0.9, 1.0, 1.1};
  const std::vector<Axis> axes = {{}, 0, 1, 2, -1, {0, 1}, {1, 2}, {0, 2}};
  for (const Axis& axis : axes)
    for (int kind = 0; kind < 5; ++kind) {
      const auto flat = [&](const D& y) {
        const D t = y * 1.01, u = t + 0.01;
        return reduce(kind, u, axis, kind % 2 == 1);
      };
      const auto broadcast = [&](const D& y, const D& r) {
        const D t = y * r, u = t + r;
        return reduce(kind, u, axis, kind % 2 == 1);
      };
      const auto kept = [&](const D& y, const D& r) {
        const D t = y * r, u = t + r;
        return std::pair(reduce(kind, u, axis, kind % 2 == 1), u);
      };
      expect_near(jit(flat)(x), flat(x), 1e-12);
      expect_near(jit(broadcast)(x, row), broadcast(x, row), 1e-12);
      const auto fast = jit(kept)(x, row), plain = kept(x, row);
      expect_near(fast.first, plain.first, 1e-12);
      expect_near(fast.second, plain.second, 0);
    }
}

TEST(FuseReductions, SeveralReductionsInOnePass) {
  const auto f = [](const F& x, const F& y) {
    const F u = x * y;
    return std::tuple(F(sum(u)), F(max(u)), F(min(u)), F(sum(square(u))));
  };
  const F x = linspace<float>(-1, 2, 5000), y = cos(x);
  const auto [a, b, c, d] = jit(f)(x, y);
  const auto [p, q, r, s] = f(x, y);
  expect_near(a, p, 1e-5);
  expect_near(b, q, 0);
  expect_near(c, r, 0);
  expect_near(d, s, 1e-5);
  if (!fuses()) return;
  const std::string text = make_program(f)(x, y).text();
  EXPECT_NE(text.find("c: float32[], d: float32[], e: float32[], f: float32[] = fused{multiply sum"),
            std::string::npos)
      << text;
}

TEST(FuseReductions, NaNWins) {
  const auto f = [](const F& x) {
    const F y = x * 2.f, z = y + 1.f;
    return std::pair(F(max(z)), F(min(z)));
  };
  const F y = linspace<float>(-1, 1, 3000).at(2999).set(std::numeric_limits<float>::quiet_NaN());
  const auto got = jit(f)(y);
  EXPECT_TRUE(std::isnan(got.first.item()));
  EXPECT_TRUE(std::isnan(got.second.item()));
}

// Not less exact than sums that are not fused, for many equal terms, whose errors add up.
TEST(FuseReductions, LongSumsStayExact) {
  const std::int64_t n = 3 << 20;
  const auto all = [](const F& x, const F& y) { return F(sum(F(F(x * y) + 0.f))); };
  const auto rows = [](const F& x, const F& y) { return F(sum(F(F(x * y) + 0.f), {.axis = 0})); };
  const auto lines = [](const F& x, const F& y) { return F(sum(F(F(x * y) + 0.f), {.axis = 1})); };
  const auto error = [](const F& sums, std::int64_t terms) {
    const double exact = static_cast<double>(0.1f) * static_cast<double>(terms);
    double most = 0;
    for (const float sum : sums.to_vector()) most = std::max(most, std::abs(sum / exact - 1));
    return most;
  };
  const F x = full<float>({n}, 0.1f), one = 1.f, x3 = reshape(x, {3, n / 3}), column = ones<float>({3, 1}),
          xn = reshape(x, {n / 3, 3}), row = ones<float>({3});
  constexpr double ulp = 1.2e-7;
  EXPECT_LE(error(jit(all)(x, one), n), error(all(x, one), n) + ulp);
  EXPECT_LE(error(jit(rows)(xn, row), n / 3), error(rows(xn, row), n / 3) + ulp);
  EXPECT_LE(error(jit(lines)(x3, column), n / 3), error(lines(x3, column), n / 3) + ulp);
  EXPECT_LE(error(jit(all)(x, one), n), 3e-6);
}

TEST(FuseReductions, ResultsDoNotDependOnThreads) {
  const auto f = [](const F& x, const F& row) {
    const F t = tanh(x * row), u = t + row;
    return std::tuple(F(sum(F(t * 1.1f))), F(sum(u, {.axis = 0})), F(sum(F(exp(x - row)), {.axis = 1})));
  };
  const F x = reshape(linspace<float>(-1, 1, 2000 * 90), {2000, 90}), row = linspace<float>(0, 1, 90);
  const auto fast = jit(f);
  const int threads = num_threads();
  set_num_threads(1);
  const auto one = fast(x, row);
  set_num_threads(4);
  const auto four = fast(x, row);
  set_num_threads(threads);
  expect_near(std::get<0>(one), std::get<0>(four), 0);
  expect_near(std::get<1>(one), std::get<1>(four), 0);
  expect_near(std::get<2>(one), std::get<2>(four), 0);
  expect_near(std::get<1>(one), std::get<1>(f(x, row)), 1e-5);
}

// A map that needs the sum runs after it, whatever it reads besides.
TEST(FuseReductions, KeepsTheOrder) {
  const auto f = [](const D& x) {
    const D a = exp(x), total = sum(a), b = a / total, least = min(b), c = b - least;
    return std::pair(D(c * total), D(sum(c)));
  };
  const D x = linspace<double>(-1, 1, 100);
  const auto fast = jit(f)(x), plain = f(x);
  expect_near(fast.first, plain.first, 1e-14);
  expect_near(fast.second, plain.second, 1e-14);
}

// Random graphs of maps and reductions, over two shapes.
TEST(FuseReductions, RandomGraphs) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto f = [seed](const D& x, const D& row) {
      std::mt19937 random(seed);
      std::vector<D> made = {x, D(x + row), D(x * 0.5)};
      for (int i = 0; i < 24; ++i) {
        const D a = made[random() % made.size()], b = made[made.size() - 1 - random() % 3];
        switch (random() % 10) {
          case 0:
            made.push_back(D(tanh(a)));
            break;
          case 1:
            made.push_back(D(a - 0.25 * b));
            break;
          case 2:
            made.push_back(D(a * row - mean(a * b)));
            break;
          case 3:
            made.push_back(D(sin(a) + sum(b, {.axis = 1, .keepdims = true}) / 9.0));
            break;
          case 4:
            made.push_back(D(a / (2.0 + sum(square(b), {.axis = 0}))));
            break;
          case 5:
            made.push_back(D(b - max(a, {.axis = 1, .keepdims = true})));
            break;
          case 6:
            made.push_back(D(b + min(a)));
            break;
          case 7:
            made.push_back(D(a.T() * 0.5));
            break;
          case 8:
            made.push_back(D(a + max(sin(b), {.axis = 0})));
            break;
          default:
            made.push_back(D(a * tanh(sum(b, {.axis = 0}))));
        }
      }
      return std::pair(D(sum(made.back() * made[made.size() - 4], {.axis = 0})), made[made.size() - 2]);
    };
    const D x = random::normal<double>(random::key(static_cast<int>(seed)), {6, 6}), row = x(1);
    const auto fast = jit(f)(x, row), plain = f(x, row);
    expect_near(fast.first, plain.first, 1e-9);
    expect_near(fast.second, plain.second, 1e-9);
    const auto slope = [f](const D& y, const D& r) {
      return grad<0, 1>([&](const D& z, const D& q) { return sum(f(z, q).first); })(y, r);
    };
    const auto got = jit(slope)(x, row), want = slope(x, row);
    expect_near(std::get<0>(got), std::get<0>(want), 1e-7);
    expect_near(std::get<1>(got), std::get<1>(want), 1e-7);
  }
}

}  // namespace fuse_reductions_test
