// Programs of tests/goldens/make_lax.py: branches, windows and equations.

#include <gtest/gtest.h>

#include "lax/programs.hpp"
#include "nax/nax.hpp"
#include "support/compare.hpp"

namespace branches_test {
using namespace nax;
using lax_programs::A;
using lax_programs::check;

TEST(LaxPrograms, branch) {
  check("branch", [](const A& x) -> A {
    return lax::cond(
        sum(x) > 0, [](const A& v) { return sum(square(sin(v))); }, [](const A& v) { return prod(v); }, x);
  });
}

TEST(LaxPrograms, branch_in_scan) {
  check("branch_in_scan", [](const A& x) -> A {
    const auto step = [](const A& c, const A& u) {
      return std::pair{lax::cond(
                           u > 0, [](const A& a, const A& b) { return a * b + 1; },
                           [](const A& a, const A& b) { return sin(a) - b; }, c, u),
                       none};
    };
    return lax::scan(step, 1.0, x).first;
  });
}

TEST(LaxPrograms, branch_is_safe) {
  check("branch_is_safe", [](const A& x) -> A {
    return lax::cond(
        x(0) > 0.5, [](const A& v) { return log(v(0)) + v(1); }, [](const A& v) { return v(2) * v(3); }, x);
  });
}

TEST(LaxPrograms, switched) {
  check("switched", [](const A& x) -> A {
    const Array<int> index = floor(abs(x(0)) * 3).template astype<int>();
    return lax::switch_(
        index,
        std::tuple{[](const A& v) { return A(sum(square(v))); }, [](const A& v) { return A(sum(exp(v))); },
                   [](const A& v) { return prod(v) + v(0); }},
        x);
  });
}

TEST(LaxPrograms, associative) {
  check("associative", [](const A& x) -> A {
    const auto op = [](const std::pair<A, A>& a, const std::pair<A, A>& b) {
      return std::pair{a.first * b.first, a.second * b.first + b.second};
    };
    auto [p, q] = lax::associative_scan(op, std::pair{A(cos(x)), x});
    return sum(q * arange<double>(1, 5)) + sum(p);
  });
}

TEST(LaxPrograms, root) {
  check("root", [](const A& x) -> A {
    const A a = x * x + 1, b = sin(x);
    const auto f = [=](const A& y) { return A(y * y * y + a * y - b); };
    const auto solve = [](const auto& g, const A& start) {
      return lax::fori_loop(
          0, 30,
          [&](int, const A& y) {
            auto [value, slope] = jvp(g, std::tuple{y}, std::tuple{ones_like(y)});
            return A(y - value / slope);
          },
          start);
    };
    const A y = lax::custom_root(f, zeros_like(x), solve,
                                 [](const auto& g, const A& t) { return t / g(ones_like(t)); });
    return sum(y * arange<double>(1, 5));
  });
}

TEST(LaxPrograms, linear) {
  check("linear", [](const A& x) -> A {
    static const A w = compare::array_of<double>(golden::get("lax", "W"));
    const A m = matmul(w, w.T()) + eye<double>(4) * (x * x + 1);
    const auto solve = [](const auto& mv, const A& b) { return linalg::solve(jacobian(mv)(b), b); };
    const A y = lax::custom_linear_solve([=](const A& v) { return matmul(m, v); }, A(cos(x)), solve, solve);
    return sum(y * y);
  });
}

TEST(LaxPrograms, windowed) {
  check("windowed", [](const A& x) -> A {
    const A v = lax::dynamic_slice(x, {Array<int>(floor(abs(x(0)) * 2).template astype<int>())}, {2});
    const A w = lax::dynamic_update_slice(x, A(sin(v)), {floor(abs(x(1)) * 2).template astype<int>()});
    return sum(w * w * arange<double>(1, 5)) + v(0);
  });
}

}  // namespace branches_test
