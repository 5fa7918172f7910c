#pragma once

#include <functional>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/parallel/pmap.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/compare.hpp"
#include "support/four_devices.hpp"

// A collective gives equal results on a vmap's axis and between devices. Each test below runs under both maps
// and is compared with JAX's record of that map (of the other map where JAX refuses it).
namespace collectives {

using namespace nax;
using A = Array<float>;
using F1 = std::function<A(const A&)>;
using F2 = std::function<A(const A&, const A&)>;

enum class Map { vmap, pmap };
constexpr Map both_maps[] = {Map::vmap, Map::pmap};
inline const char* to_string(Map map) { return map == Map::vmap ? "vmap" : "pmap"; }

struct Axes2 {
  InAxes in = {};
  OutAxes out = {};
};

// Maps f over axis "i", by pmap or vmap. Functions are type-erased here, so that each map is compiled once.
inline F1 over(Map map, F1 f, Axes2 axes = {}) {
  if (map == Map::vmap)
    return vmap(std::move(f), {.in_axes = axes.in, .out_axes = axes.out, .axis_name = "i"});
  return pmap(std::move(f), {.in_axes = axes.in, .out_axes = axes.out, .axis_name = "i"});
}
inline F2 over(Map map, F2 f, Axes2 axes = {}) {
  if (map == Map::vmap)
    return vmap(std::move(f), {.in_axes = axes.in, .out_axes = axes.out, .axis_name = "i"});
  return pmap(std::move(f), {.in_axes = axes.in, .out_axes = axes.out, .axis_name = "i"});
}

template <class T = float>
Array<T> in(const std::string& name, int i) {
  return compare::array_of<T>(golden::get("collectives", name + "/in" + std::to_string(i)));
}

template <class T>
void expect(const std::string& name, Map map, const Array<T>& result, const char* out = "out",
            double tolerance = 2e-6) {
  const auto& records = golden::goldens("collectives");
  auto record = records.find(name + "/" + to_string(map) + "/" + out);
  if (record == records.end())
    record = records.find(name + "/" + to_string(map == Map::vmap ? Map::pmap : Map::vmap) + "/" + out);
  ASSERT_NE(record, records.end()) << name;
  EXPECT_TRUE(compare::close(result, record->second, tolerance)) << name << " under " << to_string(map);
}

}  // namespace collectives
