// Functions of half types by sums of squares, means and epsilons: equal to those of double but for one
// rounding, plain, mapped and recorded.

#include <gtest/gtest.h>

#include <functional>

#include "nax/linalg/norm.hpp"
#include "nax/nax.hpp"

namespace half_statistics_test {
using namespace nax;

// Half a unit in the last place, and a little for sums in float.
template <class T>
constexpr double rounding = std::is_same_v<T, half> ? 0x1.01p-11 : 0x1.01p-8;

template <class T, class To>
void expect_rounded_once(const std::string& what, const Array<T>& got, const To& want) {
  const std::vector<double> found = got.template astype<double>().to_vector(),
                            right = want.template astype<double>().to_vector();
  ASSERT_EQ(found.size(), right.size()) << what;
  double most = 0, worst = 0;
  for (const double v : right) most = std::max(most, std::abs(v));
  for (std::size_t i = 0; i < right.size(); ++i) {
    ASSERT_TRUE(std::isfinite(found[i])) << what << ' ' << i << ": " << found[i] << " is not " << right[i];
    const double allowed = rounding<T> * std::abs(right[i]) + 4e-6 * most + 0x1p-25;
    worst = std::max(worst, std::abs(found[i] - right[i]) / allowed);
  }
  EXPECT_LE(worst, 1) << what;
}

// Numbers that half types hold.
template <class V>
Array<V> numbers(std::uint32_t seed, const Shape& shape) {
  return (rint(random::normal(random::key(seed), shape) * 16.f) / 16.f).template astype<V>();
}

template <class T>
using Function = std::function<Array<T>(const Array<T>&)>;

// A function, its gradient and both under vmap and jit.
template <class T>
void compare(const std::string& what, const Function<T>& f, const Function<double>& of_double,
             const Array<T>& x) {
  const Array<double> wide = x.template astype<double>(), wanted = of_double(wide);
  expect_rounded_once(what, f(x), wanted);
  expect_rounded_once(what + " under jit", Array<T>(jit(f)(x)), wanted);
  const Array<T> twice = stack(std::vector{x, x});
  expect_rounded_once(what + " under vmap", Array<T>(vmap(f)(twice)(1)), wanted);
  const auto slope_of = [&]<class V>(const Function<V>& g) {
    return Function<V>(
        grad([&](const Array<V>& v) { return Array<V>(sum(g(v) * numbers<V>(5, wanted.shape()))); }));
  };
  const Array<double> slope = slope_of(of_double)(wide);
  expect_rounded_once(what + ", gradient", slope_of(f)(x), slope);
  expect_rounded_once(what + ", gradient under jit", Array<T>(jit(slope_of(f))(x)), slope);
}
template <class T, class F>
void check(const std::string& what, const F& f, const Array<T>& x) {
  compare<T>(
      what, [&](const Array<T>& v) { return Array<T>(f(v)); },
      [&](const Array<double>& v) { return Array<double>(f(v)); }, x);
}

template <class T>
void check_functions() {
  const Array<T> x = (random::normal(random::key(8), {4, 96}) * 300.f + 30.f).template astype<T>();
  const auto row = []<class V>(const Array<V>&, std::uint32_t seed) { return numbers<V>(seed, {96}); };
  check<T>(
      "standardize", [](const auto& v) { return nn::standardize(v); }, x);
  check<T>(
      "standardize columns", [](const auto& v) { return nn::standardize(v, {.axis = 0}); }, x);
  check<T>(
      "layer_norm", [&](const auto& v) { return nn::layer_norm(v, row(v, 1), row(v, 2)); }, x);
  check<T>(
      "rms_norm", [&](const auto& v) { return nn::rms_norm(v, row(v, 1)); }, x);
  check<T>(
      "group_norm", [&](const auto& v) { return nn::group_norm(v, row(v, 1), row(v, 2)); }, x);
  check<T>(
      "instance_norm",
      [&](const auto& v) {
        return nn::instance_norm(v.reshape({1, 4, 96}), row(v, 1), row(v, 2));
      },
      x);
  check<T>(
      "batch_norm",
      [&]<class V>(const Array<V>& v) {
        const nn::BatchStats<V> stats = {row(v, 3), square(row(v, 4))};
        return nn::batch_norm(v, row(v, 1), row(v, 2), stats).first;
      },
      x);
  check<T>(
      "weight_norm", [&](const auto& v) { return nn::weight_norm(v, row(v, 1)); }, x);
  check<T>(
      "spectral_norm",
      [&](const auto& v) { return nn::spectral_norm(v, row(v, 1), {.iterations = 3}).first; }, x);
  check<T>(
      "cosine_similarity", [&](const auto& v) { return nn::cosine_similarity(v, row(v, 1)); }, x);
  check<T>(
      "norm", [](const auto& v) { return linalg::norm(v, {.axis = -1}); }, x);
  check<T>(
      "3-norm", [](const auto& v) { return linalg::vector_norm(v, {.axis = 0, .ord = 3}); }, x);
  check<T>(
      "std", [](const auto& v) { return nax::std(v, {.axis = -1}); }, x);
  check<T>(
      "corrcoef", [](const auto& v) { return corrcoef(v); }, x);
  check<T>(
      "average", [&](const auto& v) { return average(v, {.axis = 1, .weights = abs(row(v, 1)) * 1024}); }, x);
  check<T>(
      "global_norm",
      []<class V>(const Array<V>& v) {
        if constexpr (std::is_same_v<V, double>)
          return linalg::norm(v);
        else
          return optim::global_norm(v).template astype<V>();
      },
      Array<T>(x(0)));
}

TEST(HalfStatistics, AreRoundedOnce) {
  check_functions<half>();
  check_functions<bfloat16>();
}

template <class T>
void check_constant_rows() {
  const Array<T> x = full<T>({2, 8}, T(3.f)), one = ones<T>({8}), none = zeros<T>({8});
  const auto f = [&](const Array<T>& v) {
    return Array<T>(nn::layer_norm(v, one, none, {.epsilon = 1e-12}) +
                    nn::standardize(v.T(), {.axis = 0, .epsilon = 1e-12}).T());
  };
  EXPECT_FALSE(any(f(x) != T(0)).item());
  EXPECT_FALSE(any(grad([&](const Array<T>& v) { return Array<T>(sum(f(v))); })(x) != T(0)).item());
}
TEST(HalfStatistics, EpsilonsCountThatHalfTypesDoNotHold) {
  check_constant_rows<half>();
  check_constant_rows<bfloat16>();
}

TEST(HalfStatistics, SpreadOfRowsFarFromZero) {  // of mean 30
  const Array<bfloat16> x = (random::normal(random::key(1), {4, 64}) + 30.f).astype<bfloat16>();
  expect_rounded_once("standardize", nn::standardize(x), nn::standardize(x.astype<double>()));
}

TEST(HalfStatistics, OptimizersMeasureGradients) {
  const Array<half> g = full<half>({4, 4}, half(200.f)), p = full<half>({4, 4}, half(2.f));
  const auto all = [](const Array<half>& v, float want) {
    for (const half u : v.to_vector()) EXPECT_NEAR(static_cast<float>(u), want, 1e-3f * std::abs(want));
  };
  const optim::EmptyState none;
  all(optim::clip_by_global_norm(1).update(g, none).first, .25f);
  all(optim::normalize().update(g, none).first, .25f);
  all(optim::clip_by_block_rms(1).update(g, none).first, 1.f);
  all(optim::scale_by_trust_ratio().update(g, none, p).first, 2.f);
  all(optim::scale_by_param_block_rms().update(p, none, g).first, 400.f);
  all(optim::adaptive_grad_clip(.01).update(g, none, p).first, .02f);
  const auto factored = optim::scale_by_factored_rms({.min_dim_size_to_factor = 2});
  const Array<half> little = full<half>({4, 4}, half(1e-4f));
  all(factored.update(little, factored.init(p), p).first, 1.f);
  const auto shared = optim::differentially_private_aggregate(1, 0, random::key(1));
  all(shared.update(g, shared.init(p)).first, .5f);
  EXPECT_FALSE(any(isnan(optim::orthogonalize_via_newton_schulz(g, optim::MuonOptions().ns_coeffs))).item());
}

}  // namespace half_statistics_test
