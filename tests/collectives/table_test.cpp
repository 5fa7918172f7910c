#include "collectives/maps.hpp"
#include "nax/transform/jvp.hpp"

// Every collective of one axis: its values, gradients with the map outside and inside, and forward
// derivative.
namespace collectives::table_test {

struct Row {
  std::string name;
  F1 f;
  bool derivative = true;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

using Moves = std::vector<std::pair<int, int>>;

std::vector<Row> rows() {
  const Moves cycle = {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, mirror = {{0, 3}, {1, 2}, {2, 1}, {3, 0}},
              partial = {{0, 2}, {3, 1}};
  auto gather = [](AllGatherOptions options) -> F1 {
    return [=](const A& x) { return all_gather(x, "i", options); };
  };
  auto scatter = [](PsumScatterOptions options) -> F1 {
    return [=](const A& x) { return psum_scatter(x, "i", options); };
  };
  auto permute = [](Moves moves) -> F1 { return [=](const A& x) { return ppermute(x, "i", moves); }; };
  const F1 sum_all = [](const A&x) { return psum(x, "i"); },
           mean_all = [](const A&x) { return pmean(x, "i"); },
           max_all = [](const A&x) { return pmax(x, "i"); }, min_all = [](const A&x) { return pmin(x, "i"); };
  std::vector<Row> all = {
      {"psum", sum_all},
      {"psum.0d", sum_all},
      {"psum.empty", sum_all, false},
      {"pmean", mean_all},
      {"pmean.0d", mean_all},
      {"pmax", max_all, false},
      {"pmax.0d", max_all, false},
      {"pmin", min_all, false},
      {"pmin.0d", min_all, false},
      {"all_gather", gather({})},
      {"all_gather.0d", gather({})},
      {"all_gather.axis=1", gather({.axis = 1})},
      {"all_gather.axis=2", gather({.axis = 2})},
      {"all_gather.tiled", gather({.tiled = true})},
      {"all_gather.axis=1.tiled", gather({.axis = 1, .tiled = true})},
      {"psum_scatter", scatter({})},
      {"psum_scatter.scatter_dimension=1", scatter({.scatter_dimension = 1})},
      {"psum_scatter.tiled", scatter({.tiled = true})},
      {"psum_scatter.scatter_dimension=1.tiled", scatter({.scatter_dimension = 1, .tiled = true})},
      {"ppermute.cycle", permute(cycle)},
      {"ppermute.cycle.0d", permute(cycle)},
      {"ppermute.mirror", permute(mirror)},
      {"ppermute.partial", permute(partial)},
      {"axis_index", [](const A& x) -> A { return x * 0 + axis_index("i"); }, false},
      {"axis_size", [](const A& x) -> A { return x * 0 + axis_size("i"); }, false},
  };
  struct Exchange {
    int split, concat;
    bool tiled;
  };
  for (const auto& [split, concat, tiled] : std::vector<Exchange>{{0, 0, false},
                                                                  {0, 1, false},
                                                                  {1, 0, false},
                                                                  {1, 1, false},
                                                                  {0, 2, false},
                                                                  {2, 0, false},
                                                                  {0, 0, true},
                                                                  {0, 1, true},
                                                                  {1, 0, true},
                                                                  {1, 1, true}})
    all.push_back(
        {"all_to_all." + std::to_string(split) + "," + std::to_string(concat) + (tiled ? ".tiled" : ""),
         [split = split, concat = concat, tiled = tiled](const A& x) {
           return all_to_all(x, "i", split, concat, {.tiled = tiled});
         }});
  return all;
}

class Collective : public testing::TestWithParam<Row> {};

TEST_P(Collective, Value) {
  const auto& [name, f, derivative] = GetParam();
  for (Map map : both_maps) expect(name, map, over(map, f)(in(name, 0)));
}

// The differentiated function is f(sin(x) * x) * w.
TEST_P(Collective, GradInside) {
  if (!GetParam().derivative) return;
  const std::string name = GetParam().name + ".grad_inside";
  const F1 f = GetParam().f;
  const F2 gradient = grad([f](const A& x, const A& w) { return sum(f(sin(x) * x) * w); });
  // Where JAX refuses to differentiate inside, the gradient outside is the same.
  const bool recorded = golden::goldens("collectives").count(name + "/pmap/out");
  for (Map map : both_maps)
    expect(recorded ? name : GetParam().name + ".grad_outside", map,
           over(map, gradient)(in(name, 0), in(name, 1)));
}

TEST_P(Collective, GradOutside) {
  if (!GetParam().derivative) return;
  const std::string name = GetParam().name + ".grad_outside";
  const F1 f = GetParam().f;
  for (Map map : both_maps) {
    const F2 mapped = over(map, F2([f](const A& x, const A& w) { return f(sin(x) * x) * w; }));
    const A w = in(name, 1);
    const F1 loss = [&](const A& x) { return sum(mapped(x, w)); };
    expect(name, map, grad(loss)(in(name, 0)));
  }
}

TEST_P(Collective, Jvp) {
  if (!GetParam().derivative) return;
  const std::string name = GetParam().name + ".jvp";
  const F1 f = GetParam().f;
  for (Map map : both_maps) {
    const F1 mapped = over(map, F1([f](const A& x) { return f(sin(x) * x); }));
    expect(name, map, jvp(mapped, std::tuple(in(name, 0)), std::tuple(in(name, 1))).second);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Collective, testing::ValuesIn(rows()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace collectives::table_test
