#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <sstream>
#include <string>

// Loops and branches under jit: a body is recorded once.
namespace loops_test {
using namespace nax;
using D = Array<double>;

D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }

void expect_near(const D& a, const D& b, double within = 1e-11) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], within * (1 + std::abs(y[i]))) << i;
}
// f's own numbers, out of one recording.
template <class Function>
void expect_recorded(const Function& f, const D& x, const D& y) {
  int calls = 0;
  const auto fast = jit([&](const D& v) { return ++calls, f(v); });
  for (const D& v : {x, y, x}) expect_near(fast(v), f(v));
  EXPECT_EQ(calls, 1);
}
template <class Function>
void expect_both_recorded(const Function& f, const D& x, const D& y) {
  expect_recorded(f, x, y);
  expect_recorded([&](const D& v) { return grad([&](const D& u) { return sum(sin(f(u))); })(v); }, x, y);
}

TEST(Loops, ScanIsOneStep) {
  int calls = 0;
  const auto f = [&](const D& x) {
    return lax::scan(
        [&](const D& c, const D& row) {
          return ++calls, std::pair{D(tanh(c + row)), D(c * row)};
        },
        zeros<double>({3}), x);
  };
  const auto program = make_program(f)(ones<double>({100, 3}));
  EXPECT_EQ(calls, 1);
  EXPECT_LE(program.size(), 2u) << program;
  EXPECT_NE(program.text().find("scan("), std::string::npos) << program;
  EXPECT_NE(program.text().find("    program("), std::string::npos) << program;
}

TEST(Loops, ScansGiveTheirNumbersAndGradients) {
  const D x = draw(1, {40, 3}), y = draw(2, {40, 3}), w = draw(3, {3, 3});
  for (const bool reverse : {false, true}) {
    const auto scan = [&](const D& xs, const D& start) {
      return lax::scan(
          [&](const D& c, const D& row) {
            const D next = tanh(matmul(c, w) + row);
            return std::pair{next, D(next * c + row)};
          },
          start, xs, {.reverse = reverse});
    };
    expect_both_recorded([&](const D& v) { return scan(v, ones<double>({3})).first; }, x, y);
    expect_both_recorded([&](const D& v) { return scan(v, ones<double>({3})).second; }, x, y);
    expect_both_recorded([&](const D& v) { return scan(x, v).second; }, draw(4, {3}), draw(5, {3}));
  }
}

// Results that are one step's: those that come out at two places are copied in each turn.
TEST(Loops, ResultsThatAreEqualAndCarriesThatTradePlaces) {
  for (const std::int64_t turns : {40, 41})
    for (const bool reverse : {false, true}) {
      const D x = draw(1, {turns, 3}), y = draw(2, {turns, 3});
      const auto f = [&](const D& xs) {
        const auto [carry, rows] = lax::scan(
            [&](const std::pair<D, D>& c, const D& row) {
              const D next = tanh(c.first + row), again = tanh(c.first + row);
              return std::pair{std::pair{c.second, next}, again};
            },
            std::pair{ones<double>({3}), zeros<double>({3})}, xs, {.reverse = reverse});
        return D(concatenate(std::vector{reshape(rows, {-1}), carry.first, D(2.0 * carry.second)}));
      };
      expect_both_recorded(f, x, y);
    }
}

TEST(Loops, ScansSeeArraysFromOutside) {
  const D x = draw(6, {40, 4}), w = draw(7, {4, 4}), v = draw(8, {4, 4});
  const auto f = [&](const D& u) {
    const D outside = D(u * 0.5);
    return lax::scan(
               [&](const D& c, const D& row) {
                 return std::pair{D(tanh(matmul(outside, c) + row)), D(sum(outside * c))};
               },
               D(x(0)), x)
        .second;
  };
  expect_both_recorded(f, w, v);
}

TEST(Loops, ScansCarryTreesAndWholeNumbers) {
  struct State {
    D value;
    Array<int> count;
  };
  const D x = draw(9, {50, 2}), y = draw(10, {50, 2});
  const auto f = [&](const D& xs) {
    const auto [last, ys] = lax::scan(
        [](const State& s, const D& row) {
          const Array<int> count = s.count + 1;
          return std::pair{State{D(s.value * 0.9 + row * count.astype<double>()), count},
                           std::pair{D(row * 2.0), count}};
        },
        State{zeros<double>({2}), Array<int>(0)}, xs);
    return D(last.value + sum(ys.first, {.axis = 0}) + sum(ys.second).astype<double>() +
             last.count.astype<double>());
  };
  expect_both_recorded(f, x, y);
}

TEST(Loops, ScansWithinScans) {
  const D x = draw(11, {40, 3}), y = draw(12, {40, 3});
  const auto f = [](const D& xs) {
    return lax::scan(
               [](const D& c, const D& row) {
                 const D inner = lax::scan(
                                     [&](const D& d, const D& one) {
                                       return std::pair{D(sin(d + one * c)), none};
                                     },
                                     row, arange<double>(0.0, 34.0))
                                     .first;
                 return std::pair{D(inner + c * 0.1), inner};
               },
               zeros<double>({3}), xs)
        .second;
  };
  expect_both_recorded(f, x, y);
}

TEST(Loops, ScansUnderVmapAndInIt) {
  const D x = draw(13, {5, 40}), y = draw(14, {5, 40});
  const auto each = [](const D& row) {
    return lax::scan(
               [](const D& c, const D& r) {
                 return std::pair{D(c * 0.5 + sin(r)), D(c * r)};
               },
               D(0.0), row)
        .second;
  };
  expect_both_recorded([&](const D& v) { return vmap(each)(v); }, x, y);
  expect_both_recorded([&](const D& v) { return vmap(each, {.in_axes = {1}})(D(v.T())); }, x, y);
  expect_recorded([&](const D& v) { return vmap(grad([&](const D& r) { return sum(each(r)); }))(v); }, x, y);
}

TEST(Loops, MapsAreRecordedOnce) {
  const D x = draw(15, {64, 3}), y = draw(16, {64, 3});
  int calls = 0;
  const auto f = [&](const D& v) {
    return lax::map([&](const D& row) { return ++calls, D(row * sum(row)); }, v);
  };
  make_program(f)(x);
  EXPECT_EQ(calls, 1);
  expect_both_recorded(f, x, y);
}

TEST(Loops, CountedLoops) {
  const D x = draw(17, {4}), y = draw(18, {4});
  int calls = 0;
  const auto f = [&](const D& v) {
    return lax::fori_loop(
        2, 90,
        [&](const Array<int>& i, const D& c) { return ++calls, D(sin(c) + i.astype<double>() * 0.01); }, v);
  };
  make_program(f)(x);
  EXPECT_EQ(calls, 1);
  expect_both_recorded(f, x, y);
  // A bound that is an argument.
  const auto to = [](const D& v, const Array<int>& n) {
    return lax::fori_loop(
        0, n, [](const Array<int>& i, const D& c) { return D(c * 1.5 + i.astype<double>()); }, v);
  };
  int recordings = 0;
  const auto fast = jit([&](const D& v, const Array<int>& n) { return ++recordings, to(v, n); });
  for (const int n : {0, 1, 2, 7, 50}) expect_near(fast(x, Array<int>(n)), to(x, Array<int>(n)));
  EXPECT_EQ(recordings, 1);
}

TEST(Loops, WhileLoopsRunUntilTheirConditionFails) {
  const auto f = [](const D& x) {
    return lax::while_loop([&](const D& c) { return sum(c) < sum(x) + 50.0; },
                           [&](const D& c) { return D(c * 1.5 + abs(x)); }, x);
  };
  expect_recorded(f, draw(19, {3}), draw(20, {3}));
  expect_recorded(f, full<double>({3}, 100.0), full<double>({3}, 0.01));
  // Each example for itself.
  const auto each = [](const D& x) {
    return lax::while_loop([](const D& c) { return c < 100.0; }, [](const D& c) { return D(c * 2.0 + 1.0); },
                           x);
  };
  expect_recorded([&](const D& v) { return vmap(each)(v); }, D{1, 50, 200, 0}, D{7, 7, 7, 101});
}

TEST(Loops, BranchesAreChosenWhenTheProgramRuns) {
  const auto f = [](const D& x) {
    return lax::cond(
        sum(x) > 0.0, [](const D& v) { return D(v * 2.0); }, [](const D& v) { return D(exp(v)); }, x);
  };
  expect_recorded(f, D{1, 2}, D{-1, -2});
  const auto among = [](const D& x) {
    const auto index = floor(x(0)).astype<int>();
    const auto twice = [](const D& v) { return D(v * 2.0); };
    const auto square = [](const D& v) { return D(v * v); };
    using One = D (*)(const D&);
    const std::vector<One> list = {[](const D& v) { return D(v + 1.0); }, [](const D& v) { return D(-v); }};
    return D(lax::switch_(index, std::tuple{twice, square, twice}, x) + lax::switch_(index, list, x));
  };
  expect_recorded(among, D{1.5, 2}, D{-7, 3});
  expect_recorded(among, D{99, 2}, D{0.5, 3});
  // Within a loop.
  const auto collatz = [](const D& x) {
    return lax::while_loop([](const D& c) { return c > 1.0; },
                           [](const D& c) {
                             return lax::cond(
                                 fmod(c, 2.0) > 0.5, [](const D& v) { return D(3.0 * v + 1.0); },
                                 [](const D& v) { return D(v / 2.0); }, c);
                           },
                           x);
  };
  expect_recorded(collatz, D(27.0), D(6.0));
}

// Does the program itself have such a step, outside of all bodies?
template <class Function>
bool has_step(const Function& f, const D& x, const std::string& name) {
  std::istringstream lines(make_program(f)(x).text());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  ") && line[2] != ' ' && line.find(" = " + name + '(') != std::string::npos)
      return true;
  return false;
}

TEST(Loops, NothingLeavesABodyThatMayNotRun) {
  const auto square = [](const D& x) { return D(matmul(x, x)); };
  const auto branch = [=](const D& x) {
    return lax::cond(
        sum(x) > 0.0, [&](const D& v) { return D(square(x) + v); }, [](const D& v) { return v; }, x);
  };
  const auto among = [=](const D& x) {
    return lax::switch_(
        sum(x).astype<int>(),
        std::tuple{[](const D& v) { return v; }, [&](const D& v) { return D(square(x) + v); }}, x);
  };
  const auto loop = [=](const D& x) {
    return lax::while_loop([](const D& c) { return sum(c) < 50.0; },
                           [&](const D& c) { return D(c + abs(square(x)) + 1.0); }, x);
  };
  const auto scanned = [=](const D& x, const D& v) {
    return lax::scan(
               [&](const D& c) {
                 return std::pair{D(0.5 * c + square(x)), none};
               },
               v, none, {.length = 40})
        .first;
  };
  const auto scan = [=](const D& x) { return scanned(x, x); };
  const auto scan_in_branch = [=](const D& x) {
    return lax::cond(
        sum(x) > 0.0, [&](const D& v) { return scanned(x, v); }, [](const D& v) { return v; }, x);
  };
  const D x = draw(3, {3, 3}), y = -x;
  EXPECT_FALSE(has_step(branch, x, "matmul"));
  EXPECT_FALSE(has_step(among, x, "matmul"));
  EXPECT_FALSE(has_step(loop, x, "matmul"));
  EXPECT_FALSE(has_step(scan_in_branch, x, "matmul"));
  EXPECT_TRUE(has_step(scan, x, "matmul"));
  expect_recorded(branch, x, y);
  expect_recorded(among, x, y);
  expect_recorded(loop, x, full<double>({3, 3}, 10.0));
  expect_recorded(scan_in_branch, x, y);
  // A scan's product leaves the scan, and stays in the branch.
  const std::string text = make_program(scan_in_branch)(x).text();
  EXPECT_LT(text.find(" = matmul("), text.find(" = scan(")) << text;
}

TEST(Loops, WhatIsDifferentiatedThroughConditionsIsCalledAsItIs) {
  const auto f = [](const D& x) {
    return sum(
        lax::while_loop([](const D& c) { return sum(c) < 50.0; }, [](const D& c) { return D(c * c); }, x));
  };
  const D x = {2, 3}, y = {1.5, 1.25};
  const auto fast = jit(grad(f));
  for (const D& v : {x, y}) expect_near(fast(v), grad(f)(v));
}

TEST(Loops, DerivativesOfDerivatives) {
  const auto f = [](const D& x) {
    return sum(lax::scan(
                   [](const D& c) {
                     return std::pair{D(sin(c) * 1.1), none};
                   },
                   x, none, {.length = 40})
                   .first);
  };
  const D x = {0.5, -1}, t = {1, 2};
  int calls = 0;
  const auto counted = [&](const D& v) { return ++calls, f(v); };
  const auto curve = jit(hessian(counted));
  const auto push =
      jit([&](const D& v, const D& u) { return jvp(counted, std::tuple{v}, std::tuple{u}).second; });
  for (int i = 0; i < 2; ++i) {
    expect_near(curve(x), hessian(f)(x));
    expect_near(push(x, t), jvp(f, std::tuple{x}, std::tuple{t}).second);
    EXPECT_EQ(calls, 2);
  }
  const auto each = jit([&](const D& v) { return jacrev([&](const D& u) { return D(u * f(u)); })(v); });
  expect_near(each(x), jacrev([&](const D& u) { return D(u * f(u)); })(x));
  expect_near(each(t), jacrev([&](const D& u) { return D(u * f(u)); })(t));
}

TEST(Loops, IndicesOutOfRangeAreFoundInALoop) {
  const D table = {1, 2, 3};
  const auto f = [&](const Array<int>& at) {
    return lax::scan(
               [&](const D& c, const Array<int>& i) {
                 return std::pair{D(c + table(i)), none};
               },
               D(0.0), at)
        .first;
  };
  const auto fast = jit(f);
  const Array<int> good = zeros<int>({40});
  EXPECT_EQ(fast(good).item(), 40);
  EXPECT_THROW(fast(Array<int>(good + 3)), IndexError);
  EXPECT_EQ(fast(Array<int>(good + 2)).item(), 120);
}

// The index that the body takes need not hold the bounds: it is converted turn by turn, as without jit.
template <class I>
void expect_converted_indices(std::int64_t lower, std::int64_t upper) {
  const auto f = [&](const D& x) {
    return lax::fori_loop(
        lower, upper, [](const Array<I>& i, const D& c) { return D(c * 0.5 + i.template astype<double>()); },
        x);
  };
  int calls = 0;
  const auto fast = jit([&](const D& x) { return ++calls, D(f(x)); });
  for (const D& x : {D{1, 2}, D{-3, 4}}) expect_near(fast(x), D(f(x)));
  EXPECT_EQ(calls, 1);
}
TEST(Loops, IndicesOfNarrowTypes) {
  expect_converted_indices<std::uint8_t>(0, 300);
  expect_converted_indices<std::uint8_t>(-40, 20);
  expect_converted_indices<std::int8_t>(0, 200);
  expect_converted_indices<std::int16_t>(32'700, 32'800);
  expect_converted_indices<bfloat16>(0, 301);
  expect_converted_indices<nax::half>(2051, 2085);
  expect_converted_indices<float>((1 << 24) - 20, (1 << 24) + 21);
}

// Loops of many turns count in a carry: no array of all indices is kept.
TEST(Loops, OfManyTurnsCount) {
  expect_converted_indices<std::int16_t>(-10, 70'000);
  expect_converted_indices<int>(5, 5 + 65'537);
  const auto f = [](const D& x) {
    const D w = sin(x);
    return sum(lax::fori_loop(
        0, 70'000, [&](const Array<int>& i, const D& c) { return D(0.5 * c + w * (i % 3)); }, x));
  };
  const D x = {0.3, 0.7};
  expect_near(jit(grad(f))(x), grad(f)(x));
  EXPECT_EQ(make_program(f)(x).text().find("70000]"), std::string::npos);
}

}  // namespace loops_test
