#include "nax/tree/map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "nax/core/error.hpp"

namespace map_test {

namespace tree = nax::tree;

struct Point {
  double x, y;
};
struct Segment {
  Point from, to;
  int label = 0;
};
struct Everything {
  std::vector<Segment> segments;
  std::map<std::string, double> named;
  std::optional<float> maybe;
  std::array<float, 2> pair_of = {1, 2};
  std::tuple<double, std::pair<int, double>> mixed;
  std::monostate nothing;
};
class Hidden {
 public:
  Hidden(double a, double b) : a_(a), b_(b) {}
  double sum() const { return a_ + b_; }

 private:
  double a_, b_;
  friend auto tree_fields(Hidden& self) { return std::tie(self.a_, self.b_); }
};

Everything example() {
  return {{{{1, 2}, {3, 4}, 5}, {{6, 7}, {8, 9}, 10}},
          {{"u", 11}, {"v", 12}},
          13.f,
          {14, 15},
          {16, {17, 18}},
          {}};
}

const auto twice = [](auto x) { return 2 * x; };

TEST(TreeMap, AStructKeepsItsType) {
  const Everything e = tree::map(twice, example());
  EXPECT_EQ(e.segments[1].to.y, 18);
  EXPECT_EQ(e.segments[1].label, 20);
  EXPECT_EQ(e.named.at("v"), 24);
  EXPECT_EQ(e.maybe, 26.f);
  EXPECT_EQ(e.pair_of[1], 30);
  EXPECT_EQ(std::get<1>(e.mixed).first, 34);
}

TEST(TreeMap, ANumberInAStructKeepsItsType) {
  const Segment s = tree::map([](auto x) { return 0.5 * x; }, Segment{{1, 2}, {3, 4}, 5});
  EXPECT_EQ(s.from.x, 0.5);
  EXPECT_EQ(s.label, 2);
}

TEST(TreeMap, TuplesAndContainersTakeTheResultsType) {
  const auto halves = [](auto x) { return x / 2.0; };
  static_assert(std::is_same_v<decltype(tree::map(halves, std::vector<int>{})), std::vector<double>>);
  static_assert(
      std::is_same_v<decltype(tree::map(halves, std::tuple<int, float>{})), std::tuple<double, double>>);
  static_assert(
      std::is_same_v<decltype(tree::map(halves, std::pair<int, float>{})), std::pair<double, double>>);
  static_assert(std::is_same_v<decltype(tree::map(halves, std::array<int, 3>{})), std::array<double, 3>>);
  static_assert(std::is_same_v<decltype(tree::map(halves, std::optional<int>{})), std::optional<double>>);
  static_assert(std::is_same_v<decltype(tree::map(halves, std::map<std::string, int>{})),
                               std::map<std::string, double>>);
  static_assert(std::is_same_v<decltype(tree::map(halves, std::vector<Segment>{})), std::vector<Segment>>);
  EXPECT_EQ(tree::map(halves, std::vector{1, 2, 3}), (std::vector{0.5, 1.0, 1.5}));
  EXPECT_EQ(tree::map(halves, std::tuple{1, std::vector{3}}), (std::tuple{0.5, std::vector{1.5}}));
  EXPECT_EQ(tree::map(halves, 3), 1.5);
}

TEST(TreeMap, SeveralTreesGoInLockStep) {
  const auto minus = [](auto a, auto b) { return a - b; };
  const Everything zero = tree::map(minus, example(), example());
  EXPECT_EQ(zero.segments.size(), 2u);
  EXPECT_EQ(zero.segments[0].from.y, 0);
  EXPECT_EQ(zero.maybe, 0.f);
  const Hidden h = tree::map(minus, Hidden{5, 7}, Hidden{1, 2});
  EXPECT_EQ(h.sum(), 9);
}

TEST(TreeMap, EmptyTreesAreFine) {
  EXPECT_TRUE(tree::map(twice, std::vector<Segment>{}).empty());
  EXPECT_EQ(tree::map(twice, std::tuple<>{}), std::tuple<>{});
  EXPECT_EQ(tree::map(twice, std::monostate{}), std::monostate{});
  const std::vector<std::optional<int>> none(1);
  EXPECT_FALSE(tree::map(twice, none)[0].has_value());
}

template <class... T>
std::string message(const T&... trees) {
  try {
    tree::map([](const auto& first, const auto&...) { return first; }, trees...);
  } catch (const nax::ValueError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TreeMap, DifferencesAreNamedWithTheirPlace) {
  Everything a = example(), b = example();
  EXPECT_EQ(message(a, b), "no error");
  b.segments.pop_back();
  EXPECT_EQ(message(a, b), "tree::map: the trees differ at .segments: 2 items against 1 (tree 1 and tree 2)");
  EXPECT_EQ(message(a, a, b),
            "tree::map: the trees differ at .segments: 2 items against 1 (tree 1 and tree 3)");
  b = example();
  b.named.erase("v");
  EXPECT_EQ(
      message(a, b),
      "tree::map: the trees differ at .named: no key 'v': {'u', 'v'} against {'u'} (tree 1 and tree 2)");
  EXPECT_EQ(message(b, a),
            "tree::map: the trees differ at .named: one more key 'v': {'u'} against {'u', 'v'} (tree 1 and "
            "tree 2)");
  b = example();
  b.maybe.reset();
  EXPECT_EQ(message(a, b), "tree::map: the trees differ at .maybe: a value against None (tree 1 and tree 2)");
  using Rows = std::vector<std::vector<int>>;
  EXPECT_EQ(message(Rows{{1}, {2}}, Rows{{1}, {2, 3}}),
            "tree::map: the trees differ at [1]: 1 items against 2 (tree 1 and tree 2)");
  EXPECT_EQ(message(Rows{}, Rows{{1}}),
            "tree::map: the trees differ at the root: 0 items against 1 (tree 1 and tree 2)");
}

TEST(TreeMap, PathsAreFieldNamesIndicesAndKeys) {
  std::string paths;
  const auto note = [&paths](const std::string& path, auto x) {
    paths += path + ' ';
    return x;
  };
  tree::map_with_path(note, example());
  EXPECT_EQ(paths,
            ".segments[0].from.x .segments[0].from.y .segments[0].to.x .segments[0].to.y .segments[0].label "
            ".segments[1].from.x .segments[1].from.y .segments[1].to.x .segments[1].to.y .segments[1].label "
            ".named['u'] .named['v'] .maybe .pair_of[0] .pair_of[1] .mixed[0] .mixed[1][0] .mixed[1][1] ");
  paths.clear();
  tree::map_with_path(note, std::tuple{1, Hidden{2, 3}, std::map<int, double>{{7, 4}}});
  EXPECT_EQ(paths, "[0] [1].Hidden[0] [1].Hidden[1] [2][7] ");
  paths.clear();
  tree::map_with_path(note, 1);
  EXPECT_EQ(paths, " ");
}

TEST(TreeForEach, GivesReferences) {
  Everything e = example();
  const Everything& other = e;
  tree::for_each([](auto& x, const auto& y) { x += y; }, e, other);
  EXPECT_EQ(e.segments[0].to.x, 6);
  EXPECT_EQ(*e.maybe, 26);
  Hidden h{1, 2};
  tree::for_each([](double& x) { x = 4; }, h);
  EXPECT_EQ(h.sum(), 8);
}

}  // namespace map_test
