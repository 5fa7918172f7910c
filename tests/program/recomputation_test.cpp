#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "recorded_once.hpp"

// Programs compute anew what checkpoint drops: their memory is that of the checkpoints.
namespace recomputation_test {
using namespace nax;
using D = Array<double>;
using recorded_once::expect_near;
using recorded_once::expect_recorded_once;

D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape) * 0.3; }

// 64 products and tangents, in blocks of 8; the weights are captured.
template <class Wrap>
auto blocks_of(const Wrap& wrap, const D& w) {
  return [=](const D& x) {
    const auto block = wrap([w](D h) {
      for (int i = 0; i < 8; ++i) h = tanh(matmul(h, w));
      return h;
    });
    D h = x;
    for (int i = 0; i < 8; ++i) h = block(h);
    return D(sum(h));
  };
}
const auto plainly = [](const auto& f) { return f; };
const auto dropped = [](const auto& f) { return checkpoint(f); };

TEST(Recomputation, NeedsLessMemory) {
  const D w = draw(1, {16, 16}), x = draw(2, {200, 16}), y = draw(3, {200, 16});
  const auto plain = grad(blocks_of(plainly, w));
  const auto less = grad(blocks_of(dropped, w));
  const auto a = make_program(plain)(x);
  const auto b = make_program(less)(x);
  const std::size_t one = 200 * 16 * sizeof(double);
  EXPECT_GT(a.temporary_bytes(), 60 * one);
  EXPECT_LT(b.temporary_bytes(), 24 * one);
  EXPECT_GT(b.flops(), a.flops() * 1.2);
  expect_recorded_once("blocks", less, x, y);
  expect_near("blocks", jit(less)(x), plain(x));
}

// Also of what a function captures, and of weights that are arguments.
TEST(Recomputation, OfCapturesAndWeights) {
  const D w = draw(1, {16, 16}), x = draw(2, {200, 16}), y = draw(3, {200, 16});
  const auto by_weights = [&](const auto& wrap) {
    return [&, wrap](const D& x) {
      return std::get<0>(grad<0, 1>([&](const D& w, const D& x) { return blocks_of(wrap, w)(x); })(w, x));
    };
  };
  const std::size_t one = 200 * 16 * sizeof(double);
  EXPECT_GT(make_program(by_weights(plainly))(x).temporary_bytes(), 60 * one);
  EXPECT_LT(make_program(by_weights(dropped))(x).temporary_bytes(), 24 * one);
  expect_recorded_once("weights", by_weights(dropped), x, y);
  // A block that reads nothing but captures: a sweep reads them behind its barrier.
  const auto of_captures = [](const auto& wrap) {
    return [wrap](const D& x) {
      return D(grad([&](const D& x) {
        const auto block = wrap([x](double c) {
          const D a = tanh(matmul(D(x.T()), x) * c);
          return D(matmul(a, a));
        });
        return D(sum(sin(block(0.5))));
      })(x));
    };
  };
  expect_recorded_once("captures", of_captures(dropped), x, y);
  EXPECT_GT(make_program(of_captures(dropped))(x).flops(),
            make_program(of_captures(plainly))(x).flops() + 50000);
}

// A program keeps its block of memory until the next call.
TEST(Recomputation, NeedsLessOfThePool) {
  const D w = draw(1, {16, 16}), x = draw(2, {400, 16});
  const auto used_by = [&](const auto& f) {
    const std::size_t before = memory_stats().in_use;
    const auto fast = jit(f);
    fast(x);
    return memory_stats().in_use - before;
  };
  const std::size_t plain = used_by(grad(blocks_of(plainly, w)));
  EXPECT_LT(used_by(grad(blocks_of(dropped, w))), plain / 2);
}

TEST(Recomputation, OfOtherTransforms) {
  const D w = draw(1, {4, 4}), x = draw(2, {3, 4}), y = draw(3, {3, 4});
  const auto less = blocks_of(dropped, w);
  expect_recorded_once(
      "gradients' tangent",
      [&](const D& x) {
        return D(jvp([&](const D& x) { return D(grad(less)(x)); }, std::tuple{x}, std::tuple{ones_like(x)})
                     .second);
      },
      x, y);
  expect_recorded_once(
      "a gradient's gradient",
      [&](const D& x) { return D(grad([&](const D& x) { return D(sum(sin(grad(less)(x)))); })(x)); }, x, y);
  expect_recorded_once(
      "vmap",
      [&](const D& x) {
        return D(vmap(grad([&](const D& row) { return less(D(row.reshape({1, 4}))); }))(x));
      },
      x, y);
  expect_recorded_once(
      "tangent", [&](const D& x) { return D(jvp(less, std::tuple{x}, std::tuple{ones_like(x)}).second); }, x,
      y);
  expect_recorded_once(
      "nested",
      [&](const D& x) {
        return D(grad([&](const D& x) {
          return D(sum(checkpoint([&](const D& x) { return D(cos(less(x)) * x); })(x)));
        })(x));
      },
      x, y);
  // In bodies of loops and branches, recorded and turn by turn.
  for (const int turns : {5, 50})
    expect_recorded_once(
        "bodies",
        [&](const D& x) {
          return D(grad([&](const D& x) {
            const auto step = checkpoint([w](const D& h, const D& r) {
              return std::pair{D(tanh(matmul(h, w) + r)), D(h(0))};
            });
            const auto [last, ys] = lax::scan(step, x, D(broadcast_to(x(0), {turns, 4})));
            return D(sum(last) + sum(ys));
          })(x));
        },
        x, y);
  expect_recorded_once(
      "gradient in a body",
      [&](const D& x) {
        return lax::scan(
                   [&](const D& h) {
                     return std::pair{D(tanh(h + grad(less)(h))), none};
                   },
                   x, none, {.length = 40})
            .first;
      },
      x, y);
  expect_recorded_once(
      "branch",
      [&](const D& x) {
        return D(grad([&](const D& x) {
          return lax::cond(
              D(sum(x)) > 0., [&](const D& x) { return less(x); }, [](const D& x) { return D(sum(x)); }, x);
        })(x));
      },
      x, y);
}

// Partial sums kept by a step are not those of the barrier: what is written twice is read as it was.
TEST(Recomputation, ReadsPartsAsTheyWere) {
  const D x = draw(2, {6, 4}), y = draw(3, {6, 4});
  expect_recorded_once(
      "parts",
      [](const D& x) {
        return D(grad([](const D& x) {
          const auto f = checkpoint(
              [x](const D& a) { return D(sin(a(slice(0, 3))) * x(slice(3, 6)) + a(slice(1, 4))); });
          const D b = f(x);
          return D(sum(f(D(concatenate(std::vector{b, D(x(slice(0, 3)))})))) +
                   sum(x(slice(2, 4)) * b(slice(0, 2))));
        })(x));
      },
      x, y);
}

// {carry, sums of ys} of a scan over rows with checkpoints, and without.
TEST(Recomputation, ScansAreFewSteps) {
  const D w = draw(1, {4, 4}), x = draw(2, {4}), y = draw(3, {4});
  const D rows = draw(4, {2000, 4});
  const auto slope = [&](const lax::ScanOptions& options, std::int64_t n) {
    return [=](const D& x) {
      return D(grad([=](const D& x) {
        const auto [last, ys] = lax::scan(
            [=](const D& h, const D& r) {
              const D next = tanh(matmul(h, w) + r * x);
              return std::pair{next, D(sum(next * r))};
            },
            x, D(rows(slice(0, n))), options);
        return D(sum(last) + sum(ys * arange<double>(static_cast<double>(n))));
      })(x));
    };
  };
  const auto plain = make_program(slope({}, 2000))(x);
  const auto less = make_program(slope({.checkpoint = true}, 2000))(x);
  EXPECT_LE(less.size(), plain.size() + 12);
  EXPECT_LT(less.temporary_bytes(), plain.temporary_bytes() / 3);
  for (const bool reverse : {false, true})
    for (const std::int64_t n : {32, 100, 101, 2000})
      for (const lax::CheckpointEvery every : {lax::CheckpointEvery(true), lax::CheckpointEvery(7),
                                               lax::CheckpointEvery(1), lax::CheckpointEvery(5000)}) {
        const std::string name = "scan of " + std::to_string(n);
        const auto f = slope({.reverse = reverse, .checkpoint = every}, n);
        expect_recorded_once(name, f, x, y);
        expect_near(name, f(x), slope({.reverse = reverse}, n)(x));
      }
}

TEST(Recomputation, ScansWithoutRows) {
  const D x = draw(2, {4}), y = draw(3, {4});
  const auto f = [](const D& x) {
    const auto loss = [](const D& x) {
      return D(sum(lax::scan(
                       [=](const D& h) {
                         return std::pair{D(sin(h) + x), none};
                       },
                       x, none, {.length = 77, .checkpoint = true})
                       .first));
    };
    return D(
        grad(loss)(x) +
        jvp([&](const D& x) { return D(grad(loss)(x)); }, std::tuple{x}, std::tuple{ones_like(x)}).second);
  };
  expect_recorded_once("no rows", f, x, y);
  expect_recorded_once(
      "vmap of scans",
      [](const D& x) {
        return D(vmap(grad([](const D& v) {
          return D(lax::scan(
                       [=](const D& h, const D& r) {
                         return std::pair{D(sin(h) + v * r), h};
                       },
                       v, D(linspace<double>(0, 1, 50)), {.checkpoint = true})
                       .second(-1));
        }))(x));
      },
      x, y);
}

}  // namespace recomputation_test
