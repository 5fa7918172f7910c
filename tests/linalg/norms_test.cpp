// Norms of arrays without elements, condition numbers by every norm, and exponentials of badly scaled
// matrices.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/linalg/matrix_functions.hpp"
#include "nax/linalg/norm.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/refusal.hpp"

namespace norms_test {

namespace la = nax::linalg;
using A = nax::Array<double>;
constexpr double inf = std::numeric_limits<double>::infinity();

std::string shape_of(const A& x) { return nax::to_string(x.shape()); }

TEST(Norms, OfEmptyArraysMatchNumPy) {
  const A none = nax::zeros<double>({0}), flat = nax::zeros<double>({0, 3}),
          thin = nax::zeros<double>({3, 0});
  for (const double p : {0.0, 1.0, 2.0, 3.0, inf}) {
    EXPECT_EQ(la::norm(none, {.ord = p}).item(), 0) << p;
    EXPECT_EQ(la::vector_norm(flat, {.ord = p}).item(), 0) << p;
    EXPECT_EQ(la::norm(flat, {.ord = p, .axis = 0}).to_vector(), std::vector<double>(3, 0)) << p;
    EXPECT_EQ(shape_of(la::norm(flat, {.ord = p, .axis = 1})), "(0,)") << p;
  }
  for (const double p : {-1.0, -3.0}) EXPECT_EQ(la::norm(none, {.ord = p}).item(), inf) << p;
  for (const A& x : {flat, thin, nax::zeros<double>({0, 0})}) {
    EXPECT_EQ(la::norm(x).item(), 0);
    for (const la::NormOrder& p :
         {la::NormOrder("fro"), la::NormOrder("nuc"), la::NormOrder(1), la::NormOrder(2), la::NormOrder(inf)})
      EXPECT_EQ(la::matrix_norm(x, {.ord = p}).item(), 0);
  }
  EXPECT_EQ(la::matrix_norm(flat, {.ord = -1}).item(), 0);
  EXPECT_EQ(la::matrix_norm(thin, {.ord = -inf}).item(), 0);
  EXPECT_EQ(shape_of(la::matrix_norm(nax::zeros<double>({0, 3, 3}), {.ord = -2})), "(0,)");
  EXPECT_EQ(shape_of(la::matrix_norm(nax::zeros<double>({2, 0, 3}), {.keepdims = true, .ord = inf})),
            "(2, 1, 1)");
}

TEST(Norms, TheSmallestOfNothingIsANamedError) {
  const A flat = nax::zeros<double>({0, 3}), thin = nax::zeros<double>({3, 0});
  EXPECT_EQ(refusal([&] { la::norm(nax::zeros<double>({0}), {.ord = -inf}); }),
            "norm: ord -inf is the smallest of no sizes: shape (0,)");
  EXPECT_EQ(refusal([&] { la::vector_norm(flat, {.ord = -inf}); }),
            "vector_norm: ord -inf is the smallest of no sizes: shape (0, 3)");
  EXPECT_EQ(refusal([&] { la::matrix_norm(flat, {.ord = -inf}); }),
            "matrix_norm: ord -inf is the smallest of no sizes: shape (0, 1)");
  EXPECT_EQ(refusal([&] { la::matrix_norm(thin, {.ord = -1}); }),
            "matrix_norm: ord -1 is the smallest of no sizes: shape (1, 0)");
  EXPECT_EQ(refusal([&] {
              la::norm(thin, {.ord = -2, .axis = {0, 1}});
            }),
            "norm: ord -2 is the smallest of no sizes: shape (0,)");
}

TEST(Cond, TakesEveryOrder) {
  const A a = {{4, 1, -2}, {0.5, -3, 1}, {2, 0.3, 5}}, singular = {{1, 2}, {2, 4}};
  const A zero = nax::zeros<double>({2, 2}), broken = {{1, std::nan("")}, {1, 2}};
  const A both = nax::stack({A{{1, 2}, {3, 4}}, singular});
  const struct {
    la::NormOrder p;
    double want, of_first;
  } rows[] = {{{}, 1.914052144455617, 14.933034373659265},
              {"fro", 3.4599379485921578, 15},
              {"nuc", 9.683889650423488, 17.0 - 2 + 0.933034373659265 + 1.066965626340735},
              {1, 3.2864864864864867, 21},
              {-1, 1.275472972972973, 6},
              {2, 1.914052144455617, 14.933034373659265},
              {-2, 0.5224518061833754, 0.06696562634074718},
              {inf, 2.910135135135135, 21},
              {-inf, 1.1827702702702703, 6}};
  for (const auto& [p, want, of_first] : rows) {
    SCOPED_TRACE(want);
    EXPECT_NEAR(la::cond(a, p).item(), want, 1e-13 * want);
    EXPECT_EQ(la::cond(zero, p).item(), inf);
    EXPECT_TRUE(std::isnan(la::cond(broken, p).item()));
    const std::vector<double> of_both = la::cond(both, p).to_vector();
    EXPECT_NEAR(of_both[0], of_first, 1e-12);
    if (p.given() && (p.named() || std::abs(p.p()) != 2)) {
      EXPECT_EQ(of_both[1], inf);
    }
  }
  EXPECT_EQ(refusal([&] { la::cond(a, 0); }),
            "cond: ord 0 is no norm of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              la::cond(nax::zeros<double>({2, 3}), 1);
            }),
            "cond: the last two axes must be square, shape (2, 3)");
}

// The largest error over the largest element; mpmath's values.
double error_of(const A& got, const A& want) {
  return (nax::max(nax::abs(got - want)) / nax::max(nax::abs(want))).item();
}

TEST(Expm, OfBadlyScaledMatrices) {
  const A cases[][2] = {
      {{{1, 1e6}, {0, -1}}, {{2.718281828459045, 1175201.1936438014}, {0, 0.36787944117144233}}},
      {{{1, 1e8}, {1e-8, -1}},
       {{3.5464824286171615, 136829887.20085907}, {1.3682988720085908e-08, 0.8098846845999802}}},
      {{{1, 2, 1e7}, {0.5, -1, 3e6}, {0, 0, 2}},
       {{3.5464824286171615, 2.7365977440171814, 58219935.08957407},
        {0.6841494360042953, 0.8098846845999802, 14001995.809245365},
        {0, 0, 7.38905609893065}}},
      {{{-1, 1e5, 1e10}, {0, -2, 1e5}, {0, 0, -3}},
       {{0.36787944117144233, 23254.415793482964, 2325441579.348296},
        {0, 0.1353352832366127, 8554.821486874875},
        {0, 0, 0.049787068367863944}}},
      {{{1, 1e15}, {0, 2}}, {{2.718281828459045, 4.670774270471605e+15}, {0, 7.38905609893065}}},
      {{{-49, 24}, {-64, 31}},
       {{-0.7357587581447531, 0.5518190996580977}, {-1.4715175990882605, 1.1036382407155725}}},
  };
  for (const auto& [a, want] : cases) {
    SCOPED_TRACE(a(0, 1).item());
    const A got = la::expm(a);
    EXPECT_LT(error_of(got, want), 5e-14);
    for (std::int64_t i = 0; i < a.shape(0); ++i)  // small elements next to large ones
      EXPECT_NEAR(got(i, i).item(), want(i, i).item(), 2e-14 * (1 + std::abs(want(i, i).item())));
  }
  // Together they are halved as often as each asks for.
  const A many = nax::stack({cases[0][0], cases[1][0], cases[4][0], cases[5][0], A{{0, 1e3}, {-1e3, 0}}});
  const A each = la::expm(many), mapped = nax::vmap([](const A&x) { return la::expm(x); })(many);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_LT(error_of(each(i), la::expm(many(i))), 1e-15);
    EXPECT_LT(error_of(mapped(i), la::expm(many(i))), 1e-15);
  }
  EXPECT_NEAR(each(4, 0, 0).item(), 0.5623790762907029, 1e-10);
  // The derivative of exp(a)_01 by a_00, a = [[x, b], [0, y]]: b d/dx (e^x - e^y) / (x - y).
  const A slope = nax::grad([](const A& x) { return la::expm(x)(0, 1); })(cases[0][0]);
  EXPECT_NEAR(slope(0, 0).item() / 1e6, (2 * std::exp(1) - (std::exp(1) - std::exp(-1))) / 4, 1e-12);
  // Floats, and powers that vanish.
  const nax::Array<float> f = la::expm(nax::Array<float>{{1, 1e6f}, {0, -1}});
  EXPECT_NEAR(f(0, 0).item(), 2.7182818f, 2e-6);
  EXPECT_NEAR(f(1, 1).item(), 0.36787944f, 5e-7);
  EXPECT_EQ(la::expm(A{{0, 1e200}, {0, 0}})(0, 1).item(), 1e200);
}

}  // namespace norms_test
