#pragma once

#include "device/on_device.hpp"

namespace on_device {

using Copies = OnDevice;

// Up to, around and far beyond a piece of the staging memory (2 MiB).
TEST_F(Copies, return_equal_elements) {
  for (const std::int64_t n : {0, 1, 3, 1000, 524287, 524288, 524289, 1048576, 3000001}) {
    const Array<float> x = numbers({n});
    EXPECT_EQ(back(there(x)).to_vector(), x.to_vector()) << n;
  }
}

// Uploads return before the device has read them: later writes of the host must not reach the device.
TEST_F(Copies, to_the_device_have_read_the_host) {
  std::vector<float> values(300000);
  std::vector<Array<float>> copies;
  for (int i = 0; i < 20; ++i) {
    std::fill(values.begin(), values.end(), static_cast<float>(i));
    copies.push_back(there(nax::asarray(values.data(), {300000})));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(nax::min(copies[static_cast<std::size_t>(i)]).item(), static_cast<float>(i));
    EXPECT_EQ(nax::max(copies[static_cast<std::size_t>(i)]).item(), static_cast<float>(i));
  }
}

TEST_F(Copies, between_devices) {
  const auto devices = nax::devices("cuda");
  Array<float> x = numbers({100, 70});
  const Array<float> first = x;
  for (const Device device : devices) x = nax::device_put(x, device) * 2.f;
  Array<float> want = first;
  for (std::size_t i = 0; i < devices.size(); ++i) want = want * 2.f;
  EXPECT_EQ(x.device(), devices.back());
  EXPECT_EQ(back(x).to_vector(), want.to_vector());
}

TEST_F(Copies, of_strided_arrays) {
  const Array<float> x = numbers({30, 40}), y = there(x);
  EXPECT_EQ(y.T().to_vector(), x.T().to_vector());
  EXPECT_EQ(y(nax::slice(nax::_, nax::_, -2)).to_vector(), x(nax::slice(nax::_, nax::_, -2)).to_vector());
  EXPECT_EQ(y(3, 4).item(), x(3, 4).item());
}

TEST_F(Copies, devices_do_not_mix) {
  const Array<float> x = numbers({3});
  EXPECT_THROW(Array<float>(x + there(x)), nax::DeviceError);
  EXPECT_EQ(back(Array<float>(there(x) + Array<float>(1.f))).to_vector(), Array<float>(x + 1.f).to_vector());
}

}  // namespace on_device
