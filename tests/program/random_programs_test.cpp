#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <vector>

#include "equal_programs.hpp"

// Random programs give equal values and gradients with jit and without.
namespace random_programs_test {
using namespace nax;
using D = Array<double>;
using program_tests::expect_equal;

// A program of a few operations on a square matrix and a row, chosen by a seed.
D run(unsigned seed, const D& x, const D& row) {
  std::mt19937 random(seed);
  std::vector<D> made = {x, D(x + row)};
  for (int i = 0; i < 12; ++i) {
    const D a = made[random() % made.size()], b = made[random() % made.size()];
    switch (random() % 18) {
      case 0:
        made.push_back(D(tanh(a) * b));
        break;
      case 1:
        made.push_back(D(a - b * 0.5));
        break;
      case 2:
        made.push_back(D(tanh(matmul(a, b))));
        break;
      case 3:
        made.push_back(D(a.T() + row));
        break;
      case 4:
        made.push_back(D(a * sum(b, {.axis = 0}) / 9.0));
        break;
      case 5:
        made.push_back(D(a / (1.0 + max(square(b), {.axis = 1, .keepdims = true}))));
        break;
      case 6:
        made.push_back(concatenate(std::vector{D(b(slice(1, none))), D(a(slice(0, 1)))}));
        break;
      case 7:
        made.push_back(D(where(a > b, sin(a), row)));
        break;
      case 8:
        made.push_back(D(roll(a, 1, {.axis = 0}) + mean(b)));
        break;
      case 9:
        made.push_back(D(cumsum(a, {.axis = 1}) * 0.1));
        break;
      case 10:
        made.push_back(D(a.at(0).set(D(b(1)))));
        break;
      case 11: {  // a product of two widths, whose halves are used apart
        const D wide = matmul(a, D(concatenate(std::vector{b, D(row * b)}, {.axis = 1})));
        made.push_back(D(tanh(wide(ellipsis, slice(0, 4))) * sin(wide(ellipsis, slice(4, 8)))));
        break;
      }
      case 12:
        made.push_back(D(tanh(D(a + D(matmul(b, made[random() % made.size()]))))));
        break;
      case 13: {
        const D product = matmul(D(b.T()), D(0.3 * a));
        made.push_back(D(sin(D(made[random() % made.size()] + product))));
        break;
      }
      case 14:
        made.push_back(
            D(stack(std::vector{D(sin(a)), D(b * a), D(a - row)})(static_cast<int>(random() % 3))));
        break;
      case 15: {
        const D joined = concatenate(std::vector{D(tanh(a(slice(0, 2)))), D(b(slice(1, 3)) * 0.7)});
        made.push_back(D(joined + pad(D(a(slice(1, 3), slice(0, 2))), {{1, 1}, {2, 0}})));
        break;
      }
      case 16: {  // a scan long enough to be a step
        const D xs = D(stack(std::vector<D>(33, D(a * 0.1))));
        const auto step = [&](const D& h, const D& x) {
          const D next = tanh(D(matmul(x, b)) + D(matmul(h, D(0.2 * b))) + row);
          return std::pair{next, D(next(ellipsis, slice(0, 2)))};
        };
        const auto [last, ys] = lax::scan(step, D(b * 0.1), xs);
        made.push_back(D(last + sum(ys)));
        break;
      }
      default:
        made.push_back(sort(D(a + 0.1 * b), {.axis = 1}));
    }
  }
  return sum(made.back() * made[made.size() - 2]);
}

void expect_equal_with_jit(unsigned seed) {
  const auto f = [=](const D& x, const D& row) { return run(seed, x, row); };
  const auto slope = [=](const D& x, const D& row) { return grad<0, 1>(f)(x, row); };
  const auto fast = jit(f);
  const auto fast_slope = jit(slope);
  for (int call = 0; call < 3; ++call) {
    const auto key = random::fold_in(random::key(static_cast<int>(seed)), call);
    const D x = random::normal<double>(key, {4, 4}),
            row = random::normal<double>(random::fold_in(key, 9), {4});
    expect_equal(fast(x, row), f(x, row), seed);
    const auto [a, b] = fast_slope(x, row);
    const auto [c, d] = slope(x, row);
    expect_equal(a, c, seed);
    expect_equal(b, d, seed);
  }
}

// Others with --gtest_random_seed=1 and so on.
TEST(RandomPrograms, AreEqualWithJit) {
  constexpr unsigned programs = 200;
  const unsigned first = programs * static_cast<unsigned>(GTEST_FLAG_GET(random_seed));
  for (unsigned seed = first; seed < first + programs; ++seed) expect_equal_with_jit(seed);
}

// Two joined groups whose steps interleave with those of a third.
TEST(RandomPrograms, GroupsDoNotWaitForOneAnother) {
  expect_equal_with_jit(1553);
  expect_equal_with_jit(4458);
}

}  // namespace random_programs_test
