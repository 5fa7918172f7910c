#include "nax/transform/vmap.hpp"

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "transforms/arrays.hpp"

namespace transforms::vmap_test {

const A m = {{1, 2, 3}, {4, 5, 6}};

TEST(Vmap, InAxes) {
  auto weighed = [](const A& x, const A& w) { return sum(x * w); };
  EXPECT_TRUE(matches(vmap(weighed)(m, m), A{14, 77}));
  EXPECT_TRUE(matches(vmap(weighed, {.in_axes = {0, none}})(m, A{1, 10, 100}), A{321, 654}));
  EXPECT_TRUE(matches(vmap(weighed, {.in_axes = {1, none}})(m, A{1, 10}), A{41, 52, 63}));
  EXPECT_TRUE(matches(vmap(weighed, {.in_axes = {-1, none}})(m, A{1, 10}), A{41, 52, 63}));
  EXPECT_TRUE(matches(vmap(weighed, {.in_axes = {-2, 1}})(m, A{{1, 0}, {0, 1}, {0, 0}}), A{1, 5}));
  EXPECT_TRUE(matches(vmap(weighed, {.in_axes = 1})(m, m), A{17, 29, 45}));
}

TEST(Vmap, OutAxes) {
  auto rows = [](const A& x) { return x * A{{1}, {10}}; };  // (3,) to (2, 3)
  EXPECT_EQ(to_string(vmap(rows)(ones<double>({5, 3})).shape()), "(5, 2, 3)");
  EXPECT_EQ(to_string(vmap(rows, {.out_axes = 1})(ones<double>({5, 3})).shape()), "(2, 5, 3)");
  EXPECT_EQ(to_string(vmap(rows, {.out_axes = 2})(ones<double>({5, 3})).shape()), "(2, 3, 5)");
  EXPECT_EQ(to_string(vmap(rows, {.out_axes = -1})(ones<double>({5, 3})).shape()), "(2, 3, 5)");
  EXPECT_EQ(to_string(vmap(rows, {.out_axes = -3})(ones<double>({5, 3})).shape()), "(5, 2, 3)");
  EXPECT_TRUE(
      matches(vmap([](const A& x) { return x * 2; }, {.out_axes = 1})(m), A{{2, 8}, {4, 10}, {6, 12}}));
}

TEST(Vmap, OutAxesOfTrees) {
  auto f = [](const A& x) { return std::pair(x, std::tuple(x * 2, A(7.0))); };
  const auto [a, rest] = vmap(f, {.out_axes = {1, axes(0, none)}})(m);
  EXPECT_TRUE(matches(a, A{{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_TRUE(matches(std::get<0>(rest), 2 * m));
  EXPECT_TRUE(matches(std::get<1>(rest), A(7.0)));
}

TEST(Vmap, InAxesOfTrees) {
  struct Batch {
    A x;
    std::vector<A> more;
  };
  auto f = [](const Batch& b, const A& w) { return sum(b.x * w) + sum(b.more[0]) + b.more[1]; };
  const Batch batch = {m, {A{1, 2}, A{100, 200, 300}}};
  const A got = vmap(f, {.in_axes = {axes(1, axes(none, 0)), none}})(batch, A{1, 10});
  EXPECT_TRUE(matches(got, A{144, 255, 366}));
  EXPECT_TRUE(matches(vmap(f, {.in_axes = {axes(1, axes(none, 0)), none}})(batch, A(1.0)), A{108, 210, 312}));
}

TEST(Vmap, UnmappedResultsAreRepeated) {
  EXPECT_TRUE(matches(vmap([](const A&) { return A{1, 2}; })(m), A{{1, 2}, {1, 2}}));
  EXPECT_TRUE(matches(vmap([](const A&) { return 3.f; })(m).astype<double>(), A{3, 3}));
  EXPECT_TRUE(matches(vmap([](const A&) { return A{1, 2}; }, {.out_axes = none})(m), A{1, 2}));
  EXPECT_EQ(text_of<ValueError>([] { vmap([](const A& x) { return x; }, {.out_axes = none})(m); }),
            "vmap: out_axes is none for a result that differs along the mapped axis");
}

TEST(Vmap, AxisSize) {
  const A got = vmap([](const A& x) { return x * 2; }, {.in_axes = none, .axis_size = 3})(A{1, 2});
  EXPECT_TRUE(matches(got, A{{2, 4}, {2, 4}, {2, 4}}));
  EXPECT_EQ(text_of<ValueError>([] { vmap([](const A& x) { return x; }, {.axis_size = 5})(m); }),
            "vmap: axis_size is 5 but argument 0 of shape (2, 3) has 2 along axis 0");
}

TEST(Vmap, NumbersAreUnmappedOnly) {
  EXPECT_TRUE(matches(
      vmap([](const A& x, const auto& s) { return sum(x) * s; }, {.in_axes = {0, none}})(m, 2), A{12, 30}));
  EXPECT_THROW(vmap([](const A& x, const auto& s) { return x * s; })(m, 2), ValueError);
}

TEST(Vmap, ThreeDeep) {
  const A a = arange<double>(2), b = arange<double>(3) + 1, c = arange<double>(4) * 10;
  auto f = [](const A& a, const A& b, const A& c) { return a * 100 + b * 1000 + c; };
  auto inner = vmap(f, {.in_axes = {none, none, 0}});
  auto middle = vmap(inner, {.in_axes = {none, 0, none}, .out_axes = 1});
  const A got = vmap(middle, {.in_axes = {0, none, none}, .out_axes = -1})(a, b, c);
  EXPECT_EQ(to_string(got.shape()), "(4, 3, 2)");
  EXPECT_TRUE(matches(got, a * 100 + (b * 1000)(_, newaxis) + c(_, newaxis, newaxis)));
}

TEST(Vmap, NestedSumsAndProducts) {
  const A x = arange<double>(24).reshape({2, 3, 4}), w = arange<double>(8).reshape({4, 2});
  auto f = [&](const A& row) { return matmul(row, w); };
  EXPECT_TRUE(matches(vmap(vmap(f))(x), matmul(x, w)));
  EXPECT_TRUE(matches(vmap(vmap(f, {.in_axes = 1, .out_axes = 1}),
                           {.in_axes = 1, .out_axes = 1})(transpose(x, {.axes = {2, 0, 1}})),
                      transpose(matmul(x, w), {.axes = {2, 0, 1}})));
  EXPECT_TRUE(matches(vmap([](const A& x) { return sum(x, {.axis = -1}); })(x), sum(x, {.axis = 2})));
}

TEST(Vmap, EmptyAndSizeOne) {
  EXPECT_EQ(to_string(vmap([](const A& x) { return sum(x * 2); })(zeros<double>({0, 3})).shape()), "(0,)");
  EXPECT_TRUE(matches(vmap([](const A& x) { return sum(x * 2); })(A{{1, 2}}), A{6}));
  EXPECT_TRUE(matches(vmap(grad([](const A& x) { return sum(x * x); }))(A{{1, 2}}), A{{2, 4}}));
}

TEST(Vmap, SizesThatDisagree) {
  EXPECT_EQ(text_of<ValueError>([] {
              vmap([](const A& x, const A& y) { return sum(x) + sum(y); })(m, A{1, 2, 3});
            }),
            "vmap: the sizes of the mapped axes differ: argument 0 of shape (2, 3) has 2 along axis 0, "
            "argument 1 of shape "
            "(3,) has 3 along axis 0");
}

TEST(Vmap, BatchedValuesHaveNoSingleOne) {
  auto refused = [](auto use) {
    return text_of<ValueError>([&] {
      vmap([&](const A& x) {
        use(x);
        return x;
      })(A{1, 2});
    });
  };
  EXPECT_EQ(refused([](const A& x) { x.item(); }),
            "item: the array is batched by vmap and has no single value here; use where, or map over it");
  EXPECT_EQ(refused([](const A& x) {
              if (x > 0) return;
            }),
            "bool: the array is batched by vmap and has no single value here; use where instead of if");
  EXPECT_NE(refused([](const A& x) { x.data(); }).find("data: the array is batched by vmap"),
            std::string::npos);
  EXPECT_NE(refused([](const A& x) { x.to_vector(); }).find("batched by vmap"), std::string::npos);
  const A fine = vmap([](const A& x) { return A(3.0).item() > 2 ? x * 2 : x * 3; })(A{1, 2});  // not batched
  EXPECT_TRUE(matches(fine, A{2, 4}));
}

}  // namespace transforms::vmap_test
