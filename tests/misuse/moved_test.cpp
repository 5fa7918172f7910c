#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

// A moved-from array throws on every use; moving one into an expression copies the handle, so it may be named
// again.
namespace moved_test {

using nax::Array;
using nax::slice;

const char* const text =
    ": an array is used after it was moved from (or given away to a function that threw)";

// Moved-from arrays of several ranks: for six axes layouts lie on the heap.
Array<float> moved_from(const nax::Shape& shape, bool by_assignment) {
  Array<float> x = nax::ones(shape), y = nax::ones({1, 1, 1, 1, 1, 1});
  if (by_assignment)
    y = std::move(x);
  else
    const Array<float> taken = std::move(x);
  return x;  // NOLINT: a moved-from array may be passed on
}

#define REFUSES(function, ...)        \
  for (const Array<float>& x : moved) \
  EXPECT_EQ(refusal([&]() -> void { static_cast<void>((__VA_ARGS__)); }), std::string(function) + text)

struct Moved : ::testing::Test {
  std::vector<Array<float>> moved;
  Array<float> y = {1, 2, 3};
  Moved() {
    for (const nax::Shape& shape :
         {nax::Shape{}, nax::Shape{3}, nax::Shape{2, 3}, nax::Shape{1, 2, 1, 3, 1, 1}})
      for (const bool by_assignment : {false, true}) moved.push_back(moved_from(shape, by_assignment));
  }
};

TEST_F(Moved, IsNoOperand) {
  REFUSES("add", x + 1);
  REFUSES("add", 1 + x);
  REFUSES("multiply", y * x);
  REFUSES("exp", nax::exp(x));
  REFUSES("where", nax::where(y > 2, x, y));
  REFUSES("less", x < y);
  REFUSES("sum", nax::sum(x));
  REFUSES("mean", nax::mean(x));
  REFUSES("max", nax::max(x));
  REFUSES("argmax", nax::argmax(x));
  REFUSES("any", nax::any(x));
  REFUSES("prod", nax::prod(x));
  REFUSES("cumsum", nax::cumsum(x));
  REFUSES("sort", nax::sort(x));
  REFUSES("logsumexp", nax::logsumexp(x));
  REFUSES("matmul", nax::matmul(x, y));
  REFUSES("matmul", nax::matmul(y, x));
  REFUSES("multiply", nax::dot(y, x));
  REFUSES("einsum", nax::einsum("i,i->i", y, x));
  REFUSES("concatenate", nax::concatenate({y, x}));
  REFUSES("stack", nax::stack({x, y}));
  REFUSES("take", nax::take(x, 0));
  REFUSES("softmax", nax::nn::softmax(x));
}

TEST_F(Moved, IsNotReadNorIndexed) {
  REFUSES("array", x.item());
  REFUSES("array", static_cast<bool>(x));
  REFUSES("array", static_cast<float>(x));
  REFUSES("array", x.data());
  REFUSES("array", x.to_vector());
  REFUSES("array", (std::ostringstream() << x).str());
  REFUSES("array", nax::copy(x));
  REFUSES("index", x(0));
  REFUSES("index", x(slice(0, 1)));
  REFUSES("index", x(nax::newaxis));
  REFUSES("index", x(y > 1));
  REFUSES("at", x.at(0).set(1));
  REFUSES("iter", [&] {
    for (auto row : x) static_cast<void>(row);
  }());
}

TEST_F(Moved, HasNoViews) {
  REFUSES("transpose", x.T());
  REFUSES("transpose", nax::transpose(x));
  REFUSES("reshape", x.reshape({1}));
  REFUSES("ravel", nax::ravel(x));
  REFUSES("broadcast_to", nax::broadcast_to(x, {2}));
  REFUSES("flip", nax::flip(x));
  REFUSES("astype", x.astype<int>());
}

TEST_F(Moved, IsNotTransformed) {
  const auto square = [](const Array<float>& v) { return nax::sum(v * v); };
  const auto product = [](const Array<float>& v, const Array<float>& w) { return nax::sum(v * w); };
  REFUSES("grad", nax::grad(square)(x));
  REFUSES("grad", nax::vjp(square, x));
  REFUSES("grad", nax::jvp(square, std::tuple{x}, std::tuple{y}));
  REFUSES("vmap", nax::vmap(square)(x));
  REFUSES("vmap", nax::vmap(product, {.in_axes = {nax::none, 0}})(x, y));
  REFUSES("pmap", nax::pmap(square)(x));
  REFUSES("vmap", nax::vmap([&](const Array<float>&) { return x; })(y));
  REFUSES("grad", nax::grad([&](const Array<float>&) { return x; })(y));
}

TEST_F(Moved, MayBePassedOnAndAssignedTo) {
  for (Array<float>& x : moved) {
    const Array<float> copied = x, again = copied;
    EXPECT_EQ(refusal([&] { again + 1; }), std::string("add") + text);
    std::vector<Array<float>> list(3, x);
    list.push_back(y);
    x = y + 1;
    EXPECT_EQ(x.to_vector(), std::vector<float>({2, 3, 4}));
    x = std::move(list[3]);
    EXPECT_EQ(x.to_vector(), std::vector<float>({1, 2, 3}));
  }
  Array<float> x = {1, 2};
  Array<float>& same = x;
  x = std::move(same);
  EXPECT_EQ(x.to_vector(), std::vector<float>({1, 2}));
}

// Default-constructed arrays are not moved-from.
TEST(Empty, IsNotMovedFrom) {
  const Array<float> empty;
  EXPECT_EQ(nax::sum(empty).item(), 0);
  EXPECT_EQ(Array<float>(empty + 1).size(), 0);
  EXPECT_EQ(empty.reshape({0, 3}).shape(), nax::Shape({0, 3}));
  EXPECT_EQ((std::ostringstream() << empty).str(), "[]");
  EXPECT_EQ(nax::concatenate({empty, empty}).size(), 0);
}

TEST(Moving, IntoAnExpressionMovesNothing) {
  Array<float> z = {1, 2}, number = 3.f;
  z = std::move(z) + z;
  EXPECT_EQ(z.to_vector(), std::vector<float>({2, 4}));
  z = z - std::move(z) * std::move(z) + z;
  EXPECT_EQ(z.to_vector(), std::vector<float>({0, -8}));
  z = nax::exp(std::move(z)) * z;
  EXPECT_EQ(z(0).item(), 0);
  number = std::move(number) * number;
  EXPECT_EQ(number.item(), 9);
  z += std::move(z);
  EXPECT_EQ(z(0).item(), 0);
  const auto gradient = nax::grad([](Array<float> v) {
    v = std::move(v) * v;
    v = nax::sin(std::move(v)) + v;
    return nax::sum(v);
  })(Array<float>{0, 1});
  EXPECT_EQ(gradient(0).item(), 0);
  EXPECT_NEAR(gradient(1).item(), 2 * std::cos(1.) + 2, 1e-6);
}

TEST(Moving, AnExpressionTwiceIsRefused) {
  for (const Array<float>& x : {Array<float>(2.f), Array<float>{1, 2}}) {
    auto e = nax::exp(x);
    const auto first = std::move(e) + 1;
    EXPECT_EQ(first.shape(), x.shape());
    EXPECT_NE(refusal([&] { Array<float>(e + 1.f); }).find(text), std::string::npos);
  }
}

TEST(Moving, ToAFunctionThatThrowsIsNamed) {
  Array<float> x = {1, 2};
  const auto update = [](Array<float> v) -> Array<float> { return v + nax::ones({3}); };
  EXPECT_THROW(x = update(std::move(x)), nax::ShapeError);
  EXPECT_EQ(refusal([&] { x + 1; }), std::string("add") + text);
}

// Assignments compute in place if no other handle shares the elements.
TEST(Moving, IntoAnAssignmentComputesInPlace) {
  Array<float> z = nax::ones({100});
  const float* const before = z.data();
  z = nax::exp(std::move(z)) * z + 1;
  EXPECT_EQ(z.data(), before);
}

}  // namespace moved_test

#undef REFUSES
