#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <tuple>
#include <vector>

#include "same_bits.hpp"
#include "settings.hpp"

// Random programs of arrays of all types give equal bits with jit and without: whole numbers wrap around,
// conversions end at the limits of a type, and each array of a 16-bit type is rounded.
namespace random_types_test {
using namespace nax;

using program_tests::expect_same;

template <class... T>
struct Types {
  std::tuple<std::vector<Array<T>>...> arrays;
  using Last = std::tuple<Array<T>...>;

  Types(const Array<double>& x, const Array<std::int64_t>& k) {
    (..., (std::get<std::vector<Array<T>>>(arrays) = {Array<T>(x.astype<T>()), Array<T>(k.astype<T>())}));
  }
  static constexpr int count = sizeof...(T);
  // f(the arrays of type number i).
  template <class F>
  void at(unsigned i, const F& f) {
    unsigned k = 0;
    (..., (k++ == i ? f(std::get<std::vector<Array<T>>>(arrays)) : void()));
  }
  template <class To, class A>
  void convert(const Array<A>& a) {
    std::get<std::vector<Array<To>>>(arrays).push_back(Array<To>(a.template astype<To>()));
  }
  Last last() const { return {std::get<std::vector<Array<T>>>(arrays).back()...}; }
};
using Mixed =
    Types<bool, std::int8_t, std::int32_t, std::uint32_t, std::int64_t, half, bfloat16, float, double>;

// A few operations, each an array of its own, on arrays of types that a seed chooses. (Sums of products in
// float may be rounded once in one way and twice in another, so there are none.)
Mixed::Last run(unsigned seed, const Array<double>& x, const Array<std::int64_t>& k) {
  std::mt19937 random(seed);
  Mixed all(x, k);
  for (int i = 0; i < 14; ++i)
    all.at(static_cast<unsigned>(random() % Mixed::count), [&]<class T>(std::vector<Array<T>>& made) {
      const Array<T> a = made[random() % made.size()], b = made[random() % made.size()];
      auto& masks = std::get<std::vector<Array<bool>>>(all.arrays);
      const Array<bool> mask = masks[random() % masks.size()];
      const unsigned what = static_cast<unsigned>(random() % 9);
      if (what == 0) return all.convert<float>(a);
      if (what == 1) return all.convert<std::int32_t>(a);
      if (what == 2) return made.push_back(Array<T>(where(mask, a, b)));
      if (what == 3) return masks.push_back(Array<bool>(a < b));
      if constexpr (std::is_same_v<T, bool>) {
        made.push_back(what % 2 ? Array<T>(logical_and(a, b)) : Array<T>(logical_not(a)));
      } else {
        if (what == 4) return made.push_back(Array<T>(a - b));
        if (what == 5) return made.push_back(Array<T>(maximum(a, b)));
        if (what == 6 && !std::is_same_v<T, float> && !std::is_same_v<T, double>)
          return made.push_back(Array<T>(a * b));
        if (what == 7) return made.push_back(Array<T>(abs(a)));
        made.push_back(Array<T>(a + b));
      }
    });
  return all.last();
}

void expect_equal_with_jit(unsigned seed) {
  const auto f = [=](const Array<double>& x, const Array<std::int64_t>& k) { return run(seed, x, k); };
  const auto fast = jit(f);
  for (int call = 0; call < 2; ++call) {
    const auto key = random::fold_in(random::key(static_cast<int>(seed)), call);
    // Of all sizes, with a row that is repeated, or a number.
    const Array<double> x = random::normal<double>(key, {3, 5}) *
                            exp(4. * random::normal<double>(random::fold_in(key, 1), {3, 5}));
    const Array<std::int64_t> k =
        (random::normal<double>(random::fold_in(key, 2), seed % 3 == 0 ? Shape{} : Shape{5}) * 1e4)
            .astype<std::int64_t>();
    const auto a = f(x, k), b = fast(x, k);
    std::apply(
        [&](const auto&... p) { std::apply([&](const auto&... q) { (expect_same(p, q, seed), ...); }, b); },
        a);
  }
}

TEST(RandomTypes, AreEqualWithJit) {
  const unsigned programs = static_cast<unsigned>(program_tests::setting("NAX_FUZZ_PROGRAMS", 100));
  const unsigned first = programs * static_cast<unsigned>(GTEST_FLAG_GET(random_seed));
  for (unsigned seed = first; seed < first + programs && !testing::Test::HasFatalFailure(); ++seed)
    expect_equal_with_jit(seed);
}

}  // namespace random_types_test
