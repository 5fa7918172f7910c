#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "recorded_once.hpp"

// Derivatives of recorded loops: of every transform and order they are loops, and give the plain function's
// numbers.
namespace loop_derivatives_test {
using namespace nax;
using D = Array<double>;
using recorded_once::expect_near, recorded_once::expect_recorded_once;

D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }

// f is recorded once, with its loops, and gives its own numbers.
template <class Function>
void expect_loops(const std::string& name, const Function& f, const D& x, const D& y) {
  expect_recorded_once(name, f, x, y);
  const auto program = make_program([&](const D& v) { return D(f(v)); })(x);
  const std::string text = program.text();
  EXPECT_TRUE(text.find("scan") != std::string::npos || text.find("switch") != std::string::npos)
      << name << program;
  EXPECT_LT(program.size(), 80u) << name << program;
}

template <class Function>
void expect_first_derivatives(const Function& f, const D& x, const D& y) {
  const D t = cos(x + 1.0);
  const auto loss = [&](const D& v) { return sum(sin(f(v))); };
  expect_loops("value", f, x, y);
  expect_loops("grad", grad(loss), x, y);
  expect_loops(
      "jvp", [&](const D& v) { return jvp(f, std::tuple{v}, std::tuple{t}).second; }, x, y);
  expect_loops("jacfwd", jacfwd(f), x, y);
  expect_loops("jacrev", jacrev(f), x, y);
}
template <class Function>
void expect_derivatives(const Function& f, const D& x, const D& y) {
  expect_first_derivatives(f, x, y);
  const D t = cos(x + 1.0);
  const auto loss = [&](const D& v) { return sum(sin(f(v))); };
  const auto push = [&](const D& v) { return D(jvp(f, std::tuple{v}, std::tuple{t}).second); };
  const auto twice = [&](const D& v) { return sum(sin(grad(loss)(v))); };
  expect_loops(
      "jvp of grad", [&](const D& v) { return jvp(grad(loss), std::tuple{v}, std::tuple{t}).second; }, x, y);
  expect_loops("grad of grad", grad(twice), x, y);
  expect_loops(
      "grad of jvp", [&](const D& v) { return grad([&](const D& u) { return sum(sin(push(u))); })(v); }, x,
      y);
  expect_loops(
      "jvp of jvp", [&](const D& v) { return jvp(push, std::tuple{v}, std::tuple{t}).second; }, x, y);
  expect_loops("hessian", hessian(loss), x, y);
  expect_loops("jacfwd of grad", jacfwd(grad(loss)), x, y);
  expect_loops(
      "jvp of grad of grad",
      [&](const D& v) { return jvp(grad(twice), std::tuple{v}, std::tuple{t}).second; }, x, y);
}

TEST(LoopDerivatives, OfCarries) {
  expect_derivatives(
      [](const D& v) {
        return lax::scan(
                   [&](const D& c) {
                     return std::pair{D(tanh(c * 0.9 + v)), none};
                   },
                   v, none, {.length = 40})
            .first;
      },
      draw(1, {3}), draw(2, {3}));
}

TEST(LoopDerivatives, OfRowsInBothDirections) {
  for (const bool reverse : {false, true})
    expect_derivatives(
        [=](const D& v) {
          return lax::scan(
                     [](const D& c, const D& x) {
                       const D next = sin(c + x);
                       return std::pair{next, D(next * x)};
                     },
                     D(v(0)), v, {.reverse = reverse})
              .second;
        },
        draw(1, {34, 2}), draw(2, {34, 2}));
}

TEST(LoopDerivatives, OfArraysFromOutside) {
  const D x = draw(6, {40, 3});
  expect_derivatives(
      [&](const D& u) {
        const D w = D(u * 0.5);
        return lax::scan(
                   [&](const D& c, const D& row) {
                     return std::pair{D(tanh(matmul(w, c) + row)), D(sum(w * c))};
                   },
                   D(x(0)), x)
            .second;
      },
      draw(3, {3, 3}), draw(4, {3, 3}));
}

TEST(LoopDerivatives, OfProductsThatLeaveTheLoop) {
  const D x = draw(6, {36, 2, 3});
  expect_derivatives(
      [&](const D& w) {
        return lax::scan(
                   [&](const D& c, const D& row) {
                     return std::pair{D(tanh(matmul(row, w) + matmul(c, w))), none};
                   },
                   zeros<double>({2, 3}), x)
            .first;
      },
      draw(3, {3, 3}), draw(4, {3, 3}));
}

TEST(LoopDerivatives, OfCarriesThatTradePlaces) {
  expect_derivatives(
      [](const D& v) {
        const auto [carry, rows] = lax::scan(
            [](const std::pair<D, D>& c, const D& row) {
              const D next = tanh(c.first + row), again = tanh(c.first + row);
              return std::pair{std::pair{c.second, next}, again};
            },
            std::pair{D(v(0)), zeros<double>({2})}, v);
        return D(concatenate(std::vector{reshape(rows, {-1}), carry.first, D(2.0 * carry.second)}));
      },
      draw(1, {33, 2}), draw(2, {33, 2}));
}

TEST(LoopDerivatives, UnderVmapAndOfGradientsOfExamples) {
  const auto each = [](const D& row) {
    return lax::scan(
               [](const D& c, const D& x) {
                 return std::pair{D(c * 0.5 + sin(x * c)), D(c * x)};
               },
               D(0.3), row)
        .second;
  };
  const D x = draw(1, {2, 33}), y = draw(2, {2, 33});
  expect_derivatives([&](const D& v) { return vmap(each)(v); }, x, y);
  const auto gradient = grad([&](const D& r) { return sum(each(r)); });
  expect_first_derivatives([&](const D& v) { return vmap(gradient)(v); }, x, y);
}

TEST(LoopDerivatives, OfCountedLoops) {
  expect_derivatives(
      [](const D& v) {
        return lax::fori_loop(
            0, 50,
            [&](const Array<int>& i, const D& c) { return D(c + 0.01 * sin(c * v) * i.astype<double>()); },
            v);
      },
      draw(1, {3}), draw(2, {3}));
}

TEST(LoopDerivatives, OfLoopsWithinLoops) {
  const auto two = [](const D& v) {
    const auto inner = [](const D& c, const D& row) {
      return lax::scan(
                 [&](const D& d, const D& one) {
                   return std::pair{D(sin(d * 0.5 + one * c * 0.01)), none};
                 },
                 row, arange<double>(0.0, 33.0))
          .first;
    };
    return lax::scan(
               [&](const D& c, const D& row) {
                 const D next = inner(c, row);
                 return std::pair{D(next + c * 0.1), next};
               },
               D(v(0) * 0.5), tile(v, {17, 1}))
        .first;
  };
  expect_derivatives(two, draw(1, {2, 2}), draw(2, {2, 2}));
  const auto three = [](const D& v) {
    const auto turn = [](const auto& f, const D& from, std::int64_t n) {
      return lax::scan([&](const D& c) { return std::pair{D(f(c)), none}; }, from, none, {.length = n}).first;
    };
    return turn(
        [&](const D& a) {
          const D b = turn(
              [&](const D& c) {
                const D d = turn([&](const D& e) { return D(sin(e * 0.5 + c * a * 0.3)); }, c, 32);
                return D(d * 0.4 + v * 0.2);
              },
              a, 32);
          return D(b * 0.5 + 0.3 * v);
        },
        v, 32);
  };
  // The plain function takes 32 768 turns.
  const D x = draw(1, {2});
  const auto loss = [&](const D& v) { return sum(sin(three(v))); };
  const auto push = [&](const D& v) { return jvp(grad(loss), std::tuple{v}, std::tuple{x}).second; };
  const auto pull = grad([&](const D& v) { return sum(grad(loss)(v) * x); });
  expect_near("jvp of grad", jit(push)(x), push(x));
  expect_near("grad of grad", jit(pull)(x), push(x));
}

// The body pulls through a loop outside of it: its turns' cotangents are added up.
TEST(LoopDerivatives, OfPullbacksInLoops) {
  expect_derivatives(
      [](const D& v) {
        const auto total = [](const D& u) {
          return sum(sin(lax::scan(
                             [&](const D& c) {
                               return std::pair{D(c * 0.5 + sin(u)), none};
                             },
                             u, none, {.length = 33})
                             .first));
        };
        const auto pull = vjp(total, v).second;
        return lax::scan(
                   [&](const D& c) {
                     return std::pair{D(c * 0.3 + 0.05 * std::get<0>(pull(D(sum(c)))) * v), none};
                   },
                   v, none, {.length = 34})
            .first;
      },
      draw(1, {2}), draw(2, {2}));
}

TEST(LoopDerivatives, OfGathersSolvesChoicesAndCheckpoints) {
  const Array<int> at = arange<int>(0, 40) % 4;
  expect_derivatives(
      [&](const D& v) {
        return lax::scan(
                   [&](const D& c, const Array<int>& i) {
                     const D picked = take(v, i);
                     return std::pair{D(c * 0.9 + picked), D(cumsum(c) * picked)};
                   },
                   v, at)
            .second;
      },
      draw(1, {4}), draw(2, {4}));
  expect_derivatives(
      [](const D& v) {
        return lax::scan(
                   [&](const D& c, const D& x) {
                     const D system = D(eye<double>(2) * 3.0 + reshape(v, {2, 2}) * 0.1);
                     return std::pair{D(linalg::solve(system, D(c * x)) + 1.0), none};
                   },
                   ones<double>({2}), D(arange<double>(1.0, 34.0) * 0.03))
            .first;
      },
      draw(1, {4}), draw(2, {4}));
  expect_derivatives(
      [](const D& v) {
        return lax::scan(
                   [](const D& c, const D& x) {
                     return std::pair{D(where(c > x, c * x, c + x * 0.1)), D(max(stack({c, x})))};
                   },
                   D(0.5), v)
            .second;
      },
      draw(1, {33}), draw(2, {33}));
  expect_derivatives(
      [](const D& v) {
        return lax::scan(
                   [](const D& c, const D& x) {
                     const D s = checkpoint([](const D& a, const D& b) { return D(tanh(a * b)); })(c, x);
                     const D p = nn::softmax(stack({s, x, c}));
                     return std::pair{D(sum(p * p) + s), p};
                   },
                   D(0.5), v)
            .second;
      },
      draw(1, {33}), draw(2, {33}));
}

TEST(LoopDerivatives, OfBranches) {
  const D w = draw(3, {2, 2});
  const auto chosen = [&](const D& v) {
    return lax::cond(
        sum(v) > 0.0, [&](const D& u) { return D(tanh(matmul(w, u)) * v); },
        [](const D& u) { return D(exp(u * 0.5)); }, v);
  };
  const D x = {0.5, 0.75}, y = {-0.5, -0.25};
  expect_derivatives(chosen, x, y);
  expect_derivatives([&](const D& v) { return D(chosen(D(sin(v))) * chosen(D(v * v)(0) * v)); }, x, y);
  // One branch gives a constant, and the other does not use the operand.
  expect_derivatives(
      [&](const D& v) {
        return D(v * lax::cond(
                         sum(v) > 0.0, [](const D&) { return D(2.0); },
                         [&](const D& u) { return D(sum(u * v)); }, v));
      },
      x, y);
  expect_derivatives(
      [&](const D& v) {
        const auto index = floor(v(0) * 4.0).astype<int>();
        return lax::switch_(
            index,
            std::tuple{[](const D& u) { return D(sin(u)); }, [](const D& u) { return D(u * u); },
                       [&](const D& u) { return D(chosen(u) * u); }},
            v);
      },
      x, y);
}

TEST(LoopDerivatives, OfBranchesInLoopsAndLoopsInBranches) {
  expect_derivatives(
      [](const D& v) {
        return lax::scan(
                   [&](const D& c, const D& x) {
                     const D next = lax::cond(
                         sum(c * x) > 0.0, [&](const D& u) { return D(sin(u) * v(0)); },
                         [&](const D& u) { return D(u * x * 0.5 + 0.1); }, c);
                     return std::pair{next, D(next * x)};
                   },
                   D(v(1)), v)
            .second;
      },
      draw(1, {34, 2}), draw(2, {34, 2}));
  expect_derivatives(
      [](const D& v) {
        const auto loop = [&](const D& u) {
          return lax::scan(
                     [&](const D& c) {
                       return std::pair{D(tanh(c * 0.9 + v)), none};
                     },
                     u, none, {.length = 33})
              .first;
        };
        return lax::cond(
            sum(v) > 0.0, loop, [](const D& u) { return D(cos(u)); }, v);
      },
      D{0.5, 0.75}, D{-0.5, -0.25});
  // A loop, in a branch, in a loop.
  expect_derivatives(
      [](const D& v) {
        return lax::scan(
                   [&](const D& c) {
                     const auto loop = [&](const D& u) {
                       return lax::scan(
                                  [&](const D& e) {
                                    return std::pair{D(sin(e * 0.5 + c * v * 0.3)), none};
                                  },
                                  u, none, {.length = 32})
                           .first;
                     };
                     const D next = lax::cond(
                         sum(c) > 0.2, loop, [](const D& u) { return D(1.0 - u * 0.5); }, c);
                     return std::pair{next, none};
                   },
                   v, none, {.length = 33})
            .first;
      },
      D{0.5, 0.75}, D{-0.5, -0.25});
}

TEST(LoopDerivatives, OfBranchesUnderVmap) {
  const D x = {0.5, 0.75, 1.0}, y = {-0.5, -0.25, 1.0};
  expect_derivatives(
      [](const D& v) {
        const auto each = [&](const D& s) {
          return lax::cond(
              sum(v) > 0.0, [&](const D& u) { return D(sin(u * v(0))); }, [](const D& u) { return D(u * u); },
              s);
        };
        return vmap(each)(v);
      },
      x, y);
}

// A transform outside may watch arrays that the one inside does not.
TEST(LoopDerivatives, ByOtherArraysThanTheInnerTransform) {
  const D x = draw(6, {36, 2});
  const auto mixed = [&](const D& w) {
    const auto of_start = [&](const D& start) {
      return sum(lax::scan(
                     [&](const D& c, const D& row) {
                       return std::pair{D(tanh(c * w + row)), none};
                     },
                     start, x)
                     .first);
    };
    return grad(of_start)(D(x(0)));
  };
  expect_loops("jacfwd", jacfwd(mixed), draw(1, {2}), draw(2, {2}));
  expect_loops("jacrev", jacrev(mixed), draw(1, {2}), draw(2, {2}));
}

TEST(LoopDerivatives, FunctionsWithoutTangentsAreRefused) {
  const auto square = custom_vjp([](const D& v) { return D(v * v); },
                                 [](const D& v) {
                                   return std::pair{D(v * v), v};
                                 },
                                 [](const D& v, const D& g) { return std::tuple{D(2.0 * v * g)}; });
  const auto f = [&](const D& v) {
    return lax::scan(
               [&](const D& c) {
                 return std::pair{D(0.5 * square(c) + 0.1), none};
               },
               v, none, {.length = 40})
        .first;
  };
  const D x = draw(1, {2});
  EXPECT_THROW(jit([&](const D& v) { return jvp(f, std::tuple{v}, std::tuple{x}).second; })(x), TypeError);
  expect_near("grad", jit(grad([&](const D& v) { return sum(f(v)); }))(x),
              grad([&](const D& v) { return sum(f(v)); })(x));
}

// A gradient's loop whose carries widen is drafted again; the steps of loops within it must not await what
// the first draft gave them.
TEST(LoopDerivatives, OfLoopsInLoopsByRowsOfCotangents) {
  const D rows = draw(3, {33, 3}), start = draw(4, {3});
  const auto f = [&](const D& w) {
    const auto outer_step = [&](const D& c, const D& row) {
      const D z = lax::fori_loop(
          0, 32, [&](const Array<int>&, const D& k) { return D(tanh(matmul(k, outer(w, c)) + row * 0.1)); },
          c);
      return std::pair{z, D(z * c)};
    };
    return sum(lax::scan(outer_step, start, rows).second);
  };
  const auto third = [&](const D& w) { return sum(sin(jacrev(grad(f))(w))); };
  expect_loops("jacrev of grad", jacrev(grad(f)), draw(1, {3}), draw(2, {3}));
  expect_loops("grad of jacrev of grad", grad(third), draw(1, {3}), draw(2, {3}));
}

}  // namespace loop_derivatives_test
