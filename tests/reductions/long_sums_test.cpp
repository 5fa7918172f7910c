#include "support/long_sums.hpp"

// Sums of 2^25 terms over all axes and over each, of arrays and of expressions.
namespace long_sums_test {

using namespace long_sums;
using nax::sum;

TEST(LongSums, all_elements) {
  for (const Terms which : all_terms) {
    const Array<float> x = terms(which, {many});
    const Sums want = sums_of(x, 1, many, 1);
    expect(sum(x), want, which, "sum");
    expect(sum(x * 1.f), want, which, "sum of an expression");
    expect(sum(x.reshape({2, many / 2}).T()), want, which, "sum of a transposed array");
    // Rows that are no single run.
    const std::int64_t rows = many / 32;
    const Array<float> part = x.reshape({rows, 32})(nax::ellipsis, nax::slice(0, 24));
    const Sums some = sums_of(nax::copy(part), 1, rows * 24, 1);
    expect(sum(part), some, which, "sum of part of the columns");
    expect(sum(part * 1.f), some, which, "sum of an expression of part of the columns");
    expect(nax::mean(x) * static_cast<float>(many), want, which, "mean");
  }
}

TEST(LongSums, axis_0) {
  for (const std::int64_t columns : {1, 3, 16, 70}) {
    const std::int64_t rows = many / (columns == 1 ? 1 : 8) / columns;
    for (const Terms which : all_terms) {
      const Array<float> x = terms(which, {rows, columns});
      const Sums want = sums_of(x, rows, columns, 0);
      expect(sum(x, {.axis = 0}), want, which, "sum over axis 0");
      expect(sum(x * 1.f, {.axis = 0}), want, which, "sum of an expression over axis 0");
      expect(sum(x.T(), {.axis = 1}), want, which, "sum over axis 1 of a transposed array");
    }
  }
}

TEST(LongSums, axis_1) {
  for (const Terms which : all_terms) {
    const std::int64_t rows = 3, columns = many / 3;
    const Array<float> x = terms(which, {rows, columns});
    const Sums want = sums_of(x, rows, columns, 1);
    expect(sum(x, {.axis = 1}), want, which, "sum over axis 1");
    expect(sum(x * 1.f, {.axis = 1}), want, which, "sum of an expression over axis 1");
    expect(sum(x.T(), {.axis = 0}), want, which, "sum over axis 0 of a transposed array");
    expect(sum(x.T() * 1.f, {.axis = 0}), want, which, "sum of a transposed expression over axis 0");
  }
}

// Reduced axes around, between and inside kept axes.
TEST(LongSums, axes_apart) {
  const std::int64_t a = 4096, b = 3, c = 64, d = 5;
  for (const Terms which : all_terms) {
    const Array<float> x = terms(which, {a, b, c, d});
    const auto want = [&](bool sum_b, bool sum_c, bool sum_d) {
      Sums sums((sum_b ? 1 : b) * (sum_c ? 1 : c) * (sum_d ? 1 : d));
      const float* at = x.data();
      for (std::int64_t i = 0; i < a * b * c * d; ++i) {
        const std::int64_t ib = i / (c * d) % b, ic = i / d % c, id = i % d;
        std::int64_t to = sum_b ? 0 : ib;
        if (!sum_c) to = to * c + ic;
        if (!sum_d) to = to * d + id;
        sums.add(to, double{at[i]});
      }
      return sums;
    };
    expect(sum(x, {.axis = {0, 2}}), want(false, true, false), which, "axes 0, 2");
    expect(sum(x * 1.f, {.axis = {0, 2}}), want(false, true, false), which, "axes 0, 2 of an expression");
    expect(sum(x, {.axis = {0, 1, 3}}), want(true, false, true), which, "axes 0, 1, 3");
    expect(sum(x * 1.f, {.axis = {0, 1, 3}}), want(true, false, true), which, "axes 0, 1, 3, expression");
    expect(sum(x, {.axis = {0, 3}}), want(false, false, true), which, "axes 0, 3");
    expect(sum(x, {.axis = 0}), want(false, false, false), which, "axis 0");
    expect(sum(x * 1.f, {.axis = 0}), want(false, false, false), which, "axis 0 of an expression");
    const Array<float> part = x(nax::ellipsis, nax::slice(0, 60), nax::slice(0, 4));
    const Array<float> whole = nax::copy(part);
    EXPECT_TRUE(nax::allclose(sum(part, {.axis = 0}), sum(whole, {.axis = 0}), {.rtol = 1e-6}));
    EXPECT_TRUE(nax::allclose(sum(part * 1.f, {.axis = 0}), sum(whole, {.axis = 0}), {.rtol = 1e-6}));
    EXPECT_TRUE(nax::allclose(sum(part, {.axis = {0, 2}}), sum(whole, {.axis = {0, 2}}), {.rtol = 1e-6}));
  }
}

TEST(LongSums, statistics) {
  for (const Terms which : {Terms::tenths, Terms::uniform}) {
    const Array<float> x = terms(which, {many});
    const Sums want = sums_of(x, 1, many, 1);
    double squares = 0, deviations = 0;
    const float* at = x.data();
    for (std::int64_t i = 0; i < many; ++i) {
      const double d = double{at[i]} - want.sums[0] / many;
      squares += double{at[i]} * at[i];
      deviations += d * d;
    }
    EXPECT_NEAR(nax::linalg::norm(x).item(), std::sqrt(squares), 1e-6 * std::sqrt(squares));
    EXPECT_NEAR(nax::var(x).item(), deviations / many, 2e-6 * deviations / many + 1e-13);
    const Array<float> columns = x.reshape({many / 2, 2});
    EXPECT_NEAR(nax::var(columns, {.axis = 0})(1).item(), deviations / many, 1e-3 * deviations / many + 1e-7);
    double exponentials = 0;
    for (std::int64_t i = 0; i < many; ++i) exponentials += std::exp(double{at[i]});
    EXPECT_NEAR(nax::logsumexp(x).item(), std::log(exponentials), 2e-6 * std::log(exponentials));
    EXPECT_NEAR(nax::sum(nax::nn::softmax(x)).item(), 1, 2e-6);
  }
}

// Each running sum, to a few units in its last place.
void expect_running(const Array<float>& got, const Array<float>& x, Terms which, std::int64_t lines,
                    const char* what) {
  const float *y = got.data(), *at = x.data();
  std::vector<double> sums(static_cast<std::size_t>(lines)), sizes(sums);
  const bool whole = which == Terms::ones || which == Terms::signs;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::size_t line = static_cast<std::size_t>(i % lines);
    sums[line] += double{at[i]};
    sizes[line] += std::abs(double{at[i]});
    const bool exact = whole && std::abs(sums[line]) < (1 << 24);
    if (!(std::abs(double{y[i]} - sums[line]) <= (exact ? 0 : 1e-6 * sizes[line])))
      FAIL() << what << " of terms " << static_cast<int>(which) << " [" << i << "]: " << y[i] << ", not "
             << sums[line];
  }
}

TEST(LongSums, running) {
  for (const Terms which : {Terms::ones, Terms::tenths}) {
    const Array<float> x = terms(which, {many + 5});
    expect_running(nax::cumsum(x), x, which, 1, "cumsum");
    const Array<float> reversed =
        nax::grad([&](const Array<float>& v) { return sum(nax::cumsum(v) * x); })(x);
    expect_running(nax::copy(reversed(nax::slice(nax::none, nax::none, -1))),
                   nax::copy(x(nax::slice(nax::none, nax::none, -1))), which, 1, "the gradient of cumsum");
    for (const std::int64_t columns : {2, 19}) {
      const Array<float> lines = x(nax::slice(0, many / 8 / columns * columns)).reshape({-1, columns});
      expect_running(nax::cumsum(lines, {.axis = 0}), lines, which, columns, "cumsum over axis 0");
    }
  }
  const float inf = std::numeric_limits<float>::infinity();
  Array<float> x = nax::full({2000}, -0.f);
  EXPECT_TRUE(std::signbit(nax::cumsum(x)(1999).item()));
  x = x.at(700).set(inf);
  EXPECT_EQ(nax::cumsum(x)(1999).item(), inf);
  EXPECT_EQ(nax::cumsum(x)(699).item(), 0);
  EXPECT_TRUE(std::isnan(nax::cumsum(x.at(900).set(-inf))(1999).item()));
}

TEST(LongSums, convolution) {
  const std::int64_t n = many / 8;
  for (const Terms which : all_terms) {
    const Array<float> x = terms(which, {n});
    const Array<float> got = nax::convolve(x, nax::ones<float>({n - 1}), {.mode = "valid"});
    Sums want(2);
    for (std::int64_t i = 0; i < n; ++i)
      for (int j = 0; j < 2; ++j)
        if (i - j >= 0 && i - j < n - 1) want.add(j, double{x.data()[i]});
    expect(got, want, which, "convolve");
  }
}

TEST(LongSums, other_types) {
  const Array<std::complex<float>> z = nax::full({many / 8, 2}, std::complex<float>(.1f, 1));
  for (const Array<std::complex<float>>& s : {sum(z, {.axis = 0}), sum(nax::copy(z.T()), {.axis = 1})}) {
    const std::complex<float> total = s(0).item();
    EXPECT_NEAR(double{total.real()}, double{.1f} * many / 8, 1e-6 * many / 80);
    EXPECT_EQ(total.imag(), static_cast<float>(many / 8));
  }
  const Array<nax::half> h = nax::full({many / 8, 2}, .0625f / 1024).astype<nax::half>();
  EXPECT_EQ(static_cast<float>(sum(h).item()), .0625f / 1024 * many / 4);
  EXPECT_EQ(static_cast<float>(sum(h, {.axis = 0})(1).item()), .0625f / 1024 * many / 8);
  const Array<std::int32_t> ints = nax::full({many / 2, 2}, std::int32_t{1});
  EXPECT_EQ(nax::mean(ints).item(), 1.f);
  EXPECT_EQ(nax::mean(ints, {.axis = 0})(1).item(), 1.f);
}

// For any number of threads.
TEST(LongSums, threads) {
  const Array<float> x = nax::random::uniform<float>(nax::random::key(1), {3001, 7, 33});
  std::vector<std::vector<float>> seen;
  const int before = nax::num_threads();
  for (const int threads : {1, 2, 3, 8}) {
    nax::set_num_threads(threads);
    std::vector<float> values;
    const auto note = [&](const Array<float>& a) {
      const std::vector<float> v = a.to_vector();
      values.insert(values.end(), v.begin(), v.end());
    };
    for (const nax::Axis& axis : {nax::Axis(0), nax::Axis(1), nax::Axis(2), nax::Axis({0, 1}),
                                  nax::Axis({0, 2}), nax::Axis({1, 2}), nax::Axis({0, 1, 2})}) {
      note(sum(x, {.axis = axis}));
      note(sum(x * x, {.axis = axis}));
      note(sum(nax::transpose(x) * .1f, {.axis = axis}));
    }
    seen.push_back(values);
  }
  nax::set_num_threads(before);
  for (const auto& values : seen) EXPECT_EQ(values, seen[0]);
}

}  // namespace long_sums_test
