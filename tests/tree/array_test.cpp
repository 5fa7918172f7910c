#include "nax/core/array.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "nax/expr/differentiation/fused_node.hpp"
#include "nax/expr/evaluation/evaluate.hpp"
#include "nax/expr/expressions/operators.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/tree/tree.hpp"

namespace array_test {

namespace tree = nax::tree;
using nax::Array;

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;
struct State {
  Params params;
  Array<int> count = 0;
  int step = 0;
  double rate = 0.5;
};
// Array has constructors from braces, numbers and expressions: none of them may confuse the count.
struct Wide {
  Array<float> a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w;
  Layer x;
};

Params params() { return {{{1, 2}, {3}}, {{4, 5}, {6}}}; }

float sum(const Array<float>& a) {
  float total = 0;
  for (float x : a.to_vector()) total += x;
  return total;
}

TEST(TreeOfArrays, FieldsAreCounted) {
  static_assert(tree::field_count_v<Layer> == 2 && tree::field_count_v<State> == 4);
  static_assert(tree::field_count_v<Wide> == 24);
  EXPECT_EQ(tree::leaves(Wide{}).size(), 25u);
}

TEST(TreeOfArrays, AStepOfDescentIsOneMap) {
  const Params p = params();
  const Params next = tree::map([](const auto& x, const auto& g) { return x - 0.5f * g; }, p, p);
  EXPECT_EQ(next[1].w.to_vector(), (std::vector<float>{2, 2.5}));
  EXPECT_EQ(next[0].b.to_vector(), (std::vector<float>{1.5}));
}

TEST(TreeOfArrays, NumbersInAStructAreLeavesThatStayNumbers) {
  const State s{params(), 3, 4, 0.25};
  const State t = tree::map([](const auto& x) { return x + x; }, s);
  EXPECT_EQ(t.params[0].w.to_vector(), (std::vector<float>{2, 4}));
  EXPECT_EQ(t.count.item(), 6);
  EXPECT_EQ(t.step, 8);
  EXPECT_EQ(t.rate, 0.5);
}

TEST(TreeOfArrays, ResultsMayBeOfAnotherType) {
  const auto sizes =
      tree::map([](const auto& x) { return x.size(); }, std::tuple{Array<float>{1, 2}, Array<int>{3}});
  EXPECT_EQ(std::get<0>(sizes), 2);
  EXPECT_EQ(std::get<1>(sizes), 1);
  const auto sums = tree::map([](const auto& x) { return sum(x); }, std::vector{Array<float>{1, 2}});
  EXPECT_EQ(sums, std::vector<float>{3});
}

TEST(TreeOfArrays, AnExpressionIsALeafAndBecomesAnArray) {
  const Array<float> x = {1, 2};
  const auto pair = tree::materialise(std::pair{x * 3.f, 7});
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(pair.first)>, Array<float>>);
  EXPECT_EQ(pair.first.to_vector(), (std::vector<float>{3, 6}));
  static_assert(std::is_same_v<tree::leaf_t<decltype(std::pair{x * 3.f, x})>, Array<float>>);
}

TEST(TreeOfArrays, FlattenedAndPutTogetherAgain) {
  const auto [leaves, definition] = tree::flatten(params());
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(leaves)>, std::vector<Array<float>>>);
  ASSERT_EQ(leaves.size(), 4u);
  EXPECT_EQ(definition.structure().to_string(), "[{*, *}, {*, *}]");
  EXPECT_EQ(tree::unflatten(definition, leaves)[1].w.to_vector(), (std::vector<float>{4, 5}));
  static_assert(std::is_same_v<tree::leaf_t<State>, std::variant<Array<float>, Array<int>, int, double>>);
}

TEST(TreeOfArrays, ASumMayStartFromANumber) {
  const auto total = tree::reduce([](const auto& a, const auto& x) { return a + x; },
                                  std::vector{Array<float>{1, 2}, Array<float>{3, 4}}, 10.f);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(total)>, Array<float>>);
  EXPECT_EQ(total.to_vector(), (std::vector<float>{14, 16}));
}

TEST(TreeOfArrays, ErrorsNameTheFunctionThatWalks) {
  try {
    tree::detail::map(
        "apply_updates", [](const auto& x, const auto&) { return x; }, params(), Params{});
    FAIL();
  } catch (const nax::ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "apply_updates: the trees differ at the root: 2 items against 0 (tree 1 and tree 2)");
  }
}

}  // namespace array_test
