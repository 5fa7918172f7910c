#pragma once

#include "device/on_device.hpp"

namespace on_device {

using Interchange = OnDevice;

// Memory of the device that nax did not allocate: here, an array's that others hold.
TEST_F(Interchange, memory_of_others_is_read_and_never_written) {
  const Array<float> x = numbers({30, 40});
  int freed = 0;
  {
    const Array<float> held = there(x);
    auto* const address = const_cast<float*>(held.device_data());
    Array<float> y = nax::from_device(address, {30, 40}, gpu(), [&, held](float*) { ++freed; });
    EXPECT_EQ(y.device(), gpu());
    EXPECT_EQ(y.device_data(), address);
    EXPECT_EQ(y.data()[41], x.data()[41]);  // the host's copy
    EXPECT_EQ(back(y.T()).to_vector(), Array<float>(x.T()).to_vector());
    y = y * 2.f;
    EXPECT_NE(y.device_data(), address);
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(back(held).to_vector(), x.to_vector());
    EXPECT_EQ(back(y).to_vector(), Array<float>(x * 2.f).to_vector());
  }
  EXPECT_EQ(freed, 1);
}

TEST_F(Interchange, tensors_stay_on_their_device) {
  const Array<float> x = numbers({30, 40});
  Array<float> y = there(x);
  auto* const tensor = nax::to_dlpack(y(nax::slice(2, 20), nax::slice(nax::_, nax::_, 3)));
  EXPECT_EQ(tensor->dl_tensor.device.device_type, 2);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, gpu().ordinal);
  EXPECT_EQ(tensor->dl_tensor.strides[0], 40);
  EXPECT_EQ(tensor->dl_tensor.strides[1], 3);
  y += 1.f;  // what is lent stays as it is
  const Array<float> again = nax::from_dlpack<float>(tensor);
  EXPECT_EQ(again.device(), gpu());
  EXPECT_EQ(back(again).to_vector(),
            Array<float>(x(nax::slice(2, 20), nax::slice(nax::_, nax::_, 3))).to_vector());
  EXPECT_EQ(nax::sum(again * again).device(), gpu());
}

TEST_F(Interchange, jit_takes_memory_of_others) {
  const Array<float> x = numbers({50});
  const Array<float> held = there(x);
  auto f = nax::jit([](const Array<float>& x) { return Array<float>(x * x + 1.f); });
  for (int call = 0; call < 3; ++call) {
    const auto y = nax::from_device(const_cast<float*>(held.device_data()), {50}, gpu());
    EXPECT_TRUE(compare::close(back(f(y)), Array<float>(x * x + 1.f), 1e-6)) << call;  // nvcc fuses
  }
}

}  // namespace on_device
