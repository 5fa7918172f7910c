#include <cstring>
#include <limits>

#include "nax/nax.hpp"
#include "transforms/arrays.hpp"

// Recorded scalars take ways of their own (evaluate_scalar, ScalarNode, numbers in the slots of a sweep).
// They must agree with arrays of one element, and combine with arrays, rules and sweeps of all kinds.
namespace transforms::scalars_test {

using F = Array<float>;

template <class T>
testing::AssertionResult same_bits(const Array<T>& got, const Array<T>& want) {
  const T x = got.item(), y = want.item();
  if (std::memcmp(&x, &y, sizeof x) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << got << " is not " << want;
}

// f(x) and f'(x) of a scalar, next to those of an array of one element, whose sweep hands on arrays. (Where
// shares are summed, the one may round once less than the other.)
template <class T, class Function>
void expect_as_arrays(Function f, T x) {
  const auto [y, g] = value_and_grad([&](const Array<T>& v) { return Array<T>(f(v)); })(Array<T>(x));
  const auto [all, pullback] = vjp([&](const Array<T>& v) { return Array<T>(f(v)); }, Array<T>({x}));
  EXPECT_TRUE(same_bits(y, all));
  EXPECT_NEAR(g.item(), std::get<0>(pullback(Array<T>({T(1)}))).item(),
              16 * std::numeric_limits<T>::epsilon());
}
template <class T, class Function>
void expect_same_bits_as_arrays(Function f, T x) {
  const auto g = grad([&](const Array<T>& v) { return Array<T>(f(v)); })(Array<T>(x));
  const auto pullback = vjp([&](const Array<T>& v) { return Array<T>(f(v)); }, Array<T>({x})).second;
  EXPECT_TRUE(same_bits(g, std::get<0>(pullback(Array<T>({T(1)})))));
}

template <class T>
void expect_many_as_arrays() {
  using X = Array<T>;
  for (const T x : {T(0.3), T(-1.7), T(2.5), T(0)}) {
    expect_same_bits_as_arrays([](const X& v) { return v * T(0.5); }, x);
    expect_same_bits_as_arrays([](const X& v) { return v * v * v; }, x);
    expect_same_bits_as_arrays([](const X& v) { return v + v; }, x);
    expect_same_bits_as_arrays([](const X& v) { return exp(X(sin(X(v * T(3)))) / T(2)); }, x);
    expect_as_arrays([](const X& v) { return X(v + X(v * v)) + X(X(v - T(3)) * v); }, x);
    expect_as_arrays([](const X& v) { return exp(-(v * v)) * sin(v * T(3)) / (v * v + T(1)); }, x);
    expect_as_arrays([](const X& v) { return tanh(X(v * T(7))) + sqrt(abs(v) + T(1)); }, x);
    expect_as_arrays([](const X& v) { return where(v > T(0), X(v * v), X(-v)); }, x);
    expect_as_arrays(
        [](const X& v) {
          X w = v;
          for (int i = 0; i < 20; ++i) w = X(sin(w * v)) + w * T(0.25);
          return w;
        },
        x);
  }
}
TEST(Scalars, AreArraysOfOneElement) {
  expect_many_as_arrays<float>();
  expect_many_as_arrays<double>();
}

TEST(Scalars, AZeroCotangentContributesZero) {
  const auto guarded = [](const A& x) { return A(where(x > 0.0, A(sqrt(x)), A(0.0))); };
  EXPECT_EQ(grad(guarded)(A(0.0)).item(), 0);
  EXPECT_EQ(grad([](const A& x) { return A(A(sqrt(x)) * 0.0); })(A(0.0)).item(), 0);
  EXPECT_EQ(grad(grad(guarded))(A(0.0)).item(), 0);
  EXPECT_TRUE(std::isinf(grad([](const A& x) { return A(sqrt(x)); })(A(0.0)).item()));
}

TEST(Scalars, MeetArrays) {
  const A w = {1, 2, 3};
  const auto f = [&](const A& s, const A& w) {
    const A t = s * s;
    const A scaled = w * t;  // t's cotangent is a sum over an array
    const A u = t + s;       // and numbers
    return A(sum(scaled * scaled) * u + A(sin(t)));
  };
  const double s = 0.7, t = s * s, ww = 14;
  const auto [gs, gw] = grad<0, 1>(f)(A(s), w);
  const double dt = 2 * t * ww * (t + s) + t * t * ww + std::cos(t);
  EXPECT_NEAR(gs.item(), dt * 2 * s + t * t * ww, 1e-12);
  EXPECT_TRUE(matches(gw, 2 * t * t * (t + s) * w));
}

TEST(Scalars, ASumOfNumbersAndArraysInAnyOrder) {
  // x is reached by arrays (of the sum) and by numbers, one or the other first.
  const auto numbers_first = [](const A& x) {
    const A total = sum(x * A{1, 2});
    return A(total + A(x * 5.0));
  };
  const auto arrays_first = [](const A& x) {
    const A five = x * 5.0;
    return A(A(sum(x * A{1, 2})) + five);
  };
  EXPECT_EQ(grad(numbers_first)(A(2.0)).item(), 8);
  EXPECT_EQ(grad(arrays_first)(A(2.0)).item(), 8);
}

TEST(Scalars, OtherTypesAmongTheLeaves) {
  const Array<int> three = 3;
  EXPECT_EQ(grad([&](const F& x) { return F(x * three); })(F(2.f)).item(), 3);
  EXPECT_EQ(grad([&](const F& x) { return F(where(three > 2, x * 2.f, x)); })(F(2.f)).item(), 2);
  const F narrow = 1.5f;
  EXPECT_EQ(grad([&](const A& x) { return A(x * narrow); })(A(2.0)).item(), 1.5);
  EXPECT_EQ(grad([&](const F& x) { return A(x * A(0.25)); })(F(2.f)).item(), 0.25f);
  EXPECT_EQ(static_cast<float>(grad([](const Array<half>& x) { return Array<half>(Array<half>(x * x) * x); })(
                                   Array<half>(half(2.f)))
                                   .item()),
            12.f);
  EXPECT_EQ(grad([](const F& x) { return F(x.astype<half>().astype<float>() * x); })(F(2.f)).item(), 4);
  using C = std::complex<float>;
  const Array<C> z = C(1, 2);
  EXPECT_EQ(grad([&](const F& x) { return F(real(Array<C>(z * x))); })(F(2.f)).item(), 1);
  const Array<std::complex<double>> wide = std::complex<double>(1, 2);
  EXPECT_EQ(grad([&](const A& x) { return A(imag(wide * x)); })(A(2.0)).item(), 2);
}

TEST(Scalars, DerivativesOfDerivatives) {
  const auto f = [](const A& x) { return A(A(sin(x)) * A(x * x)); };
  const double x = 0.6, s = std::sin(x), c = std::cos(x);
  const double first = c * x * x + 2 * x * s, second = 4 * x * c + (2 - x * x) * s,
               third = (6 - x * x) * c - 6 * x * s;
  EXPECT_NEAR(grad(f)(A(x)).item(), first, 1e-14);
  EXPECT_NEAR(grad(grad(f))(A(x)).item(), second, 1e-14);
  EXPECT_NEAR(grad(grad(grad(f)))(A(x)).item(), third, 1e-13);
  EXPECT_NEAR(jvp(grad(f), std::tuple(A(x)), std::tuple(A(1.0))).second.item(), second, 1e-14);
  EXPECT_NEAR(grad([&](const A& x) { return jvp(f, std::tuple(x), std::tuple(A(1.0))).second; })(A(x)).item(),
              second, 1e-14);
  EXPECT_NEAR(hessian(f)(A(x)).item(), second, 1e-14);
  // An inner gradient that the outer one goes through, among scalars of its own.
  const auto g = [&](const A& x) { return A(A(grad(f)(x)) * x); };
  EXPECT_NEAR(grad(g)(A(x)).item(), second * x + first, 1e-13);
}

TEST(Scalars, MappedAndOfManyDirections) {
  const auto f = [](const A& x) { return A(A(sin(x)) * x); };
  const A x = {0.1, 0.2, 0.3};
  EXPECT_TRUE(matches(vmap(grad(f))(x), cos(x) * x + sin(x)));
  EXPECT_TRUE(matches(vmap(grad(grad(f)))(x), 2.0 * cos(x) - sin(x) * x));
  // A pullback of a scalar function under vmap: its cotangent has an axis that the node has not.
  const auto pullback = vjp(f, A(0.5)).second;
  EXPECT_TRUE(matches(vmap([&](const A& g) { return std::get<0>(pullback(g)); })(x),
                      x * (std::cos(0.5) * 0.5 + std::sin(0.5))));
  const auto both = [](const A& x) { return stack({A(x * x), A(sin(x))}); };
  EXPECT_TRUE(matches(jacrev(both)(A(0.5)), A{1, std::cos(0.5)}));
  EXPECT_TRUE(matches(jacfwd(both)(A(0.5)), A{1, std::cos(0.5)}));
}

TEST(Scalars, PullbackIsReusableAndNests) {
  const auto pullback = vjp([](const A& x) { return A(A(x * x) * x); }, A(2.0)).second;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(std::get<0>(pullback(A(1.0))).item(), 12);
  EXPECT_EQ(std::get<0>(pullback(A(0.5))).item(), 6);
  EXPECT_EQ(grad([&](const A& g) { return std::get<0>(pullback(g)); })(A(3.0)).item(), 12);
}

TEST(Scalars, CustomRulesAndCheckpoints) {
  const auto tripled =
      custom_vjp([](const A& x) { return A(sin(x)); }, [](const A& x) { return std::pair(A(sin(x)), x); },
                 [](const A& x, const A& g) { return std::tuple(A(3.0 * g * cos(x))); });
  const auto f = [&](const A& x) { return A(A(tripled(A(x * 2.0))) * x); };
  EXPECT_NEAR(grad(f)(A(0.4)).item(), 3 * std::cos(0.8) * 2 * 0.4 + std::sin(0.8), 1e-14);
  const auto doubled =
      custom_jvp([](const A& x) { return A(sin(x)); },
                 [](const std::tuple<A>& x, const std::tuple<A>& t) {
                   return std::pair(A(sin(std::get<0>(x))), A(2.0 * std::get<0>(t) * cos(std::get<0>(x))));
                 });
  EXPECT_NEAR(grad([&](const A& x) { return A(A(doubled(A(x * 2.0))) * x); })(A(0.4)).item(),
              2 * std::cos(0.8) * 2 * 0.4 + std::sin(0.8), 1e-14);
  const auto inner = checkpoint([](const A& x) { return A(A(sin(x)) * x); });
  const auto kept = [&](const A& x) { return A(A(inner(A(x * x))) + A(inner(x))); };
  const auto d = [](double v) { return std::cos(v) * v + std::sin(v); };
  EXPECT_NEAR(grad(kept)(A(0.7)).item(), d(0.49) * 1.4 + d(0.7), 1e-14);
  EXPECT_NEAR(grad(grad(kept))(A(0.7)).item(),
              (grad(kept)(A(0.7001)).item() - grad(kept)(A(0.6999)).item()) / 2e-4, 1e-6);
}

TEST(Scalars, AnErrorInTheSweepLeavesTheTapeUsable) {
  const auto fails =
      custom_vjp([](const A& x) { return A(sin(x)); }, [](const A& x) { return std::pair(A(sin(x)), x); },
                 [](const A& x, const A&) -> std::tuple<A> {
                   if (x.item() < 10) throw ValueError("as asked");
                   return {x};
                 });
  const std::size_t before = memory_stats().in_use;
  EXPECT_EQ(text_of<ValueError>(
                [&] { grad([&](const A& x) { return A(A(cos(A(fails(A(x * x))))) * x); })(A(1.0)); }),
            "as asked");
  EXPECT_EQ(memory_stats().in_use, before);
  EXPECT_EQ(grad([](const A& x) { return A(A(x * x) * x); })(A(2.0)).item(), 12);
}

TEST(Scalars, TheTapeKeepsNumbersNotArrays) {
  constexpr int steps = 5000;
  std::size_t held = 0;
  const auto g = grad([&](const A& x) {
    const std::size_t before = memory_stats().in_use;
    A v = x;
    for (int i = 0; i < steps; ++i) v = A(v * v) * 0.5 + v * 0.5;  // stays 1
    held = memory_stats().in_use - before;
    return v;
  })(A(1.0));
  EXPECT_LT(held, std::size_t{1024});
  EXPECT_GT(g.item(), 1e300);  // 1.5 to the power of `steps`
}

TEST(Scalars, ManyAtOnce) {
  std::vector<A> x;
  for (int i = 0; i < 1000; ++i) x.emplace_back(i * 0.001);
  const std::size_t before = memory_stats().in_use;
  {
    const auto g = grad([](const std::vector<A>& x) {
      std::vector<A> parts;
      for (std::size_t i = 0; i < x.size(); ++i) parts.push_back(x[i] * x[x.size() - 1 - i]);
      A total = 0.0;
      for (const A& part : parts) total = total + A(sin(part));
      return total;
    })(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double other = x[x.size() - 1 - i].item();
      EXPECT_NEAR(g[i].item(), 2 * other * std::cos(x[i].item() * other), 1e-14);
    }
  }
  EXPECT_EQ(memory_stats().in_use, before);
}

TEST(Scalars, UnusedScalars) {
  const auto [gx, gy] = grad<0, 1>([](const A& x, const A& y) {
    const A unused = y * x;
    return A(x * 2.0 + stop_gradient(unused));
  })(A(3.0), A(4.0));
  EXPECT_EQ(gx.item(), 2);
  EXPECT_EQ(gy.item(), 0);
}

}  // namespace transforms::scalars_test
