#include <functional>

#include "nccl/devices.hpp"

namespace nccl_devices::hidden_axes_test {

// Arrays with hidden axes are sent as they are.
TEST(Nccl, InsideOfVmap) {
  if (most_gpus() < 3) GTEST_SKIP() << "takes 3 GPUs";
  const Array<float> x = arange<float>(3 * 3 * 4 * 5).reshape({3, 3, 4, 5});
  auto over = [](auto f, bool on_devices) {
    const auto inner = vmap(f, {.in_axes = 1, .out_axes = 1, .axis_name = "j"});
    return on_devices ? std::function<Array<float>(const Array<float>&)>(
                            pmap(inner, {.axis_name = "i", .devices = first_gpus(3)}))
                      : std::function<Array<float>(const Array<float>&)>(vmap(inner, {.axis_name = "i"}));
  };
  using F = std::function<Array<float>(const Array<float>&)>;
  const F all[] = {[](const Array<float>& x) { return psum(x * x, "i"); },
                   [](const Array<float>& x) { return all_gather(x, "i", {.axis = 1}); },
                   [](const Array<float>& x) { return psum_scatter(x, "i"); },
                   [](const Array<float>& x) { return all_to_all(x, "i", 0, 1); },
                   [](const Array<float>& x) {
                     return ppermute(x, "i", {{0, 1}, {2, 0}});
                   },
                   [](const Array<float>& x) {
                     return psum(x, {"i", "j"});
                   },
                   [](const Array<float>& x) { return pmax(x, "i"); }};
  for (const F& f : all) {
    EXPECT_TRUE(compare::close(over(f, true)(x), over(f, false)(x), 1e-6));
    const F squared = [&](const Array<float>& x) {
      return grad([&](const Array<float>& x) { return sum(sin(f(x))); })(x);
    };
    EXPECT_TRUE(compare::close(over(squared, true)(x), over(squared, false)(x), 1e-5));
  }
}

}  // namespace nccl_devices::hidden_axes_test
