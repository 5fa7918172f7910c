#include <gtest/gtest.h>

#include <functional>
#include <nax/nax.hpp>
#include <vector>

#include "equal_programs.hpp"

// Indices that choose from maps of joined arrays: a pass that splits these must leave what indices may name
// in one array.
namespace gathers_test {
using namespace nax;
using D = Array<double>;
using I = Array<int>;
using program_tests::expect_equal;

// Arrays of (4, 3) or (2, 2, 3), joined of x of (2, 3).
D joined(int form, const D& x) {
  switch (form) {
    case 0:
      return concatenate(std::vector{x, D(x * 2.0)});
    case 1:
      return concatenate(std::vector{D(x(slice(0, 1))), D(tanh(x)), D(x(slice(1, 2)) * 0.5)});
    case 2:
      return roll(concatenate(std::vector{x, D(x + 1.0)}), 3);
    case 3:
      return roll(concatenate(std::vector{x, D(x + 1.0)}), 1, {.axis = 0});
    case 4:
      return pad(x, {{1, 1}, {0, 0}});
    case 5:
      return concatenate(std::vector{x, D(x * 3.0)}).at(1).set(D(x(0) * 7.0));
    default:
      return reshape(stack(std::vector{x, D(x - 1.0)}), {4, 3});
  }
}
constexpr int joins = 7;

D chosen(int form, const D& c) {
  switch (form) {
    case 0:
      return c(I{3, 0, 2});
    case 1:
      return take(c, I{11, 0, 7, 7});
    case 2:
      return take_along_axis(c, I{{2, 0, 1}, {0, 0, 0}, {1, 2, 2}, {2, 1, 0}}, 1);
    case 3:
      return take_along_axis(c, I{{3, 0, 1}}, 0);
    case 4:
      return c(I{3, 1}, I{0, 2});
    case 5:
      return c(ellipsis, I{2, 0});
    case 6: {
      D sum = D(c(0) * 0.0);
      for (int k = 0; k < 4; ++k) sum = D(sum * 0.5 + c(k) * c((k + 1) % 4));
      return sum;
    }
    case 7:
      return take(c, I{-1, 1}, {.axis = 0});
    case 8:
      return c.at(I{2, 0}).add(1.5);
    case 9:
      return c.at(I{3, 3}, I{0, 1}).set(D{4.0, 5.0});
    case 10:
      return flip(c, {.axis = 0})(I{3, 1});
    default:
      return c(slice(1, none), I{1, 1});
  }
}
constexpr int choices = 12;

TEST(Gathers, OfMapsOfJoinedArraysAreEqualWithJit) {
  for (int join = 0; join < joins; ++join)
    for (int choice = 0; choice < choices; ++choice)
      for (const bool maps : {true, false}) {
        const unsigned name = static_cast<unsigned>(100 * join + 2 * choice + maps);
        const auto f = [=](const D& x) {
          const D c = joined(join, x);
          return chosen(choice, maps ? D(tanh(c)) : c);
        };
        const auto slope = grad([=](const D& x) { return D(sum(square(f(x)))); });
        const D x = {{1, 2, 3}, {0.5, -1, 4}};
        expect_equal(jit(f)(x), f(x), name);
        expect_equal(jit(slope)(x), slope(x), name);
        const auto batched = vmap(f);
        const D xs = stack(std::vector{x, D(x * 0.3)});
        expect_equal(jit(batched)(xs), batched(xs), name);
      }
}

// Passes end with arrays of one element, where a part is the whole.
TEST(Gathers, OfOneElementAreEqualWithJit) {
  const std::vector<std::function<D(const D&)>> functions = {
      [](const D& x) { return nn::softmax(D(D(x.at(0).set(1.)) * x)); },
      [](const D& x) {
        return D(sum(tanh(D(pad(x, {{0, 0}}))), {.axis = 0}));
      },
      [](const D& x) {
        const D m = pad(reshape(x, {1, 1}), {{0, 0}, {0, 0}});
        return D(matmul(D(tanh(m)), D{{.7}}));
      },
      [](const D& x) {
        const D m = concatenate(std::vector{reshape(x, {1, 1})});
        return einsum("ij,jk->ik", D(tanh(m)), D{{.7}});
      },
      [](const D& x) { return D(tanh(D(stack(std::vector{x}) * x(0)))); },
      [](const D& x) { return D(exp(D(roll(x, 1))) * roll(x, 1)(0)); },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto& f = functions[i];
    const D x = {.3};
    expect_equal(jit(f)(x), f(x), static_cast<unsigned>(i));
    const auto slope = grad([&](const D& y) { return D(sum(square(f(y)))); });
    expect_equal(jit(slope)(x), slope(x), static_cast<unsigned>(i));
  }
}

// A map reads the joined array, and one element of it or of another result for all.
TEST(Gathers, OfSingleElementsForAllAreEqualWithJit) {
  const auto f = [](const D& x) {
    const D c = concatenate(std::vector{x, D(x * 2.0)});
    const D t = tanh(c), u = D(t * c(0, 1)), v = D(exp(u) - u(3, 2) + t(1, 1));
    return std::pair{D(v(slice(0, 2))), D(v(slice(2, 4)))};
  };
  const D x = {{1, 2, 3}, {0.5, -1, 4}};
  const auto [a, b] = jit(f)(x);
  const auto [c, d] = f(x);
  expect_equal(a, c, 0);
  expect_equal(b, d, 1);
  const auto padded = [](const D& x) {
    const D t = tanh(D(pad(x, {{1, 0}, {0, 0}}, {.constant_values = 0.25})));
    return D(t * t(0, 1))(slice(1, none));
  };
  expect_equal(jit(padded)(x), padded(x), 2);
}

}  // namespace gathers_test
