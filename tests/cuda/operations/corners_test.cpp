#include "both_devices.hpp"

// Numbers at the ends of their ranges on a GPU: floats beyond an integer's, quotients at infinities.
namespace corners_test {

using namespace nax;
using namespace both_devices;

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

Array<float> beyond() {
  return {-1.5f,        .5f,  127.9f,   -129,      255.9f,       256,          -32769,
          65536,        3e9f, -3e9f,    4e9f,      5e9f,         1e19f,        -1e19f,
          2147483648.f, 1e30, infinity, -infinity, not_a_number, 2147483520.f, -2147483648.f};
}

template <class To>
void check_conversions() {
  expect_same([](auto put) { return put(beyond()).template astype<To>(); });
  expect_same([](auto put) { return put(beyond()).template astype<double>().template astype<To>(); });
  expect_same([](auto put) { return put(beyond()).template astype<nax::half>().template astype<To>(); });
  expect_same([](auto put) { return astype<To>(put(beyond()) * 2.f); });
}

TEST(CornersOnGpu, FloatsBeyondAnIntegersRange) {
  check_conversions<std::int8_t>(), check_conversions<std::uint8_t>();
  check_conversions<std::int16_t>(), check_conversions<std::uint16_t>();
  check_conversions<std::int32_t>(), check_conversions<std::uint32_t>();
  check_conversions<std::int64_t>(), check_conversions<std::uint64_t>();
  const auto there = device_put(beyond(), gpu()).astype<std::uint8_t>().to_vector();
  EXPECT_EQ(there[0], 0);
  EXPECT_EQ(there[5], 255);
  EXPECT_EQ(there[16], 255);
  EXPECT_EQ(there[18], 0);
}

TEST(CornersOnGpu, QuotientsAtInfinities) {
  const auto x = [] { return Array<float>{1, -1, 0, -0.f, infinity, 3.5f, -1, 1}; };
  const auto y = [] { return Array<float>{-infinity, infinity, -infinity, infinity, 1, 0, -0.f, infinity}; };
  expect_same([&](auto put) { return floor_divide(put(x()), put(y())); });
  expect_same([&](auto put) { return remainder(put(x()), put(y())); });
  expect_same([&](auto put) {
    return grad<1>([](const Array<float>& x, const Array<float>& y) { return sum(remainder(x, y)); })(
        put(x()), put(y()));
  });
}

}  // namespace corners_test
