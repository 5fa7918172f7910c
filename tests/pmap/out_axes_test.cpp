#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/transform/vmap.hpp"
#include "pmap/devices.hpp"

// out_axes none: one result for all devices, which must be equal on all.
namespace on_devices::out_axes_test {

TEST(OutAxes, None) {
  const A x = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto one = [](auto f) {
    return pmap([=](const A& row) -> A { return f(row); }, {.out_axes = none, .axis_name = "i"});
  };
  const auto same = [](const A& row) {
    return sin(psum(row, "i")) + 2 * pmean(row, "i") + sum(all_gather(row, "i"));
  };
  EXPECT_TRUE(matches(one(same)(x), sin(sum(x, {.axis = 0})) + 2 * mean(x, {.axis = 0}) + sum(x)));
  EXPECT_TRUE(matches(one([](const A& row) { return psum(row, "i"); })(x), sum(x, {.axis = 0})));
  const auto square_of_sum = [&](const A& x) -> A {
    return sum(one([](const A& row) { return square(psum(row, "i")); })(x));
  };
  EXPECT_TRUE(matches(grad(square_of_sum)(x), A(broadcast_to(2 * sum(x, {.axis = 0}), {3, 3}))));
  auto batched = [&](const A& w) { return one([](const A& row) { return psum(row, "i") / 3; })(x * w); };
  EXPECT_TRUE(
      matches(vmap(batched)(A{1, 2}), stack({A(sum(x, {.axis = 0}) / 3), A(sum(x, {.axis = 0}) * 2 / 3)})));

  const std::string differs = "pmap: out_axes is none for a result that differs between devices";
  EXPECT_EQ(text_of<ValueError>([&] { one([](const A& row) { return row * 2; })(x); }), differs);
  EXPECT_EQ(text_of<ValueError>([&] { one([](const A&) { return axis_index("i").astype<double>(); })(x); }),
            differs);
  auto apart = [&](const A& w) { return one([](const A& row) { return row / 3; })(x * w); };
  EXPECT_EQ(text_of<ValueError>([&] { vmap(apart)(A{1, 2}); }), differs);
  EXPECT_EQ(text_of<ValueError>([&] { grad([&](const A& w) { return A(sum(apart(w))); })(A(2.)); }), differs);
}

}  // namespace on_devices::out_axes_test
