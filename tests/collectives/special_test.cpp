#include "collectives/maps.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Unmapped operands, other axes, trees, integers, and the transposes of psum and pmean.
namespace collectives::special_test {

TEST(CollectivesIn, Normalise) {
  const F1 f = [](const A& x) { return x / psum(exp(x), "i"); };
  for (Map map : both_maps) {
    const A x = in("normalise", 0);
    expect("normalise", map, over(map, f)(x));
    expect("normalise.grad_inside", map, over(map, F1(grad([&](const A& x) { return sum(sin(f(x))); })))(x));
    const F1 mapped = over(map, f);
    expect("normalise.grad_outside", map, grad([&](const A& x) { return sum(sin(mapped(x))); })(x));
  }
}

// Grad inside gives each its own gradient, grad outside the sum over the axis.
TEST(CollectivesIn, UnmappedOperand) {
  const F2 f = [](const A& w, const A& x) { return pmean(sin(w * x), "i") * x; };
  const Axes2 axes = {.in = {none, 0}};
  for (Map map : both_maps) {
    const F2 inside = grad([&](const A& w, const A& x) { return sum(f(w, x)); });
    expect("unmapped.grad_inside", map,
           over(map, inside, axes)(in("unmapped.grad_inside", 0), in("unmapped.grad_inside", 1)));
    const F2 mapped = over(map, f, axes);
    const A x = in("unmapped.grad_outside", 1);
    expect("unmapped.grad_outside", map,
           grad([&](const A& w) { return sum(mapped(w, x)); })(in("unmapped.grad_outside", 0)));
    const F2 constant = over(map, F2([](const A& w, const A& x) { return psum(w, "i") + x; }), axes);
    expect("unmapped.psum_constant", map,
           constant(in("unmapped.psum_constant", 0), in("unmapped.psum_constant", 1)));
  }
}

TEST(CollectivesIn, OtherAxes) {
  const F1 add = [](const A& x) { return x + psum(x, "i"); };
  for (Map map : both_maps) {
    expect("out_axes=none", map,
           over(map, F1([](const A& x) { return psum(x, "i"); }), {.out = none})(in("out_axes=none", 0)));
    expect("out_axes=1", map, over(map, add, {.out = 1})(in("out_axes=1", 0)));
    expect("in_axes=1", map, over(map, add, {.in = 1})(in("in_axes=1", 0)));
  }
}

TEST(CollectivesIn, Tree) {
  auto f = [](const A& a, const A& b) { return psum(std::pair(a, sum(b)), "i"); };
  const A a = in("psum.tree", 0), b = in("psum.tree", 1);
  const auto on_axis = vmap(f, {.axis_name = "i"})(a, b), on_devices = pmap(f, {.axis_name = "i"})(a, b);
  expect("psum.tree", Map::vmap, on_axis.first, "out0");
  expect("psum.tree", Map::vmap, on_axis.second, "out1");
  expect("psum.tree", Map::pmap, on_devices.first, "out0");
  expect("psum.tree", Map::pmap, on_devices.second, "out1");
}

TEST(CollectivesIn, Integers) {
  using I = Array<int>;
  auto sums = [](const I& x) { return psum(x, "i"); };
  auto means = [](const I& x) { return pmean(x, "i"); };
  expect("psum.int", Map::vmap, vmap(sums, {.axis_name = "i"})(in<int>("psum.int", 0)));
  expect("psum.int", Map::pmap, pmap(sums, {.axis_name = "i"})(in<int>("psum.int", 0)));
  expect("pmean.int", Map::vmap, vmap(means, {.axis_name = "i"})(in<int>("pmean.int", 0)));
  expect("pmean.int", Map::pmap, pmap(means, {.axis_name = "i"})(in<int>("pmean.int", 0)));
}

// Truth values are counted as int32, as JAX counts them.
TEST(CollectivesIn, Bools) {
  using B = Array<bool>;
  using I = Array<int>;
  const B x = {{true, true}, {true, false}, {true, false}, {true, true}};
  auto sums = [](const B& x) { return psum(x, "i"); };
  auto means = [](const B& x) { return pmean(x, "i"); };
  const I counts = broadcast_to(I{4, 2}, {4, 2});
  const A shares = broadcast_to(A{1, 0.5f}, {4, 2});
  EXPECT_TRUE(compare::close(I(vmap(sums, {.axis_name = "i"})(x)), counts, 0));
  EXPECT_TRUE(compare::close(I(pmap(sums, {.axis_name = "i"})(x)), counts, 0));
  EXPECT_TRUE(compare::close(A(vmap(means, {.axis_name = "i"})(x)), shares, 0));
  EXPECT_TRUE(compare::close(A(pmap(means, {.axis_name = "i"})(x)), shares, 0));
  // The four parts, and a tree with other types.
  const B square = {{true, false, true, true},
                    {true, false, false, true},
                    {true, false, false, true},
                    {true, false, false, true}};
  auto scatter = [](const B& x) { return psum_scatter(x, "i"); };
  EXPECT_TRUE(compare::close(I(vmap(scatter, {.axis_name = "i"})(square)), I{4, 0, 1, 4}, 0));
  EXPECT_TRUE(compare::close(I(pmap(scatter, {.axis_name = "i"})(square)), I{4, 0, 1, 4}, 0));
  auto both = [](const B& x) { return psum(std::pair(x, Array<float>(x.astype<float>())), "i"); };
  EXPECT_TRUE(compare::close(I(pmap(both, {.axis_name = "i"})(x).first), counts, 0));
  // An axis of one device sums nothing, but converts the type.
  EXPECT_TRUE(compare::close(I(pmap(sums, {.axis_name = "i"})(B{{true, false}})), I{{1, 0}}, 0));
}

// Cotangents 1, 10, 100, 1000 on the four: 1111 on each shows that they are summed.
TEST(CollectivesIn, Transposes) {
  const std::pair<std::string, F1> both[] = {{"psum", [](const A& x) { return psum(x, "i"); }},
                                             {"pmean", [](const A& x) { return pmean(x, "i"); }}};
  for (const auto& [name, f] : both)
    for (Map map : both_maps) {
      const std::string record = "transpose." + name;
      const A x = in(record + ".inside", 0), w = in(record + ".inside", 1);
      const F2 weighed = [f = f](const A& x, const A& w) { return f(x) * w; };
      expect(record + ".inside", map, over(map, F2(grad(weighed)))(x, w));
      const F2 mapped = over(map, weighed);
      expect(record + ".outside", map, grad([&](const A& x) { return sum(mapped(x, w)); })(x));
    }
}

}  // namespace collectives::special_test
