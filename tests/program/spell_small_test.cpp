#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>

#include "equal_programs.hpp"
#include "fuses.hpp"
#include "spelling.hpp"

// Programs over small arrays, whose elements are computed one by one.
namespace spell_small_test {
using namespace nax;
using D = Array<double>;
using F = Array<float>;
using program_tests::expect_equal, program_tests::Spelling;

[[maybe_unused]] const Spelling off(false);  // for the other tests of this folder

template <class T = double>
Array<T> some(const Shape& shape, int seed = 1) {
  return random::uniform<T>(random::key(static_cast<std::uint64_t>(seed)), shape, {.minval = T(-1)});
}
// With jit as without, in so many steps (0: any number).
template <class G, class... X>
void expect_spelled(const G& f, std::size_t steps, const X&... x) {
  const Spelling on(true);
  const auto program = jit(f);
  const D plain = f(x...);
  expect_equal(program(x...), plain, 0);
  expect_equal(program(x...), plain, 0);
  if (fuses() && steps > 0) {
    EXPECT_EQ(make_program(f)(x...).size(), steps) << make_program(f)(x...);
  }
}

TEST(SpellSmall, ProductsMapsAndReductionsAreOneStep) {
  expect_spelled(
      [](const D& a, const D& b) -> D {
        const D c = matmul(a, b), d = matmul(c, a.T()) + sin(c);
        return matmul(d, b) - c;
      },
      1, some({3, 3}), some({3, 3}, 2));
  expect_spelled(
      [](const D& a, const D& x) -> D {
        const D y = matmul(a, x);
        return y / sqrt(sum(square(y))) + max(y) - min(x) * prod(x);
      },
      1, some({3, 3}), some({3}));
  expect_spelled(
      [](const D& a, const D& b) -> D { return einsum("bij,bjk->ik", a, b) + einsum("bij,bij->", a, b); }, 0,
      some({2, 2, 2}), some({2, 2, 2}, 2));
}

TEST(SpellSmall, JoinedAndCutArrays) {
  expect_spelled(
      [](const D& q) -> D {
        const D c = cos(q), s = sin(q), z = zeros_like(q), o = ones_like(q);
        const D r = reshape(stack({c, -s, z, s, c, z, z, z, o}), {3, 3});
        return matmul(r, r(slice(0, 2), _).T());
      },
      1, D(0.3));
  expect_spelled(
      [](const D& x, const D& y) -> D {
        const D all = concatenate({x, y, D(x * y)});
        return cross(all(slice(1, 4)), all(slice(5, 8))) + flip(x) * tile(y(slice(0, 1)), 3);
      },
      0, some({3}), some({3}, 2));
  expect_spelled(
      [](const D& x) -> D {
        return pad(x, {{1, 1}}) * pad(matmul(x, eye<double>(3)), {{2, 0}});
      },
      0, some({3}));
  expect_spelled(
      [](const D& x) -> D {
        D y = x;
        y = y.at(1, _).set(y(0, _) * 2.0);
        y = y.at(_, 0).add(sum(y, {.axis = 1}));
        return matmul(y, y);
      },
      0, some({3, 3}));
}

TEST(SpellSmall, DerivativesOfAnyOrder) {
  const auto f = [](const D& x) -> D {
    const D m = reshape(x, {2, 2}), p = matmul(m, m);
    return sum(tanh(p)) * sum(p * p) / (1.0 + sum(square(x)));
  };
  expect_spelled(grad(f), 0, some({4}));
  expect_spelled(hessian(f), 0, some({4}));
  expect_spelled(jacrev(grad(f)), 0, some({4}));
}

TEST(SpellSmall, ConstantsOfProgramsAreNumbers) {
  const D link{0.3, 0.1, 0.5}, inertia = some({3, 3}, 7);
  expect_spelled(
      [=](const D& x) -> D {
        return matmul(inertia, cross(x, link)) + matmul(eye<double>(3), x) * 2.0 + link;
      },
      1, some({3}));
}

TEST(SpellSmall, BesideLargeArraysAndOtherTypes) {
  expect_spelled(
      [](const D& a, const D& x) -> D {
        const D small = matmul(a, a.T()), mean_x = mean(x, {.axis = 0});
        return sum(x * matmul(small, mean_x)) + matmul(small, small + mean_x);
      },
      0, some({3, 3}), some({500, 3}));
  const Spelling on(true);
  const auto f = [](const F& x, const Array<int>& n) {
    const F y = matmul(x, x) + sum(x), z = matmul(y, x);
    const Array<int> m = n + n;
    return std::tuple{F(y + z), m, Array<double>(y.astype<double>() * 2.0), argmax(z)};
  };
  const F x = some<float>({2, 2});
  const Array<int> n{1, 2, 3};
  const auto [a, b, c, d] = jit(f)(x, n);
  const auto [e, g, h, i] = f(x, n);
  EXPECT_TRUE(bool(allclose(a, e, {.rtol = 1e-5})));
  EXPECT_EQ(b.to_vector(), g.to_vector());
  EXPECT_TRUE(bool(allclose(c, h, {.rtol = 1e-5})));
  EXPECT_EQ(d.to_vector(), i.to_vector());
}

TEST(SpellSmall, InfinitiesAndNansGoOn) {
  const double inf = std::numeric_limits<double>::infinity();
  const Spelling on(true);
  const auto f = [](const D& a, const D& x) -> D { return matmul(a, x) + max(x) - sum(matmul(a, a)); };
  const D a{{1, 0}, {0, 1}}, x{inf, 2};
  const auto with = jit(f)(a, x).to_vector(), without = f(a, x).to_vector();
  for (std::size_t i = 0; i < with.size(); ++i) EXPECT_EQ(std::isnan(with[i]), std::isnan(without[i]));
}

TEST(SpellSmall, LoopsAndBranchesOfSmallArrays) {
  expect_spelled(
      [](const D& a, const D& x) -> D {
        const auto step = [&](const D& y, const D& t) {
          const D k1 = matmul(a, y), k2 = matmul(a, y + 0.05 * k1) * t;
          const D next = y + 0.1 * (k1 + k2) / 2.0;
          return std::pair{next, D(sum(next))};
        };
        const auto [last, sums] = lax::scan(step, x, arange<double>(20));
        return last * sum(sums);
      },
      0, some({3, 3}), some({3}));
  expect_spelled(
      [](const D& a) -> D {
        return lax::cond(
            Array<bool>(sum(a) > 0.0), [](const D& m) { return D(matmul(m, m) - m(0, _)); },
            [](const D& m) { return D(matmul(m, m.T()) * trace(m)); }, a);
      },
      0, some({3, 3}));
}

TEST(SpellSmall, DonatedArgumentsAndResultsThatAreArguments) {
  const Spelling on(true);
  const auto f = [](const D& a, const D& b) {
    const D c = matmul(a, b);
    return std::tuple{D(c + a), D(matmul(c, c)), a};
  };
  const D a = some({3, 3}), b = some({3, 3}, 2);
  const auto [e, g, h] = f(a, b);
  const auto program = jit(f, {.donate_argnums = {0}});
  for (int i = 0; i < 3; ++i) {
    D given = a + 0.0;
    const auto [p, q, r] = program(std::move(given), b);
    EXPECT_TRUE(bool(allclose(p, e)));
    EXPECT_TRUE(bool(allclose(q, g)));
    EXPECT_TRUE(bool(allclose(r, h)));
  }
}

// A cache of few elements is written where it lies, also where elements change their places.
TEST(SpellSmall, DonatedArgumentsAreWrittenOver) {
  const Spelling on(true);
  const auto f = [](const D& a, const D& b) {
    const D turned = D(flip(a)) * 2. + b;
    return D(matmul(turned, turned) + turned.T());
  };
  const D a = some({3, 3}), b = some({3, 3}, 2), want = f(a, b);
  const auto program = jit(f, {.donate_argnums = {0}});
  for (int i = 0; i < 3; ++i) {
    D given = a + 0.0;
    const double* const before = given.data();
    const D got = program(std::move(given), b);
    EXPECT_TRUE(bool(allclose(got, want)));
    EXPECT_TRUE(i == 0 || !fuses() || got.data() == before);
  }
}

// A long program is several steps, each of a size that a processor's caches hold.
TEST(SpellSmall, LongProgramsAreSeveralSteps) {
  const Spelling on(true);
  const auto f = [](const D& a, const D& x) {
    D y = x;
    for (int i = 0; i < 300; ++i) y = matmul(a, y) + sum(y) * 0.01;
    return y;
  };
  const D a = some({3, 3}) * 0.5, x = some({3});
  expect_equal(jit(f)(a, x), f(a, x), 0);
  if (!fuses()) return;
  const std::size_t steps = make_program(f)(a, x).size();
  EXPECT_GT(steps, 1u);
  EXPECT_LT(steps, 40u);
}

TEST(SpellSmall, LinearSystemsAndDeterminants) {
  const auto f = [](const D& a, const D& b) -> D {
    const D m = matmul(a, a.T()) + 0.5 * eye<double>(a.shape()[0]), x = linalg::solve(m, b);
    const D inverse = linalg::inv(m + a * 0.1);
    return matmul(inverse, x) * linalg::det(a) + linalg::solve(a, x - b);
  };
  for (const std::int64_t n : {1, 2, 3, 4}) {
    expect_spelled(f, 1, some({n, n}, static_cast<int>(n)), some({n}, 9));
    expect_spelled(f, 0, some({n, n}, static_cast<int>(n)), some({n, 2}, 9));
    expect_spelled(grad([&](const D& a) { return sum(f(a, ones<double>({a.shape()[0]}))); }), 0,
                   some({n, n}, static_cast<int>(n)));
  }
  expect_spelled(f, 0, some({6, 6}), some({6}));
  expect_spelled(vmap(f), 0, some({200, 3, 3}), some({200, 3}));
  expect_spelled(vmap(f), 0, some({3, 2, 2}), some({3, 2}));
  expect_spelled(
      [](const D& a, const D& b) -> D {
        const D l = linalg::cholesky(matmul(a, a.T()) + eye<double>(3));
        return linalg::solve_triangular(l.T(), linalg::solve_triangular(l, b, {.lower = true}) + b) - b;
      },
      0, some({3, 3}), some({3}));
  // A pivot of zero that another row mends; a matrix of rank one.
  const D mended{{0, 1, 2}, {0, 0, 1}, {3, 1, 0}}, rank_one{{1, 2, 3}, {2, 4, 6}, {3, 6, 9}};
  const auto g = [](const D& a) -> D { return linalg::det(a) + sum(a * 2.0) + max(a); };
  expect_spelled(g, 1, mended);
  expect_spelled(g, 1, rank_one);
  expect_spelled([](const D& a) -> D { return linalg::solve(a, a(_, 0) + sum(a)) * 2.0; }, 0, mended);
}

// Under vmap elements have lanes.
TEST(SpellSmall, MappedFunctionsOfSmallArrays) {
  const auto f = [](const D& q) -> D {
    D turn = eye<double>(3), place = zeros<double>({3});
    for (int i = 0; i < 4; ++i) {
      const D c = cos(q(i)), s = sin(q(i)), z = zeros_like(c), o = ones_like(c);
      turn = matmul(turn, reshape(stack({c, -s, z, s, c, z, z, z, o}), {3, 3}));
      place = place + matmul(turn, D{0.3, 0.1, 0.5});
    }
    return sum(square(place)) * max(place);
  };
  expect_spelled(vmap(f), 0, some({700, 4}));
  expect_spelled(vmap(grad(f)), 0, some({700, 4}));
  expect_spelled(vmap(hessian(f)), 0, some({300, 4}));
  // Arrays that all examples share, and ones that lie by columns.
  const auto g = [](const D& a, const D& x) -> D { return matmul(matmul(a, a), sin(x)) + x * sum(x); };
  expect_spelled(vmap(g, {.in_axes = {none, 0}}), 0, some({3, 3}), some({500, 3}));
  expect_spelled(vmap(g, {.in_axes = {2, 1}}), 0, some({3, 3, 500}), some({3, 500}));
  expect_spelled(
      [&](const D& a, const D& x) -> D {
        return sum(vmap(g, {.in_axes = {none, 0}})(a, x), {.axis = 0});
      },
      0, some({3, 3}), some({500, 3}));
}

// Windows that overlap, lanes that are written with a shift.
TEST(SpellSmall, LanesThatMeetOneAnother) {
  expect_spelled(
      [](const D& x) -> D {
        D y = x;
        for (int i = 0; i < 5; ++i) {
          const D left = y(slice(0, 398), _), right = y(slice(2, 400), _);
          y = y.at(slice(1, 399), _)
                  .set(0.25 * (left + right) +
                       0.5 * sin(y(slice(1, 399), _)) * sum(left * right, {.axis = 1, .keepdims = true}));
        }
        return y;
      },
      0, some({400, 2}));
}

D random_step(std::mt19937& random, const D& a, const D& b) {
  switch (random() % 10) {
    case 0:
      return matmul(a, b) * 0.5;
    case 1:
      return a * b - 0.5 * a;
    case 2:
      return tanh(a) + sum(b, {.axis = 0}) * 0.1;
    case 3:
      return concatenate({D(a(slice(1, 3), _)), D(b(slice(0, 1), _))});
    case 4:
      return a.T() + max(b);
    case 5:
      return a.at(static_cast<std::int64_t>(random() % 3), _).set(b(0, _));
    case 6:
      return where(a > b, a, 0.5 * b);
    case 7:
      return flip(a) + min(b, {.axis = 1, .keepdims = true});
    case 8:
      return stack({D(a(0, _) * 0.5), D(b(1, _)), D(sin(a(2, _)))});
    default:
      return roll(a, 1) - mean(b);
  }
}

TEST(SpellSmall, RandomProgramsAreEqual) {
  const Spelling on(true);
  for (unsigned seed = 0; seed < 150; ++seed) {
    const auto f = [seed](const D& x, const D& y) -> D {
      std::mt19937 random(seed);
      std::vector<D> known = {x, y};
      for (int i = 0; i < 12; ++i)
        known.push_back(random_step(random, known[random() % known.size()], known[random() % known.size()]));
      return known.back() + known[known.size() - 2] * 0.25;
    };
    const D x = some({3, 3}, static_cast<int>(seed)), y = some({3, 3}, static_cast<int>(seed) + 1000);
    expect_equal(jit(f)(x, y), f(x, y), seed);
    const D many = some({90, 3, 3}, static_cast<int>(seed) + 2000);
    const auto mapped = vmap(f, {.in_axes = {0, none}});
    expect_equal(jit(mapped)(many, y), mapped(many, y), seed);
    const auto g = grad([&](const D& v) { return sum(f(v, y)); });
    expect_equal(jit(g)(x), g(x), seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace spell_small_test
