// Programs of tests/goldens/make_lax.py: loops.

#include "lax/programs.hpp"

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/compare.hpp"

namespace programs_test {
using namespace nax;
using lax_programs::A;
using lax_programs::check;

const A& matrix();

TEST(LaxPrograms, rnn) {
  check("rnn", [](const A& x) -> A {
    const auto step = [&](const A& h_, const A& u) {
      const A h = tanh(matmul(matrix(), h_) + u);
      return std::pair{h, sum(h * h)};
    };
    for (const lax::CheckpointEvery every : {lax::CheckpointEvery(false), lax::CheckpointEvery(true)}) {
      auto [h, ys] = lax::scan(step, x, stack({x, 2 * x, sin(x)}), {.checkpoint = every});
      if (every.on()) return sum(h) + sum(ys * arange<double>(3));
    }
    return 0.0;
  });
}

TEST(LaxPrograms, rnn_reverse) {
  struct Two {
    A p, q;
  };
  check("rnn_reverse", [](const A& x) -> A {
    auto [c, ys] = lax::scan(
        [](const std::pair<A, A>& ab, const A& u) {
          const auto& [a, b] = ab;
          return std::pair{std::pair{A(a * 0.5 + u), A(b + a * u)}, Two{a * b, u}};
        },
        std::pair{A(0.0), A(1.0)}, x, {.reverse = true});
    return c.first * c.second + sum(ys.p * arange<double>(4)) + sum(square(ys.q));
  });
}

TEST(LaxPrograms, counted) {
  check("counted", [](const A& x) -> A {
    auto [c, ys] = lax::scan(
        [&](const A& c_) {
          return std::pair{sin(c_) * x, c_(0)};
        },
        x, none, {.length = 5});
    return sum(c) + sum(square(ys));
  });
}

TEST(LaxPrograms, captured) {
  check("captured", [](const A& x) -> A {
    return lax::scan(
               [=](const A& c, const A& u) {
                 return std::pair{c * sum(x) * 0.25 + u, none};
               },
               1.0, A(cos(x)), {.checkpoint = 3})
        .first;
  });
}

TEST(LaxPrograms, nested_scan) {
  check("nested_scan", [](const A& x) -> A {
    const auto outer = [=](const A& c, const A& u) {
      const A d = lax::scan(
                      [=](const A& d_, const A& v) {
                        return std::pair{sin(d_ + u * v), none};
                      },
                      c, x)
                      .first;
      return std::pair{d, d * u};
    };
    auto [c, ys] = lax::scan(outer, 0.5, x, {.checkpoint = true});
    return c + sum(ys);
  });
}

TEST(LaxPrograms, power) {
  check("power", [](const A& x) -> A {
    return sum(lax::fori_loop(
                   0, 4,
                   [](int i, const A& v_) {
                     const A v = matmul(matrix(), v_) + i * 0.1;
                     return A(v / sqrt(sum(v * v)));
                   },
                   x) *
               arange<double>(1, 5));
  });
}

TEST(LaxPrograms, mapped) {
  check("mapped", [](const A& x) -> A {
    const auto f = [&](const A& u) { return sin(u) * sum(x * u); };
    const A all = lax::map(f, x), batched = lax::map(f, x, {.batch_size = 3});
    return sum(all * batched);
  });
}

TEST(LaxPrograms, halving) {
  const lax_programs::Program f = [](const A& x) -> A {
    return sum(lax::while_loop([](const A& c) { return sum(c * c) > 0.3; },
                               [&](const A& c) { return c * 0.6 + 0.01 * x; }, x));
  };
  check("halving", f, true);
}

TEST(LaxPrograms, newton) {
  check(
      "newton",
      [](const A& x) -> A {
        const A s = sum(x * x) + 1;
        const auto far = [&](const std::pair<A, Array<int>>& c) {
          return abs(square(c.first) - s) > 1e-13 * s;
        };
        const auto step = [&](const std::pair<A, Array<int>>& c) {
          return std::pair{0.5 * (c.first + s / c.first), c.second + 1};
        };
        return lax::while_loop(far, step, std::pair{s, Array<int>(0)}).first;
      },
      true);
}

TEST(LaxPrograms, while_in_scan) {
  check(
      "while_in_scan",
      [](const A& x) -> A {
        const auto step = [](const A& c, const A& u) {
          const A d = lax::while_loop([](const A& v) { return v < 2; },
                                      [&](const A& v) { return v * 1.5 + u * u; }, c);
          return std::pair{d * 0.25, d};
        };
        auto [c, ys] = lax::scan(step, 0.5, x);
        return c + sum(ys);
      },
      true);
}

const A& matrix() {
  static const A w = compare::array_of<double>(golden::get("lax", "W"));
  return w;
}

}  // namespace programs_test
