#include "nax/tree/flatten.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "nax/tree/reduce.hpp"

namespace flatten_test {

namespace tree = nax::tree;

struct Layer {
  double w, b;
};
struct Model {
  std::vector<Layer> layers;
  std::map<std::string, double> scale;
  std::optional<double> temperature;
};
struct Trainer {
  Model model;
  int step = 0;
};
struct Nothing {};

const Model model{{{1, 2}, {3, 4}}, {{"a", 5}}, {}};

TEST(TreeStructure, PrintsAndCompares) {
  EXPECT_EQ(tree::structure(model).to_string(), "{[{*, *}, {*, *}], {'a': *}, None}");
  EXPECT_EQ(tree::structure(model).leaf_count(), 5u);
  EXPECT_EQ(tree::structure(1.5).to_string(), "*");
  EXPECT_EQ(tree::structure(std::tuple{1, std::tuple{2.f}, std::tuple<>{}}).to_string(), "(*, (*,), ())");
  EXPECT_EQ(tree::structure(Nothing{}).to_string(), "{}");
  EXPECT_EQ(tree::structure(std::vector<int>{}).to_string(), "[]");
  Model other = model;
  EXPECT_EQ(tree::structure(model), tree::structure(other));
  other.layers.pop_back();
  EXPECT_NE(tree::structure(model), tree::structure(other));
  std::ostringstream out;
  out << tree::structure(std::pair{1, 2});
  EXPECT_EQ(out.str(), "(*, *)");
}

TEST(TreeFlatten, OneLeafTypeGivesAVectorOfIt) {
  auto [leaves, definition] = tree::flatten(model);
  static_assert(std::is_same_v<decltype(leaves), std::vector<double>>);
  EXPECT_EQ(leaves, (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(definition.structure(), tree::structure(model));
  leaves[3] = 40;
  const Model back = tree::unflatten(definition, leaves);
  EXPECT_EQ(back.layers[1].b, 40);
  EXPECT_EQ(back.scale.at("a"), 5);
  EXPECT_FALSE(back.temperature.has_value());
}

TEST(TreeFlatten, SeveralLeafTypesGiveAVariant) {
  const Trainer trainer{model, 17};
  const auto [leaves, definition] = tree::flatten(trainer);
  static_assert(std::is_same_v<tree::leaf_t<Trainer>, std::variant<double, int>>);
  ASSERT_EQ(leaves.size(), 6u);
  EXPECT_EQ(std::get<int>(leaves[5]), 17);
  EXPECT_EQ(tree::unflatten(definition, leaves).step, 17);
  auto swapped = leaves;
  std::swap(swapped[0], swapped[5]);
  EXPECT_THROW(tree::unflatten(definition, swapped), nax::TypeError);
}

TEST(TreeFlatten, TheNumberOfLeavesIsChecked) {
  const auto definition = tree::treedef(std::tuple{1.0, 2.0});
  try {
    tree::unflatten(definition, std::vector<double>{1});
    FAIL();
  } catch (const nax::ValueError& error) {
    EXPECT_STREQ(error.what(), "tree::unflatten: the number of leaves differs: 1 for 2 in (*, *)");
  }
}

TEST(TreeFlatten, EmptyTreesHaveNoLeaves) {
  EXPECT_TRUE(tree::leaves(Nothing{}).empty());
  EXPECT_TRUE(tree::leaves(std::tuple<>{}).empty());
  EXPECT_TRUE(tree::leaves(std::vector<Layer>{}).empty());
  const auto [leaves, definition] = tree::flatten(std::vector<Layer>{});
  EXPECT_TRUE(tree::unflatten(definition, leaves).empty());
}

TEST(TreeReduce, GoesThroughTheLeavesInOrder) {
  EXPECT_EQ(tree::reduce([](double a, double x) { return 10 * a + x; }, model, 0.0), 12345);
  EXPECT_EQ(tree::reduce([](auto a, auto x) { return a + x; }, std::tuple{1, 2.5}, 0), 3.5);
  EXPECT_EQ(tree::reduce([](auto a, auto x) { return a + x; }, std::vector{0.5, 2.0}, 0), 2.5);
  EXPECT_EQ(tree::reduce([](int a, auto) { return a + 1; }, Nothing{}, 7), 7);
}

TEST(Flatten, DefinitionsCompareWithStructures) {
  const std::pair<int, std::vector<double>> two = {1, {2, 3}}, three = {1, {2, 3, 4}};
  EXPECT_TRUE(tree::flatten(two).second == tree::structure(two));
  EXPECT_TRUE(tree::structure(two) == tree::flatten(two).second);
  EXPECT_FALSE(tree::flatten(two).second == tree::structure(three));
  EXPECT_TRUE(tree::flatten(two).second != tree::structure(three));
}

}  // namespace flatten_test
