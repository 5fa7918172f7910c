#include "collectives/maps.hpp"

// Axis "i" is the map of the record, "j" a vmap in it.
namespace collectives::two_axes_test {

struct TwoAxesRow {
  std::string name;
  F1 f;
  bool derivative = true;
};

std::vector<TwoAxesRow> two_axes_rows() {
  return {{"psum.i", [](const A& x) { return psum(x, "i"); }},
          {"psum.j", [](const A& x) { return psum(x, "j"); }},
          {"psum.ij",
           [](const A& x) {
             return psum(x, {"i", "j"});
           }},
          {"pmean.ij",
           [](const A& x) {
             return pmean(x, {"i", "j"});
           }},
          {"pmax.ij",
           [](const A& x) {
             return pmax(x, {"i", "j"});
           },
           false},
          {"all_gather.i", [](const A& x) { return all_gather(x, "i"); }},
          {"all_gather.j", [](const A& x) { return all_gather(x, "j"); }},
          {"axis_index.ij", [](const A& x) -> A { return x * 0 + axis_index("i") * 10 + axis_index("j"); },
           false}};
}

F1 over_j(F1 f) { return vmap(std::move(f), {.axis_name = "j"}); }

TEST(CollectivesOfTwoAxes, Values) {
  for (const auto& [name, f, derivative] : two_axes_rows())
    for (Map map : both_maps)
      expect("two_axes." + name, map, over(map, over_j(f))(in("two_axes." + name, 0)));
}

TEST(CollectivesOfTwoAxes, Gradients) {
  for (const auto& row : two_axes_rows()) {
    if (!row.derivative) continue;
    const F1 f = row.f;
    const F1 squared = [f](const A& x) { return f(x * x); };
    const F1 inside = grad([squared](const A& x) { return sum(sin(squared(x))); });
    for (Map map : both_maps) {
      const std::string name = "two_axes." + row.name;
      const A x = in(name + ".grad_inside", 0);
      expect(name + ".grad_inside", map, over(map, over_j(inside))(x));
      const F1 mapped = over(map, over_j(squared));
      expect(name + ".grad_outside", map, grad(F1([&](const A& x) { return sum(sin(mapped(x))); }))(x));
    }
  }
}

// pmap inside of vmap: the same as two vmaps.
TEST(CollectivesOfTwoAxes, PmapInVmap) {
  for (const auto& [name, f, derivative] : two_axes_rows()) {
    const A x = in("two_axes." + name, 0);  // (i, j, ...); the vmap over j is outside
    const F1 devices = over(Map::pmap, f), hidden = over(Map::vmap, f);
    auto outside = [&](const F1& mapped) {
      return F1(vmap(mapped, {.in_axes = 1, .out_axes = 1, .axis_name = "j"}));
    };
    const A got = outside(devices)(x), want = outside(hidden)(x);
    EXPECT_TRUE(compare::close(got, want, 1e-6)) << name;
    if (!derivative) continue;
    auto gradient = [&](const F1& mapped) {
      return grad(F1([&](const A& x) { return sum(sin(mapped(x))); }))(x);
    };
    EXPECT_TRUE(compare::close(gradient(outside(devices)), gradient(outside(hidden)), 1e-6)) << name;
    const F1 inner_gradient = grad(F1([f = f](const A& x) { return sum(sin(f(x * x))); }));
    EXPECT_TRUE(compare::close(outside(over(Map::pmap, inner_gradient))(x),
                               outside(over(Map::vmap, inner_gradient))(x), 1e-6))
        << name;
  }
}

}  // namespace collectives::two_axes_test
