#include <gtest/gtest.h>

#include <complex>
#include <nax/nax.hpp>
#include <random>
#include <vector>

#include "settings.hpp"

// Random programs of joined, padded and updated arrays of every kind of dtype, of which indices choose, with
// derivatives by constant cotangents and tangents, branches and loops: equal with jit and without. Extents
// of 0 and 1 are as likely as others. NAX_RANDOM_PROGRAMS and NAX_RANDOM_SEED as for property_test.
namespace random_choices_test {
using namespace nax;
using I = Array<int>;

template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<double>>;
template <class T>
constexpr bool is_inexact = !std::is_integral_v<T>;

template <class T>
class Generator {
  using A = Array<T>;

 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  A run(const A& x, const A& y, int steps, int depth) {
    std::vector<A> made = {x, y};
    for (int i = 0; i < steps; ++i) {
      const A a = below(2) ? made.back() : made[below(made.size())], b = made[below(made.size())];
      made.push_back(depth > 0 && below(4) == 0 ? flow(a, b, depth) : step(a, b));
    }
    return A(made.back() + made[made.size() / 2]);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  static T number(double x) { return static_cast<T>(x); }

  // Positions along an axis of n elements, as many as there are, some of them several times.
  I places(std::int64_t n) {
    const int offset = static_cast<int>(below(7)), factor = 1 + static_cast<int>(below(3));
    if (n == 0) return zeros<int>({0});
    return I(mod(arange<int>(static_cast<int>(n)) * factor + offset, static_cast<int>(n)));
  }
  A mapped(const A& a, const A& b) {
    if constexpr (is_complex<T>) {
      return below(2) ? A(a * b * number(0.5)) : A(exp(a * T(0, 0.3)) - b);
    } else if constexpr (is_inexact<T>) {
      switch (below(3)) {
        case 0:
          return A(tanh(a) * b);
        case 1:
          return A(sin(a) - b * number(0.5));
        default:
          return A(a / (square(b) + number(1.5)));
      }
    } else {
      switch (below(3)) {
        case 0:
          return A(a * b + number(3));
        case 1:
          return A(maximum(a, b));
        default:
          return A(a ^ b);
      }
    }
  }
  // Of the shape of both.
  A step(const A& a, const A& b) {
    const std::int64_t rows = a.shape(0), columns = a.shape(1);
    switch (below(14)) {
      case 0: {
        const A joined = mapped(concatenate(std::vector{a, b}), concatenate(std::vector{b, A(a + b)}));
        return joined(I(mod(places(rows) * 2, static_cast<int>(2 * rows + (rows == 0)))));
      }
      case 1: {
        const A joined =
            mapped(concatenate(std::vector{a, b}, {.axis = 1}), concatenate(std::vector{b, a}, {.axis = 1}));
        return take(joined, places(columns), {.axis = 1});
      }
      case 2:
        return mapped(stack(std::vector{a, b, a}), stack(std::vector{b, a, b}))(I{2, 0})(below(2) ? 1 : -2);
      case 3: {
        const A padded = mapped(pad(a, {{1, 2}, {0, 1}}), pad(b, {{2, 1}, {1, 0}}));
        return padded(slice(1, 1 + rows), slice(0, columns));
      }
      case 4:
        return take_along_axis(mapped(roll(a, 1, {.axis = 1}), b),
                               I(broadcast_to(places(columns), {rows, columns})), 1);
      case 5:
        return take_along_axis(mapped(a, flip(b, {.axis = 0})),
                               I(broadcast_to(expand_dims(places(rows), 1), {rows, columns})), 0);
      case 6:
        return A(a.at(places(rows)).add(b));
      case 7:
        return A(a.at(_, I(flip(arange<int>(static_cast<int>(columns))))).set(mapped(a, b)));
      case 8:
        return rows > 0 ? A(a.at(static_cast<int>(below(static_cast<std::size_t>(rows)))).set(A(b(rows - 1))))
                        : mapped(a, b);
      case 9: {
        const A summed =
            sum(mapped(a, b), {.axis = static_cast<int>(below(2)), .keepdims = true}).template astype<T>();
        return A(a + A(summed * number(0.25)));
      }
      case 10:
        return reshape(take(mapped(a, b), I(flip(arange<int>(static_cast<int>(rows * columns))))),
                       {rows, columns});
      case 11:
        return cumsum(mapped(a, b), {.axis = static_cast<int>(below(2))}).template astype<T>();
      case 12: {
        const A joined = concatenate(std::vector{A(a(slice(rows / 2, none))), A(b(slice(none, rows / 2)))});
        return mapped(A(a.at(slice(none, rows / 2)).set(A(b(slice(none, rows / 2))))), joined);
      }
      default:
        return mapped(a, b);
    }
  }
  A flow(const A& a, const A& b, int depth) {
    const unsigned seed = static_cast<unsigned>(random_());
    const auto part = [=](const A& u, const A& v) { return Generator(seed).run(u, v, 2, depth - 1); };
    switch (below(is_inexact<T> ? 8 : 4)) {
      case 0:
        return lax::cond(
            sum(real(a)).template astype<double>() > 0.5, [&](const A& v) { return part(v, b); },
            [](const A& v) { return A(v + v); }, a);
      case 1: {
        using State = std::pair<I, A>;
        const int turns = static_cast<int>(below(3));
        return lax::while_loop([=](const State& s) { return s.first < turns; },
                               [&](const State& s) {
                                 return State{I(s.first + 1), part(s.second, b)};
                               },
                               State{I(0), stop_gradient(a)})
            .second;
      }
      case 2:
        return lax::fori_loop(
            0, static_cast<int>(below(4)) * 11, [&](const I&, const A& c) { return A(mapped_once(c, b)); },
            a);
      case 3:
        return vmap([&](const A& u, const A& v) { return part(expand_dims(u, 0), expand_dims(v, 0))(0); })(a,
                                                                                                           b);
      default:
        if constexpr (is_inexact<T> && !is_complex<T>) return derived(a, b, part);
        return part(a, b);
    }
  }
  A mapped_once(const A& c, const A& b) {
    if constexpr (is_complex<T>)
      return A(c * number(0.5) - b);
    else if constexpr (is_inexact<T>)
      return A(tanh(c) + b * number(0.1));
    else
      return A((c ^ b) + number(1));
  }
  // Derivatives by numbers, constant arrays and arrays of the program.
  template <class Part>
  A derived(const A& a, const A& b, const Part& part) {
    const auto scalar = [&](const A& u) { return A(sum(tanh(part(u, b)))); };
    const auto map = [&](const A& u) { return A(tanh(part(u, b))); };
    const A constant = A(sin(arange<T>(static_cast<T>(a.size()))).reshape(a.shape()));
    switch (below(7)) {
      case 0:
        return A(tanh(std::get<0>(std::get<1>(vjp(scalar, a))(1.0))));
      case 1:
        return A(tanh(std::get<0>(std::get<1>(vjp(map, a))(constant))));
      case 2:
        return A(tanh(std::get<1>(jvp(map, std::tuple{a}, std::tuple{constant}))));
      case 3:
        return A(tanh(linearize(map, a).second(constant)));
      case 4:
        return A(a + std::get<1>(jvp(scalar, std::tuple{a}, std::tuple{ones_like(a)})));
      case 5: {  // a Hessian times a constant vector
        const auto slope = [&](const A& u) { return grad(scalar)(u); };
        return A(tanh(std::get<1>(jvp(slope, std::tuple{a}, std::tuple{constant}))));
      }
      default:
        return A(tanh(std::get<1>(jvp(map, std::tuple{a}, std::tuple{b}))));
    }
  }

  std::mt19937 random_;
};

template <class T>
Array<T> drawn(unsigned seed, int call, const Shape& shape) {
  const auto key = random::fold_in(random::key(static_cast<int>(seed)), call);
  if constexpr (is_complex<T>) {
    const auto [re, im] = random::split(key);
    return random::normal<double>(re, shape) + random::normal<double>(im, shape) * T(0, 1);
  } else if constexpr (is_inexact<T>) {
    return random::normal<float>(key, shape).template astype<T>();
  } else {
    return random::randint<int>(key, shape, 0, 100).template astype<T>();
  }
}

template <class T>
void expect_equal(const Array<T>& a, const Array<T>& b, unsigned seed, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what << " of program " << seed;
  if constexpr (!is_inexact<T>) {
    ASSERT_TRUE(array_equal(a, b)) << what << " of program " << seed;
  } else {
    const double within = sizeof(T) == 2 ? 0.1 : sizeof(T) == 4 ? 1e-3 : 1e-8;
    const auto difference = abs(a - b).template astype<double>().to_vector(),
               size = abs(b).template astype<double>().to_vector();
    for (std::size_t i = 0; i < size.size(); ++i) {
      if (!std::isfinite(size[i])) continue;
      ASSERT_LE(difference[i], within * (1 + size[i])) << what << " of program " << seed;
    }
  }
}

template <class T>
void expect_equal_with_jit(unsigned seed) {
  constexpr std::int64_t extents[] = {0, 1, 1, 2, 3, 5, 24, 40};
  const Shape shape = {extents[seed % 8], extents[seed / 8 % 8]};
  const auto f = [=](const Array<T>& x, const Array<T>& y) {
    return Generator<T>(seed).run(x, y, 2 + static_cast<int>(seed % 4), static_cast<int>(seed / 4 % 3));
  };
  const auto fast = jit(f);
  for (int call = 0; call < 2; ++call) {
    const Array<T> x = drawn<T>(seed, call, shape), y = drawn<T>(seed, call + 9, shape);
    expect_equal(fast(x, y), f(x, y), seed, "the value");
    if constexpr (std::is_same_v<T, double>) {
      const auto slope =
          grad<0, 1>([=](const Array<T>& u, const Array<T>& v) { return Array<T>(sum(tanh(f(u, v)))); });
      const auto [a, b] = jit(slope)(x, y);
      const auto [c, d] = slope(x, y);
      expect_equal(a, c, seed, "the gradient");
      expect_equal(b, d, seed, "the other gradient");
    }
  }
}

template <class T>
void expect_all_equal_with_jit(unsigned share) {
  const unsigned count = static_cast<unsigned>(program_tests::setting("NAX_RANDOM_PROGRAMS", 300)) / share;
  const unsigned first = static_cast<unsigned>(program_tests::setting("NAX_RANDOM_SEED", 1));
  for (unsigned seed = first; seed < first + count && !testing::Test::HasFatalFailure(); ++seed)
    expect_equal_with_jit<T>(seed);
}

TEST(RandomChoices, OfDoublesAreEqualWithJit) { expect_all_equal_with_jit<double>(1); }
TEST(RandomChoices, OfFloatsAreEqualWithJit) { expect_all_equal_with_jit<float>(3); }
TEST(RandomChoices, OfHalvesAreEqualWithJit) { expect_all_equal_with_jit<half>(6); }
TEST(RandomChoices, OfComplexNumbersAreEqualWithJit) { expect_all_equal_with_jit<std::complex<double>>(3); }
TEST(RandomChoices, OfIntegersAreEqualWithJit) { expect_all_equal_with_jit<int>(3); }
TEST(RandomChoices, OfBytesAreEqualWithJit) { expect_all_equal_with_jit<std::uint8_t>(6); }

}  // namespace random_choices_test
