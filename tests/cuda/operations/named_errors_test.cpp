#include "both_devices.hpp"

// Functions without a form for the GPU throw an error that names them, and compute nothing.
namespace named_errors_test {

using namespace nax;
using namespace both_devices;

template <class F>
void expect_named(const std::string& name, const F& f) {
  EXPECT_EQ(text_of<DeviceError>(f),
            name +
                ": has no form for the GPU yet, and got an array on cuda:0; copy x to the CPU first: "
                "device_put(x, devices(\"cpu\")[0])");
}

TEST(NamedErrorsOnGpu, Linalg) {
  const Array<float> a = device_put(eye<float>(3), gpu());
  expect_named("sqrtm", [&] { linalg::sqrtm(a); });
  expect_named("schur", [&] { linalg::schur(a); });
  expect_named("solve_sylvester", [&] { linalg::solve_sylvester(a, a, a); });
}

TEST(NamedErrorsOnGpu, Searches) {
  const Array<int> n = device_put(Array<int>{1, 2, 2}, gpu());
  expect_named("unique", [&] { unique(n); });
}

// A cotangent or tangent on the host goes along if it has no axes, as other numbers do.
TEST(NamedErrorsOnGpu, CotangentsAndTangents) {
  const Array<float> x = device_put(Array<float>{1, 2}, gpu());
  const auto f = [](const Array<float>& v) { return sum(sin(v) * v); };
  const Array<float> gradient = std::get<0>(vjp(f, x).second(2));
  EXPECT_EQ(gradient.device(), gpu());
  EXPECT_EQ(gradient.to_vector(), Array<float>(2 * grad(f)(x)).to_vector());
  const auto square = [](const Array<float>& v) -> Array<float> { return v * v; };
  const Array<float> host{1, 1};
  EXPECT_EQ(
      text_of<DeviceError>([&] { vjp(square, x).second(host); }).find("vjp: the operands are on different"),
      0u);
  EXPECT_EQ(
      text_of<DeviceError>([&] { jvp(square, std::tuple{x}, std::tuple{host}); }).find("jvp: the operands"),
      0u);
}

}  // namespace named_errors_test
