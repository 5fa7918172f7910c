#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "support/compare.hpp"

// Creation and shape functions against JAX's numbers.
namespace shapes_golden_test {

using nax::Array;
using Real = Array<double>;
using List = std::vector<Real>;

struct Row {
  const char* name;
  std::function<Real(const List&)> f;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class Goldens : public testing::TestWithParam<Row> {};

TEST_P(Goldens, AreMet) {
  const std::string record = std::string(GetParam().name) + "/f64";
  List inputs;
  for (int i = 0; golden::goldens("ops").count(record + "/in" + std::to_string(i)); ++i)
    inputs.push_back(compare::array_of<double>(golden::get("ops", record + "/in" + std::to_string(i))));
  const Real got = GetParam().f(inputs);
  const auto& want = golden::get("ops", record + "/out");
  EXPECT_EQ(got.shape(), nax::Shape(want.shape));
  EXPECT_TRUE(compare::close(compare::doubles(got), want.values, 4e-16));
}

// A function of one array.
Row one(const char* name, std::function<Real(const Real&)> f) {
  return {name, [f](const List& x) { return f(x.at(0)); }};
}

const Row rows[] = {
    one("transpose", [](const Real& x) { return x.T(); }),
    one("transpose.axes=(1,2,0)",
        [](const Real& x) {
          return nax::transpose(x, {.axes = {1, 2, 0}});
        }),
    one("transpose.axes=(-1,0,1)",
        [](const Real& x) {
          return x.transpose({-1, 0, 1});
        }),
    one("transpose.0d", [](const Real& x) { return nax::transpose(x); }),
    one("reshape.(4,6)",
        [](const Real& x) {
          return x.reshape({4, 6});
        }),
    one("reshape.(2,-1)",
        [](const Real& x) {
          return nax::reshape(x, {2, -1});
        }),
    one("reshape.()", [](const Real& x) { return x.reshape({}); }),
    one("reshape.(0,5)",
        [](const Real& x) {
          return x.reshape({0, 5});
        }),
    one("ravel", [](const Real& x) { return nax::ravel(x); }),
    one("broadcast_to.(2,3,4)",
        [](const Real& x) {
          return nax::broadcast_to(x, {2, 3, 4});
        }),
    one("broadcast_to.(2,2)",
        [](const Real& x) {
          return nax::broadcast_to(x, {2, 2});
        }),
    {"concatenate.axis=0", [](const List& x) { return nax::concatenate(x); }},
    {"concatenate.axis=1",
     [](const List& x) {
       return nax::concatenate({x[0], x[1]}, {.axis = 1});
     }},
    {"concatenate.axis=-1", [](const List& x) { return nax::concatenate(x, {.axis = -1}); }},
    {"concatenate.empty", [](const List& x) { return nax::concatenate(x); }},
    {"stack.axis=0", [](const List& x) { return nax::stack(x); }},
    {"stack.axis=1",
     [](const List& x) {
       return nax::stack({x[0], x[1]}, {.axis = 1});
     }},
    {"stack.axis=-1", [](const List& x) { return nax::stack(x, {.axis = -1}); }},
    {"stack.0d", [](const List& x) { return nax::array(x); }},
    one("tile.2", [](const Real& x) { return nax::tile(x, 2); }),
    one("tile.(2,1,3)",
        [](const Real& x) {
          return nax::tile(x, {2, 1, 3});
        }),
    one("repeat.2", [](const Real& x) { return nax::repeat(x, 2); }),
    one("repeat.3.axis=1", [](const Real& x) { return nax::repeat(x, 3, {.axis = 1}); }),
    one("repeat.[1,0,2].axis=0",
        [](const Real& x) {
          return nax::repeat(x, Array<int>{1, 0, 2}, {.axis = 0});
        }),
    one("roll.2", [](const Real& x) { return nax::roll(x, 2); }),
    one("roll.-1.axis=1", [](const Real& x) { return nax::roll(x, -1, {.axis = 1}); }),
    one("roll.(1,2).axis=(0,1)",
        [](const Real& x) {
          return nax::roll(x, {1, 2}, {.axis = {0, 1}});
        }),
    one("flip", [](const Real& x) { return nax::flip(x); }),
    one("flip.axis=1", [](const Real& x) { return nax::flip(x, {.axis = 1}); }),
    one("flip.axis=(0,-1)",
        [](const Real& x) {
          return nax::flip(x, {.axis = {0, -1}});
        }),
    one("pad.((1,2),(0,1))",
        [](const Real& x) {
          return nax::pad(x, {{1, 2}, {0, 1}});
        }),
    one("pad.((1,2),(0,1)).constant_values=2.5",
        [](const Real& x) {
          return nax::pad(x, {{1, 2}, {0, 1}}, {.constant_values = 2.5});
        }),
    one("pad.((2,1),(1,3)).mode=reflect",
        [](const Real& x) {
          return nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "reflect"});
        }),
    one("pad.((2,1),(1,3)).mode=symmetric",
        [](const Real& x) {
          return nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "symmetric"});
        }),
    one("pad.((2,1),(1,3)).mode=edge",
        [](const Real& x) {
          return nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "edge"});
        }),
    one("pad.((2,1),(1,3)).mode=wrap",
        [](const Real& x) {
          return nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "wrap"});
        }),
    one("squeeze", [](const Real& x) { return nax::squeeze(x); }),
    one("squeeze.axis=-1", [](const Real& x) { return nax::squeeze(x, {.axis = -1}); }),
    one("expand_dims.axis=0", [](const Real& x) { return nax::expand_dims(x, 0); }),
    one("expand_dims.axis=-1", [](const Real& x) { return nax::expand_dims(x, -1); }),
    one("expand_dims.axis=(0,2)",
        [](const Real& x) {
          return nax::expand_dims(x, {0, 2});
        }),
    one("moveaxis.0,-1", [](const Real& x) { return nax::moveaxis(x, 0, -1); }),
    one("moveaxis.(0,1),(-1,0)",
        [](const Real& x) {
          return nax::moveaxis(x, {0, 1}, {-1, 0});
        }),
    one("swapaxes.0,2", [](const Real& x) { return nax::swapaxes(x, 0, 2); }),
    one("swapaxes.-1,-2", [](const Real& x) { return nax::swapaxes(x, -1, -2); }),
    one("tril", [](const Real& x) { return nax::tril(x); }),
    one("tril.k=1", [](const Real& x) { return nax::tril(x, {.k = 1}); }),
    one("tril.k=-1", [](const Real& x) { return nax::tril(x, {.k = -1}); }),
    one("triu", [](const Real& x) { return nax::triu(x); }),
    one("triu.k=1", [](const Real& x) { return nax::triu(x, {.k = 1}); }),
    one("triu.k=-2", [](const Real& x) { return nax::triu(x, {.k = -2}); }),
    one("diag.vector", [](const Real& x) { return nax::diag(x); }),
    one("diag.vector.k=1", [](const Real& x) { return nax::diag(x, {.k = 1}); }),
    one("diag.vector.k=-2", [](const Real& x) { return nax::diag(x, {.k = -2}); }),
    one("diag.matrix", [](const Real& x) { return nax::diag(x); }),
    one("diag.matrix.k=1", [](const Real& x) { return nax::diag(x, {.k = 1}); }),
    one("diag.matrix.k=-1", [](const Real& x) { return nax::diag(x, {.k = -1}); }),
    one("diagonal.axis1=1.axis2=2", [](const Real& x) { return nax::diagonal(x, {.axis1 = 1, .axis2 = 2}); }),
    one("atleast_2d", [](const Real& x) { return nax::atleast_2d(x); }),
    {"vstack", [](const List& x) { return nax::vstack(x); }},
    {"hstack", [](const List& x) { return nax::hstack({x[0], x[1]}); }},
    {"take.1d.axis=0", [](const List& x) { return nax::take(x[0], x[1].astype<int>(), {.axis = 0}); }},
    {"take.2d.axis=1", [](const List& x) { return nax::take(x[0], x[1].astype<int>(), {.axis = 1}); }},
    {"take.0d.axis=1", [](const List& x) { return nax::take(x[0], x[1].astype<int>(), {.axis = 1}); }},
    {"take.1d", [](const List& x) { return nax::take(x[0], x[1].astype<int>()); }},
    {"take.empty.axis=0", [](const List& x) { return nax::take(x[0], x[1].astype<int>(), {.axis = 0}); }},
    {"take_along_axis.axis=1",
     [](const List& x) { return nax::take_along_axis(x[0], x[1].astype<int>(), 1); }},
    {"take_along_axis.axis=0",
     [](const List& x) { return nax::take_along_axis(x[0], x[1].astype<int>(), 0); }},
    {"arange.7", [](const List&) { return nax::arange<double>(7); }},
    {"arange.1,9,2", [](const List&) { return nax::arange<double>(1, 9, 2); }},
    {"arange.0,1,0.25", [](const List&) { return nax::arange<double>(0, 1, 0.25); }},
    {"arange.5,0,-2", [](const List&) { return nax::arange<double>(5, 0, -2); }},
    {"linspace.0,1,5", [](const List&) { return nax::linspace<double>(0, 1, 5); }},
    {"linspace.-2,3,7", [](const List&) { return nax::linspace<double>(-2, 3, 7); }},
    {"linspace.0,1,5.endpoint=false",
     [](const List&) { return nax::linspace<double>(0, 1, 5, {.endpoint = false}); }},
    {"linspace.2,3,1", [](const List&) { return nax::linspace<double>(2, 3, 1); }},
    {"logspace.0,2,5", [](const List&) { return nax::logspace<double>(0, 2, 5); }},
    {"eye.3", [](const List&) { return nax::eye<double>(3); }},
    {"eye.2,4,k=1", [](const List&) { return nax::eye<double>(2, {.M = 4, .k = 1}); }},
    {"tri.3,4,k=-1", [](const List&) { return nax::tri<double>(3, {.M = 4, .k = -1}); }},
};
INSTANTIATE_TEST_SUITE_P(Arrays, Goldens, testing::ValuesIn(rows));

TEST(Split, GivesTheGoldenParts) {
  const auto check = [](const std::string& name, auto split) {
    const auto x = compare::array_of<double>(golden::get("ops", name + "/f64/in0"));
    const std::vector<Real> parts = split(x);
    std::size_t count = 0;
    for (; golden::goldens("ops").count(name + "/f64/out" + std::to_string(count)); ++count) {
      const auto& want = golden::get("ops", name + "/f64/out" + std::to_string(count));
      ASSERT_LT(count, parts.size()) << name;
      EXPECT_EQ(parts[count].shape(), nax::Shape(want.shape)) << name;
      EXPECT_EQ(compare::doubles(parts[count]), want.values) << name;
    }
    EXPECT_EQ(count, parts.size()) << name;
  };
  check("split.3", [](const Real& x) { return nax::split(x, 3); });
  check("split.[1,4].axis=1", [](const Real& x) { return nax::split(x, {1, 4}, {.axis = 1}); });
  check("split.2.axis=-1", [](const Real& x) { return nax::split(x, 2, {.axis = -1}); });
  check("array_split.4", [](const Real& x) { return nax::array_split(x, 4); });
}

}  // namespace shapes_golden_test
