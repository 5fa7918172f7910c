#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>
#include <string>
#include <tuple>

#include "recorded_once.hpp"

// Tangents of a while_loop that jit records: loops of their own, of every order and under vmap.
namespace while_derivatives_test {
using namespace nax;
using D = Array<double>;
using recorded_once::expect_near, recorded_once::expect_recorded_once;

// f is recorded once, as while_loops along tangents, and gives its own numbers.
template <class Function>
void expect_tangents(const std::string& name, const Function& f, const D& x, const D& y) {
  expect_recorded_once(name, f, x, y);
  const std::string text = make_program([&](const D& v) { return D(f(v)); })(x).text();
  EXPECT_NE(text.find("while_tangent"), std::string::npos) << name << text;
}

template <class Function>
void expect_derivatives(const Function& f, const D& x, const D& y) {
  const D t = cos(x + 1.0), u = sin(x * 3.0);
  const auto along = [](const auto& g, const D& v) {
    return [=](const D& x) { return jvp(g, std::tuple{x}, std::tuple{v}).second; };
  };
  expect_tangents("jvp", along(f, t), x, y);
  expect_tangents("jacfwd", jacfwd(f), x, y);
  expect_tangents("jvp of jvp", along(along(f, t), u), x, y);
  expect_tangents("third", along(along(along(f, t), u), t), x, y);
  expect_tangents("jacfwd of jacfwd", jacfwd(jacfwd(f)), x, y);
  expect_tangents(
      "value and tangent",
      [&](const D& v) {
        const auto [value, tangent] = jvp(f, std::tuple{v}, std::tuple{t});
        return D(value * tangent);
      },
      x, y);
  expect_tangents(
      "vmap of jvp",
      [&](const D& v) {
        return vmap([&](const D& s) { return along(f, t)(D(v * s)); })(D{1.0, 1.5});
      },
      x, y);
}

const D x = {.7, 1.2, 1.9}, y = {1.1, .4, .9};

TEST(WhileDerivatives, OfOneCarry) {
  expect_derivatives(
      [](const D& x) {
        return lax::while_loop([](const D& c) { return sum(c) < 50.0; },
                               [](const D& c) { return D(c * 1.3 + sin(c)); }, x);
      },
      x, y);
}

TEST(WhileDerivatives, OfNewtonsMethod) {
  expect_derivatives(
      [](const D& x) {
        return lax::while_loop([&](const D& c) { return max(abs(c * c - x)) > 1e-13; },
                               [&](const D& c) { return D((c + x / c) * 0.5); }, D(x * 2.0));
      },
      x, y);
}

TEST(WhileDerivatives, OfSeveralCarries) {
  expect_derivatives(
      [](const D& x) {
        using State = std::tuple<Array<std::int32_t>, D, D>;
        const D factor = exp(-x);
        const State last = lax::while_loop([](const State& s) { return sum(std::get<1>(s)) < 100.0; },
                                           [&](const State& s) {
                                             const auto& [n, a, b] = s;
                                             return State{n + 1, b * factor + 0.1, a * sum(b)};
                                           },
                                           State{0, x, ones<double>({3})});
        return D(std::get<1>(last) + std::get<2>(last));
      },
      x, y);
}

TEST(WhileDerivatives, OfLoopsThatDoNotTurn) {
  expect_derivatives(
      [](const D& x) {
        return lax::while_loop([](const D& c) { return sum(c) < 1.0; }, [](const D& c) { return D(c * c); },
                               x);
      },
      x, D(y * 2.0));
}

TEST(WhileDerivatives, OfExamplesThatEndEachByItself) {
  expect_derivatives(
      [](const D& x) {
        return vmap([](const D& one) {
          return lax::while_loop([](const D& c) { return c < 30.0; },
                                 [](const D& c) { return D(c * c + 1.0); }, one);
        })(x);
      },
      x, y);
}

TEST(WhileDerivatives, GradientsAreTakenOfTheFunctionAsItIs) {
  const auto f = [](const D& x) {
    return sum(lax::while_loop([](const D& c) { return sum(c) < 50.0; },
                               [](const D& c) { return D(c * c + 1.0); }, x));
  };
  const auto fast = jit(grad(f));
  const auto twice = jit([&](const D& v) { return jvp(grad(f), std::tuple{v}, std::tuple{x}).second; });
  for (const D& v : {x, y}) {
    expect_near("grad", fast(v), grad(f)(v));
    expect_near("jvp of grad", twice(v), jvp(grad(f), std::tuple{v}, std::tuple{x}).second);
  }
}

TEST(WhileDerivatives, LoopsWithinAreCalledAsTheyAre) {
  const auto f = [](const D& x) {
    return lax::while_loop([](const D& c) { return sum(c) < 50.0; },
                           [](const D& c) {
                             return lax::scan(
                                        [](const D& a) {
                                          return std::pair{D(a * 1.02 + 0.01), none};
                                        },
                                        c, none, {.length = 40})
                                 .first;
                           },
                           x);
  };
  const auto along = [&](const D& v) { return jvp(f, std::tuple{v}, std::tuple{x}).second; };
  const auto fast = jit(along);
  for (const D& v : {x, y}) expect_near("jvp", fast(v), along(v));
}

}  // namespace while_derivatives_test
