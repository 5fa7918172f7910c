#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "fuses.hpp"

// Arrays that are made of pieces: cotangents of slices, and joins of what maps give.
namespace pieces_test {
using namespace nax;
using D = Array<double>;

bool has(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }
void expect_near(const D& a, const D& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-12 * (1 + std::abs(y[i]))) << i;
}
D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }

TEST(JoinPieces, CotangentsOfSlicesThatCoverAnArray) {
  const auto f = [](const D& x) {
    const D a = x(ellipsis, slice(0, 20)), b = x(ellipsis, slice(20, 40)), c = x(ellipsis, slice(40, 60));
    return sum(tanh(a) * sin(b) + square(c));
  };
  const auto slope = [&](const D& x) { return grad(f)(x); };
  const D x = draw(1, {4, 60});
  const std::string text = make_program(slope)(x).text();
  EXPECT_FALSE(has(text, "scatter_add")) << text;
  if (fuses()) {
    EXPECT_FALSE(has(text, "zeros")) << text;
    EXPECT_FALSE(has(text, "copy")) << text;
    EXPECT_FALSE(has(text, " = add(")) << text;
  }
  expect_near(jit(slope)(x), slope(x));
}

TEST(JoinPieces, ZerosStayWhereNoPieceLies) {
  const auto f = [](const D& x) {
    return sum(sin(D(x(slice(0, 3)))) * cos(D(x(slice(5, 8)))) + D(x(slice(0, 6, 2))));
  };
  const auto slope = [&](const D& x) { return grad(f)(x); };
  const D x = draw(2, {9, 20});
  const std::string text = make_program(slope)(x).text();
  EXPECT_TRUE(has(text, "zeros")) << text;
  expect_near(jit(slope)(x), slope(x));
}

TEST(JoinPieces, PiecesThatOverlapAreAdded) {
  const auto f = [](const D& x) { return sum(sin(D(x(slice(1, none)))) * tanh(D(x(slice(none, -1))))); };
  const auto slope = [&](const D& x) { return grad(f)(x); };
  for (const Shape& shape : {Shape{2, 30}, Shape{7, 20}, Shape{40}})
    expect_near(jit(slope)(draw(3, shape)), slope(draw(3, shape)));
}

TEST(WritePieces, JoinsAreNotStoredApart) {
  const auto f = [](const D& x, const D& y) {
    return concatenate(std::vector{D(tanh(x) * y), D(sin(y)), D(x * 2.0)}, {.axis = 1});
  };
  const D x = draw(4, {5, 32}), y = draw(5, {5, 32});
  const std::string text = make_program(f)(x, y).text();
  if (fuses()) {
    EXPECT_FALSE(has(text, "copy")) << text;
  }
  expect_near(jit(f)(x, y), f(x, y));
  const auto g = [](const D& a, const D& b) { return stack(std::vector{D(exp(a)), D(a - b), D(exp(b))}); };
  const std::string stacked = make_program(g)(x, y).text();
  if (fuses()) {
    EXPECT_FALSE(has(stacked, "copy")) << stacked;
  }
  expect_near(jit(g)(x, y), g(x, y));
}

// Parts of a join may be results, and the join may be read before it is changed.
TEST(WritePieces, KeepWhatOthersRead) {
  const auto f = [](const D& x, const D& y) {
    const D a = tanh(x), joined = concatenate(std::vector{a, D(sin(y))}), set = joined.at(slice(0, 5)).set(y);
    return std::tuple(joined, set, D(cumsum(a, {.axis = 0})));
  };
  const D x = draw(6, {5, 24}), y = draw(7, {5, 24});
  const auto fast = jit(f)(x, y), plain = f(x, y);
  expect_near(std::get<0>(fast), std::get<0>(plain));
  expect_near(std::get<1>(fast), std::get<1>(plain));
  expect_near(std::get<2>(fast), std::get<2>(plain));
}

// The five cotangents of the slices are views of one padded array.
TEST(PadPieces, GradientsOfStencilsAreTwoMaps) {
  const auto inner = slice(1, -1), before = slice(0, -2), after = slice(2, none);
  const auto f = [&](const D& x) {
    return sum(tanh(x(before, inner) + x(after, inner) + x(inner, before) + x(inner, after) -
                    4.0 * x(inner, inner)));
  };
  const auto slope = [&](const D& x) { return grad(f)(x); };
  const auto both = [&](const D& x) { return value_and_grad(f)(x); };
  const D x = draw(15, {20, 40});
  const std::string text = make_program(slope)(x).text();
  if (fuses()) {
    EXPECT_FALSE(has(text, "zeros")) << text;
    EXPECT_TRUE(has(text, "[2,42] = copy(0)")) << text;
    EXPECT_FALSE(has(text, " = add(")) << text;
  }
  for (const Shape& shape : {Shape{20, 40}, Shape{3, 3}, Shape{3, 50}, Shape{70, 4}}) {
    const D a = draw(16, shape);
    expect_near(jit(slope)(a), slope(a));
    expect_near(std::get<1>(jit(both)(a)), slope(a));
  }
}

TEST(PadPieces, FactorsOfSeveralMapsAreFollowed) {
  const auto f = [](const D& x) {
    const double taps[] = {1, -4, 6, -4, 1};
    D sums = taps[0] * x(slice(0, 26));
    for (int i = 1; i < 5; ++i) sums = sums + taps[i] * x(slice(i, 26 + i));
    return sum(square(sums));
  };
  const auto slope = [&](const D& x) { return grad(f)(x); };
  const D x = draw(17, {30, 20});
  const std::string text = make_program(slope)(x).text();
  if (fuses()) {
    EXPECT_FALSE(has(text, "zeros")) << text;
  }
  expect_near(jit(slope)(x), slope(x));
}

// Distant rows would need an array far larger than theirs; a sum is read by more than maps; infinite factors
// leave no zeros.
TEST(PadPieces, LeavesOtherPieces) {
  const auto distant = [](const D& x) { return sum(sin(x(0) - x(9)) + x(4)); };
  const auto read_apart = [](const D& x) {
    return sum(cumsum(D(x(slice(1, none)) - x(slice(0, -1))), {.axis = 0}));
  };
  const auto infinite = [](const D& x) {
    return sum(D(x(slice(1, none)) * std::numeric_limits<double>::infinity()) - x(slice(0, -1)));
  };
  const D x = draw(18, {10, 24});
  const auto expect_equal = [&](const auto& f) {
    const auto slope = [&](const D& a) { return grad(f)(a); };
    const D fast = jit(slope)(x), plain = slope(x);
    EXPECT_TRUE(array_equal(fast, plain, {.equal_nan = true}));
  };
  expect_equal(distant);
  expect_equal(read_apart);
  expect_equal(infinite);
}

// A joined array is not made where each result of its maps is read part by part.
TEST(SplitMaps, GradientsOfJoinsReadTheParts) {
  const D x = draw(11, {4, 30}), w = draw(12, {4, 30});
  const auto joins = [&](const D& v) { return sum(square(concatenate(std::vector{v, w, v}))); };
  const auto stacks = [&](const D& v) { return sum(tanh(stack(std::vector{w, v}))); };
  const auto parts_of_joins = [&](const D& v) {
    const D joined = concatenate(std::vector{v, w}), t = sin(joined), u = t * exp(joined);
    return std::pair{D(u(slice(4, 6))), D(u(slice(1, 3)))};
  };
  const auto slope = [&](const D& v) { return grad(joins)(v); };
  const auto stacked = [&](const D& v) { return grad(stacks)(v); };
  if (fuses()) {
    for (const std::string& text : {make_program(slope)(x).text(), make_program(stacked)(x).text(),
                                    make_program(parts_of_joins)(x).text()})
      EXPECT_FALSE(has(text, "copy")) << text;
  }
  expect_near(jit(slope)(x), slope(x));
  expect_near(jit(stacked)(x), stacked(x));
  const auto fast = jit(parts_of_joins)(x), plain = parts_of_joins(x);
  expect_near(fast.first, plain.first);
  expect_near(fast.second, plain.second);
}

// Here a part is read across the cut, a whole is a result, and a row is repeated.
TEST(SplitMaps, KeepsWhatIsReadWhole) {
  const D x = draw(13, {3, 20}), w = draw(14, {3, 20});
  const auto f = [&](const D& v) {
    const D joined = concatenate(std::vector{v, w}), a = tanh(joined), b = sin(joined), c = joined * v(0);
    return std::tuple(D(a(slice(2, 4))), b, D(c(slice(0, 3))), D((a * exp(b(0, 0)))(slice(2, none, -1))));
  };
  const auto fast = jit(f)(x), plain = f(x);
  expect_near(std::get<0>(fast), std::get<0>(plain));
  expect_near(std::get<1>(fast), std::get<1>(plain));
  expect_near(std::get<2>(fast), std::get<2>(plain));
  expect_near(std::get<3>(fast), std::get<3>(plain));
}

TEST(SplitMaps, PaddedArraysAndJoinsOfColumnsHaveBoxes) {
  const D x = draw(19, {6, 30}), w = draw(20, {6, 20});
  const auto pads = [](const D& v) { return sum(square(pad(v, {{1, 2}, {3, 4}}))); };
  const auto joins = [&](const D& v) {
    return sum(tanh(concatenate(std::vector{v, w, D(v * 2.0)}, {.axis = 1})));
  };
  const auto slope = [&](const D& v) { return grad(pads)(v); };
  const auto joined = [&](const D& v) { return grad(joins)(v); };
  if (fuses()) {
    for (const std::string& text : {make_program(slope)(x).text(), make_program(joined)(x).text()})
      EXPECT_FALSE(has(text, "copy")) << text;
  }
  expect_near(jit(slope)(x), slope(x));
  expect_near(jit(joined)(x), joined(x));
  // Parts that are read otherwise: reversed, every other row, by a product, turned.
  const auto parts = [&](const D& v) {
    const D mapped = sin(concatenate(std::vector{v, w}, {.axis = 1}));
    const D a = mapped(ellipsis, slice(0, 30)), b = mapped(ellipsis, slice(30, none));
    return std::tuple(D(a(slice(none, none, -1)) * 2.0), D(b(slice(0, none, 2))), matmul(a, D(v.T())),
                      D(b.T() + 1.0), D(mapped(2, slice(3, 20))));
  };
  const auto fast = jit(parts)(x), plain = parts(x);
  expect_near(std::get<0>(fast), std::get<0>(plain));
  expect_near(std::get<1>(fast), std::get<1>(plain));
  expect_near(std::get<2>(fast), std::get<2>(plain));
  expect_near(std::get<3>(fast), std::get<3>(plain));
  expect_near(std::get<4>(fast), std::get<4>(plain));
}

TEST(ForwardCopies, CotangentsOfSumsAreOneArray) {
  const auto f = [](const D& x, const D& y, const D& z) { return sum(sin(D(D(x + y) + z))); };
  const auto slope = [&](const D& x, const D& y, const D& z) { return grad<0, 1, 2>(f)(x, y, z); };
  const D x = draw(8, {6, 6}), y = draw(9, {6, 6}), z = draw(10, {6, 6});
  const auto fast = jit(slope)(x, y, z), plain = slope(x, y, z);
  expect_near(std::get<0>(fast), std::get<0>(plain));
  expect_near(std::get<2>(fast), std::get<2>(plain));
  const auto inner = [](const D& a, const D& w) {
    return grad([&](const D& v) { return sum(sin(D(matmul(a, v) + D(tanh(v) + w)))); })(w);
  };
  const std::string text = make_program(inner)(x, y).text();
  EXPECT_FALSE(has(text, "copy")) << text;
  expect_near(jit(inner)(x, y), inner(x, y));
}

}  // namespace pieces_test
