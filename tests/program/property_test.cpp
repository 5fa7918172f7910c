#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <random>
#include <vector>

#include "settings.hpp"

// Random programs with loops, branches and transforms, jitted and not: equal values and equal gradients.
// NAX_RANDOM_PROGRAMS says how many (300 by default), NAX_RANDOM_SEED where they begin.
namespace property_test {
using namespace nax;
using D = Array<double>;
using program_tests::setting;

// Chooses functions by a seed, never by numbers of arrays. Values stay within a few units.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  // A matrix of n columns and a row of n.
  D run(const D& x, const D& row, int steps, int depth) {
    std::vector<D> made = {x, D(tanh(x + row))};
    std::vector<D> rows = {row};
    for (int i = 0; i < steps; ++i) {
      const D a = pick(made), r = pick(rows);
      const D b = a.shape() == made.back().shape() ? made.back() : a;
      switch (below(3)) {
        case 0:
          made.push_back(map(a, b, r));
          break;
        case 1:
          made.push_back(whole(a, b, r));
          break;
        default:
          if (depth > 0)
            made.push_back(flow(a, r, depth));
          else
            rows.push_back(reduce(a));
      }
      if (below(3) == 0) rows.push_back(reduce(made.back()));
    }
    return D(sum(made.back()) + sum(rows.back()) + sum(made[made.size() / 2]));
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  const D& pick(const std::vector<D>& from) { return below(2) ? from.back() : from[below(from.size())]; }

  // Element by element; the shape of a.
  D map(const D& a, const D& b, const D& r) {
    switch (below(9)) {
      case 0:
        return D(tanh(a) * b * 0.5);
      case 1:
        return D(a - b * 0.5);
      case 2:
        return D(sin(a + r));
      case 3:
        // Numbers to which loops converge are equal but for rounding, and no place to choose.
        return D(where(a > b + 0.0137, a, cos(r)));
      case 4:
        return D(a / (1.5 + square(b)));
      case 5:
        return D(maximum(a, r) * 0.7);
      case 6:
        return D(exp(-square(a)) + r * 0.1);
      case 7:
        return D(sqrt(1.0 + a * a) - log1p(abs(b)));
      default:
        return D(clip(a * 1.3, -2.0, 2.0));
    }
  }
  // A row of a matrix.
  D reduce(const D& a) {
    switch (below(6)) {
      case 0:
        return D(mean(a, {.axis = 0}));
      case 1:
        return D(max(a, {.axis = 0}));
      case 2:
        return D(tanh(sum(square(a), {.axis = 0})));
      case 3:
        return D(a(0));
      case 4:
        return D(logsumexp(a, {.axis = 0}) * 0.5);
      default:
        return D(a(slice(none, none, -1))(0) * sin(mean(a)));
    }
  }
  // Of whole arrays; the shape of a.
  D whole(const D& a, const D& b, const D& r) {
    switch (below(12)) {
      case 0:
        return D(tanh(matmul(matmul(a, b.T()), a) * 0.3));
      case 1:
        return D(roll(a, 1, {.axis = 0}) + mean(b));
      case 2:
        return D(cumsum(a, {.axis = 1}) * 0.2);
      case 3:
        return sort(D(a + 0.1 * b), {.axis = 1});
      case 4:
        return D(a.at(0).set(D(b(0) * 0.5)));
      case 5:
        return D(a.at(Array<int>{0, 1, 0}).add(D(stack(std::vector<D>{r, r, D(r * 2.0)}) * 0.1)));
      case 6:
        return concatenate(std::vector<D>{D(b(slice(1, none))), D(a(slice(0, 1)))});
      case 7:
        return D(
            a(Array<int>(mod(arange<int>(static_cast<int>(a.shape(0))) * 2, static_cast<int>(a.shape(0))))));
      case 8:
        return D(real(fft::ifft(fft::fft(a) * std::complex<double>(0.5, 0))) + flip(b, {.axis = 0}));
      case 9:
        return D(nn::softmax(a) + b * 0.2);
      case 10:
        return D(take_along_axis(a, argsort(b, {.axis = 1}), 1));
      default:
        return broadcast_to(D(mean(a, {.axis = 1, .keepdims = true})), a.shape());
    }
  }
  // Loops, branches and transforms; the shape of a. Their functions are drawn once a seed.
  D flow(const D& a, const D& r, int depth) {
    const unsigned seed = static_cast<unsigned>(random_());
    const int turns = 3 + static_cast<int>(below(2)) * 31;
    const auto part = [=](const D& u, const D& v) {
      Generator inner(seed);
      const D first = inner.map(u, u, v);
      return depth > 1 && inner.below(4) == 0 ? inner.flow(first, v, depth - 2)
                                              : inner.map(first, u, inner.reduce(first));
    };
    switch (below(11)) {
      case 0:  // a scan over no rows
        return lax::scan(
                   [&](const D& c) {
                     return std::pair{D(tanh(part(c, r))), none};
                   },
                   a, none, {.length = turns})
            .first;
      case 1: {  // over rows, either way, with results
        const D xs = sin(arange<double>(static_cast<double>(turns)));
        const auto [last, ys] = lax::scan(
            [&](const D& c, const D& x) {
              const D next = tanh(part(c, r) + x);
              return std::pair{next, D(next(0) * x)};
            },
            a, xs, {.reverse = below(2) == 1});
        return D(last + mean(ys, {.axis = 0}));
      }
      case 2:  // over the rows of the operand
        return lax::scan(
                   [&](const D& c, const D& x) {
                     const D next = tanh(part(expand_dims(x, 0), c))(0);
                     return std::pair{next, D(next + x)};
                   },
                   r, a)
            .second;
      case 3:  // a map
        return lax::map([&](const D& x) { return D(part(expand_dims(x, 0), r)(0)); }, a);
      case 4:
        return lax::fori_loop(
            0, turns,
            [&](const Array<int>& i, const D& c) { return D(tanh(part(c, r)) * cos(i.astype<double>())); },
            a);
      case 5: {  // whose end depends on numbers
        using State = std::pair<Array<int>, D>;
        return lax::while_loop(
                   [&](const State& s) { return logical_and(s.first < turns, sum(s.second) < 9.0); },
                   [&](const State& s) {
                     return State{s.first + 1, D(tanh(part(s.second, r)) + 0.1)};
                   },
                   State{Array<int>(0), stop_gradient(a)})
            .second;
      }
      case 6:
        return stop_gradient(lax::cond(
            sum(a) > 0.0, [&](const D& v) { return part(v, r); }, [](const D& v) { return D(v * 0.5); },
            stop_gradient(a)));
      case 7:
        return vmap([&](const D& x) { return D(part(expand_dims(x, 0), r)(0)); })(a);
      case 8:
        return D(tanh(grad([&](const D& u) { return sum(part(u, r)); })(a)));
      case 9:
        return D(tanh(vmap(grad([&](const D& x) { return sum(part(expand_dims(x, 0), r)); }))(a)));
      default:  // a loop of each example
        return vmap([&](const D& x) {
          return lax::scan(
                     [&](const D& c) {
                       return std::pair{D(tanh(part(expand_dims(c, 0), r))(0)), none};
                     },
                     x, none, {.length = turns})
              .first;
        })(a);
    }
  }

  std::mt19937 random_;
};

void expect_equal(const D& a, const D& b, unsigned seed, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what << " of program " << seed;
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    ASSERT_NEAR(x[i], y[i], 1e-9 * (1 + std::abs(y[i]))) << what << " of program " << seed;
  }
}

TEST(Property, JitGivesEqualValuesAndGradients) {
  const unsigned first = static_cast<unsigned>(setting("NAX_RANDOM_SEED", 1));
  const unsigned count = static_cast<unsigned>(setting("NAX_RANDOM_PROGRAMS", 300));
  int recorded = 0;
  for (unsigned seed = first; seed < first + count && !HasFatalFailure(); ++seed) {
    int calls = 0;
    const auto f = [&](const D& x, const D& row) {
      ++calls;
      return Generator(seed).run(x, row, 4 + static_cast<int>(seed % 5), static_cast<int>(seed % 3));
    };
    const auto slope = [&](const D& x, const D& row) { return grad<0, 1>(f)(x, row); };
    const auto fast = jit(f);
    const auto fast_slope = jit(slope);
    const std::int64_t n = 2 + seed % 4, rows = 2 + seed / 4 % 4;
    for (int call = 0; call < 2; ++call) {
      const auto key = random::fold_in(random::key(static_cast<int>(seed)), call);
      const D x = random::normal<double>(key, {rows, n}),
              row = random::normal<double>(random::fold_in(key, 9), {n});
      const int before = calls;
      const D got = fast(x, row);
      if (call == 1 && calls == before) ++recorded;
      expect_equal(got, f(x, row), seed, "the value");
      const auto [a, b] = fast_slope(x, row);
      const auto [c, d] = slope(x, row);
      expect_equal(a, c, seed, "the gradient");
      expect_equal(b, d, seed, "the row's gradient");
    }
  }
  // Few programs are called as they are.
  EXPECT_GE(recorded, static_cast<int>(count) * 9 / 10);
}

}  // namespace property_test
