#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <nax/nax.hpp>
#include <random>
#include <string>
#include <vector>

#include "settings.hpp"

// Derivatives of orders 2 to 4 of random expressions of several arrays, with masks whose elements are no
// unbroken run, of arguments of which some are mapped files: equal with jit and without, and one by one as
// under vmap. NAX_RANDOM_PROGRAMS and NAX_RANDOM_SEED as for property_test.
namespace random_orders_test {
using namespace nax;
using D = Array<double>;
using B = Array<bool>;

// Values and their derivatives stay within a few units.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }

  // Truth values (rows, columns), transposed, sliced, flipped, broadcast or as they are.
  B mask(std::int64_t rows, std::int64_t columns) {
    const auto drawn = [&](std::int64_t r, std::int64_t c) {
      std::vector<int> bits;
      for (std::int64_t i = 0; i < r * c; ++i) bits.push_back(static_cast<int>(below(2)));
      return B(array(bits).reshape({r, c}) > 0);
    };
    switch (below(7)) {
      case 0:
        return drawn(columns, rows).T();
      case 1:
        return drawn(rows + 2, columns + 3)(slice(1, 1 + rows), slice(2, 2 + columns));
      case 2:
        return drawn(2 * rows, 3 * columns)(slice(none, none, 2), slice(none, none, 3));
      case 3:
        return flip(drawn(rows, columns), {.axis = static_cast<int>(below(2))});
      case 4:
        return broadcast_to(B(drawn(1, columns)(0)), {rows, columns});
      case 5:
        return broadcast_to(drawn(rows, 1), {rows, columns});
      default:
        return drawn(rows, columns);
    }
  }
  // An expression of x (rows, columns), a row and a mask; some of its parts are arrays.
  D run(const D& x, const D& row, const B& own) {
    const B masks[] = {own, mask(x.shape(0), x.shape(1))};
    std::vector<D> made = {x, D(x + row)};
    for (std::size_t i = 0, steps = 2 + below(6); i < steps; ++i) {
      const D a = made[below(made.size())], b = made.back();
      const B& m = masks[below(2)];
      switch (below(10)) {
        case 0:
          made.push_back(D(sin(a) * cos(b) * 0.8));
          break;
        case 1:
          made.push_back(D(where(m, a * a * 0.3, sin(b))));
          break;
        case 2:
          made.push_back(D(tanh(a + row) - where(m, b, 0.5) * 0.4));
          break;
        case 3:
          made.push_back(D(exp(tanh(a) * 0.5) * log1p(square(b)) * sqrt(square(a) + 1.0) * 0.3));
          break;
        case 4:
          made.push_back(D(a / (square(b) + 1.5)));
          break;
        case 5:
          made.push_back(D(sum(a * sin(b), {.axis = 0}) * 0.2 + row));
          made.back() = D(where(m, made.back(), tanh(a)));
          break;
        case 6:
          made.push_back(D(a - mean(square(b), {.axis = 1, .keepdims = true}) * 0.2));
          break;
        case 7:
          made.push_back(D(tanh(matmul(a, D(b.T())))(_, slice(0, 1)) + where(m, a, b) * 0.3));
          break;
        case 8:
          made.push_back(D(where(m, cos(a), a) * where(logical_not(m), b, sin(b))));
          break;
        default:
          made.push_back(D(flip(tanh(a), {.axis = 0}) * b * 0.5));
      }
    }
    return D(sum(tanh(made.back())) + sum(sin(made[made.size() / 2])) * 0.1);
  }

 private:
  std::mt19937 random_;
};

// Derivatives one by one: forward or reverse mode, chosen by the bits of `modes`, of a function of x.
template <int order, class F>
D derivative(const F& f, const D& x, unsigned modes) {
  if constexpr (order == 0) {
    return f(x);
  } else {
    const auto inner = [&](const D& x) { return derivative<order - 1>(f, x, modes / 2); };
    if (modes % 2) return D(sum(cos(x) * grad([&](const D& x) { return D(sum(inner(x))); })(x)));
    return jvp([&](const D& x) { return D(sum(inner(x))); }, std::tuple{x}, std::tuple{D(sin(x + 1.0))})
        .second;
  }
}
D of_order(unsigned seed, const D& x, const D& row, const B& own) {
  const auto f = [&](const D& x) { return Generator(seed).run(x, row, own); };
  switch (seed % 3) {
    case 0:
      return derivative<2>(f, x, seed / 3 % 4);
    case 1:
      return derivative<3>(f, x, seed / 3 % 8);
    default:
      return derivative<4>(f, x, seed / 3 % 16);
  }
}

void expect_equal(const D& a, const D& b, unsigned seed, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what << " of program " << seed;
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], 1e-7 * (1 + std::abs(y[i]))) << what << " of program " << seed;
}

void expect_equal_ways(unsigned seed, const std::string& path) {
  Generator random(seed + 1);
  const std::int64_t extents[] = {1, 2, 3, 5, 9, 33};
  const std::int64_t rows = extents[random.below(6)], columns = extents[random.below(5)];
  const B own = random.mask(rows, columns);
  const auto f = [=](const D& x, const D& row, const B& own) { return of_order(seed, x, row, own); };
  const auto captured = [=](const D& x, const D& row) { return of_order(seed, x, row, own); };
  const auto fast = jit(f);
  const auto fast_captured = jit(captured);
  for (int call = 0; call < 2; ++call) {
    const auto key = random::fold_in(random::key(static_cast<int>(seed)), call);
    D x = random::normal<double>(key, {rows, columns}),
      row = random::normal<double>(random::fold_in(key, 9), {columns});
    const D want = f(x, row, own);
    if (seed % 2) {
      std::map<std::string, D> tree{{"row", row}, {"x", x}};
      io::save_safetensors(path, tree);
      io::load_safetensors(path, tree);
      x = tree.at("x"), row = tree.at("row");
    }
    expect_equal(fast(x, row, own), want, seed, "the mask as an argument");
    expect_equal(fast_captured(x, row), want, seed, "the captured mask");
    if (call == 1 && seed % 4 == 0) {
      const D both = stack(std::vector<D>{x, D(x * 0.5)});
      const B masks = stack(std::vector<B>{own, logical_not(own)}, {.axis = 2});
      const auto mapped = vmap(f, {.in_axes = {0, none, 2}});
      const D expected = stack(std::vector<D>{want, f(D(x * 0.5), row, logical_not(own))});
      expect_equal(mapped(both, row, masks), expected, seed, "vmap");
      expect_equal(jit(mapped)(both, row, masks), expected, seed, "jit of vmap");
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(RandomOrders, AreEqualInAllWays) {
  const unsigned first = static_cast<unsigned>(program_tests::setting("NAX_RANDOM_SEED", 1));
  const unsigned count = static_cast<unsigned>(program_tests::setting("NAX_RANDOM_PROGRAMS", 300)) / 10;
  const std::string path = testing::TempDir() + "nax_orders_" + std::to_string(::getpid()) + ".safetensors";
  for (unsigned seed = first; seed < first + count && !HasFatalFailure(); ++seed)
    expect_equal_ways(seed, path);
  std::remove(path.c_str());
}

}  // namespace random_orders_test
