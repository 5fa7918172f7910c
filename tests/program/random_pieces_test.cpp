#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <vector>

#include "equal_programs.hpp"

// Random programs of windows, joins and padded arrays, whose lines are long enough for the passes that read
// and write parts of arrays, are equal with jit and without.
namespace random_pieces_test {
using namespace nax;
using D = Array<double>;
using program_tests::expect_equal;

constexpr int rows = 24, columns = 40, inner_rows = 19, inner_columns = 33;

D window(std::mt19937& random, const D& x) {
  const int i = static_cast<int>(random() % (rows - inner_rows + 1)),
            j = static_cast<int>(random() % (columns - inner_columns + 1));
  return x(slice(i, i + inner_rows), slice(j, j + inner_columns));
}
// As x, of windows of it.
D widened(std::mt19937& random, const D& x) {
  const int above = static_cast<int>(random() % (rows - inner_rows + 1)),
            left = static_cast<int>(random() % (columns - inner_columns + 1));
  return pad(x, {{above, rows - inner_rows - above}, {left, columns - inner_columns - left}},
             {.constant_values = random() % 2 == 0 ? 0.0 : 0.5});
}
D step(std::mt19937& random, const D& a, const D& b) {
  switch (random() % 10) {
    case 0: {  // a stencil
      D sum = window(random, a);
      for (int k = 0; k < 4; ++k) {
        if (random() % 2 == 0)
          sum = sum - 0.25 * window(random, a);
        else
          sum = sum + window(random, random() % 2 == 0 ? a : b);
      }
      return widened(random, sum);
    }
    case 1:
      return widened(random, D(window(random, a) * window(random, b)));
    case 2: {
      const D joined = concatenate(std::vector{window(random, a), D(tanh(window(random, b)))}, {.axis = 1});
      const D mapped = D(square(joined) * 0.5);
      return widened(random, D(mapped(ellipsis, slice(0, inner_columns)) -
                               mapped(ellipsis, slice(inner_columns, 2 * inner_columns))));
    }
    case 3: {
      const D joined = sin(concatenate(std::vector{a, D(b * 2.0), a}));
      const int from = static_cast<int>(random() % 3) * rows;
      const D part = joined(slice(from, from + rows));
      return D(part + flip(part, {.axis = static_cast<int>(random() % 2)}));
    }
    case 4: {
      const D padded = pad(a, {{2, 2}, {3, 3}});
      return D(square(padded)(slice(2, 2 + rows), slice(3, 3 + columns)) - b);
    }
    case 5: {
      const D padded = tanh(pad(D(a * b), {{1, 1}, {1, 1}}));
      return D(padded(slice(0, rows), slice(2, 2 + columns)) + padded(slice(2, 2 + rows), slice(0, columns)));
    }
    case 6:
      return D(a.at(slice(2, 2 + inner_rows), slice(4, 4 + inner_columns)).set(window(random, b)) * 0.7);
    case 7:
      return D(roll(a, 3, {.axis = 1}) - D(flip(b, {.axis = 0})));
    case 8:
      return D(a + sum(window(random, b), {.axis = 0, .keepdims = true})(0, slice(0, 1)));
    default:
      return D(sin(a) * b - a);
  }
}

D run(unsigned seed, const D& x, const D& y) {
  std::mt19937 random(seed);
  std::vector<D> made = {x, y};
  const unsigned count = 2 + random() % 4;
  for (unsigned k = 0; k < count; ++k) {
    const D a = made[random() % made.size()], b = made[random() % made.size()];
    made.push_back(step(random, a, b));
  }
  return sum(square(made.back())) + sum(made[made.size() - 2]) * 0.1;
}

void expect_equal_with_jit(unsigned seed) {
  const auto f = [=](const D& x, const D& y) { return run(seed, x, y); };
  const auto slope = [=](const D& x, const D& y) { return grad<0, 1>(f)(x, y); };
  const auto both = [=](const D& x, const D& y) { return value_and_grad(f)(x, y); };
  const auto fast = jit(f);
  const auto fast_slope = jit(slope);
  const auto fast_both = jit(both);
  for (int call = 0; call < 2; ++call) {
    const auto key = random::fold_in(random::key(static_cast<int>(seed)), call);
    const D x = random::normal<double>(key, {rows, columns}),
            y = random::normal<double>(random::fold_in(key, 9), {rows, columns});
    expect_equal(fast(x, y), f(x, y), seed);
    const auto [a, b] = fast_slope(x, y);
    const auto [c, d] = slope(x, y);
    expect_equal(a, c, seed);
    expect_equal(b, d, seed);
    const auto [value, gradient] = fast_both(x, y);
    expect_equal(value, f(x, y), seed);
    expect_equal(gradient, c, seed);
  }
}

// Others with --gtest_random_seed=1 and so on.
TEST(RandomPieces, AreEqualWithJit) {
  constexpr unsigned programs = 150;
  const unsigned first = programs * static_cast<unsigned>(GTEST_FLAG_GET(random_seed));
  for (unsigned seed = first; seed < first + programs; ++seed) expect_equal_with_jit(seed);
}

}  // namespace random_pieces_test
