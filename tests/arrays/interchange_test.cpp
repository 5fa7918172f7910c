// Memory that nax shares with other code, directly and by DLPack.
#include <gtest/gtest.h>

#include <cstring>

#include "nax/numpy.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vmap.hpp"

namespace interchange_test {
using namespace nax;
using A = Array<float>;

// The struct of dlpack.h before version 1.
struct OldDevice {
  enum Type { cpu = 1, cuda = 2 } device_type;
  std::int32_t device_id;
};
struct OldTensor {
  void* data;
  OldDevice device;
  std::int32_t ndim;
  dlpack::DataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct OldManaged {
  OldTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(OldManaged*);
};

TEST(Interchange, ArraysOverForeignMemory) {
  alignas(64) float numbers[6] = {1, 2, 3, 4, 5, 6};
  int freed = 0;
  {
    A x = from_device(numbers, {2, 3}, Device{}, [&](float* p) { freed += p == numbers; });
    EXPECT_EQ(x.device_data(), numbers);
    EXPECT_EQ(x.data(), numbers);
    EXPECT_EQ(x.stream(), nullptr);
    A row = x(1);
    EXPECT_EQ(row.device_data(), numbers + 3);
    EXPECT_EQ(sum(x).item(), 21);
    // Nothing is written there, although no other handle shares it.
    x = x + 1.f;
    x += 1.f;
    EXPECT_EQ(x(0, 0).item(), 3);
    EXPECT_EQ(numbers[0], 1);
    EXPECT_EQ(freed, 0);
    row = zeros<float>({3});
    EXPECT_EQ(freed, 1);
  }
  EXPECT_EQ(freed, 1);
  const A kept = from_device(numbers, {6});
  EXPECT_EQ(grad([](const A& x) { return sum(x * x); })(kept)(5).item(), 12);
  auto twice = jit([](const A& x) { return A(x * 2.f); }, {.donate_argnums = {0}});
  for (int call = 0; call < 3; ++call) EXPECT_EQ(twice(from_device(numbers, {6}))(5).item(), 12);
  EXPECT_EQ(numbers[5], 6);
}

TEST(Interchange, BadMemory) {
  alignas(64) char bytes[16] = {};
  EXPECT_THROW(from_device(reinterpret_cast<float*>(bytes + 1), {2}), ValueError);
  EXPECT_THROW(from_device(static_cast<float*>(nullptr), {2}), ValueError);
  EXPECT_EQ(from_device(static_cast<float*>(nullptr), {0, 2}).shape(), (Shape{0, 2}));
  EXPECT_THROW(from_device(reinterpret_cast<float*>(bytes), {-1}), ValueError);
  Device none;
  none.platform = Platform::cuda;
  none.ordinal = 60;
  EXPECT_THROW(from_device(reinterpret_cast<float*>(bytes), {2}, none), ValueError);
  const A x = arange<float>(6).reshape({2, 3});
  EXPECT_THROW(x.T().device_data(), ValueError);
  EXPECT_EQ(copy(x.T()).device_data()[1], 3);
  EXPECT_THROW(vmap([](const A& row) { return row.device_data() ? row : row; })(x), ValueError);
}

TEST(Interchange, ThereAndBack) {
  const A x = arange<float>(24).reshape({2, 3, 4});
  for (const A& view :
       {x, A(x.transpose({2, 0, 1})), A(x(1, slice(_, _, -1), slice(1, _, 2))), A(x(1, 2, 3))}) {
    dlpack::ManagedTensor* const tensor = to_dlpack(view);
    EXPECT_EQ(tensor->version.major, 1u);
    EXPECT_EQ(tensor->flags, dlpack::read_only);
    EXPECT_EQ(tensor->dl_tensor.ndim, view.ndim());
    EXPECT_EQ(tensor->dl_tensor.device.device_type, 1);
    const auto* const first = static_cast<const float*>(tensor->dl_tensor.data);
    const A back = from_dlpack<float>(tensor);
    EXPECT_TRUE(array_equal(back, view)) << back;
    EXPECT_EQ(*first, view.to_vector()[0]);
  }
  const A back = from_dlpack<float>(to_dlpack(x));
  EXPECT_EQ(back.data(), x.data());  // no copy
}

TEST(Interchange, TheStructsOfTheirHeader) {
  A x = arange<float>(6).reshape({2, 3});
  OldManaged* const tensor = to_dlpack<OldManaged>(x.T());
  EXPECT_EQ(tensor->dl_tensor.device.device_type, OldDevice::cpu);
  EXPECT_EQ(tensor->dl_tensor.shape[0], 3);
  EXPECT_EQ(tensor->dl_tensor.strides[0], 1);
  EXPECT_EQ(tensor->dl_tensor.strides[1], 3);
  // The lent array does not change with the handle.
  x += 1.f;
  x = zeros<float>({1});
  EXPECT_TRUE(array_equal(from_dlpack<float>(tensor), arange<float>(6).reshape({2, 3}).T()));
}

TEST(Interchange, TensorsOfOthers) {
  static int freed;
  freed = 0;
  double numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
  std::int64_t shape[] = {2, 3}, strides[] = {-4, 1};
  OldManaged tensor{};
  tensor.dl_tensor = {numbers, {OldDevice::cpu, 0}, 2, {2, 64, 1}, shape, strides, 4 * sizeof(double)};
  tensor.deleter = [](OldManaged*) { ++freed; };
  {
    const Array<double> x = from_dlpack<double>(&tensor);
    EXPECT_TRUE(array_equal(x, Array<double>{{4, 5, 6}, {0, 1, 2}})) << x;
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
  tensor.dl_tensor.strides = nullptr;  // row-major
  tensor.dl_tensor.byte_offset = 0;
  tensor.deleter = nullptr;
  EXPECT_TRUE(array_equal(from_dlpack<double>(&tensor), Array<double>{{0, 1, 2}, {3, 4, 5}}));
}

TEST(Interchange, EveryType) {
  const auto check = [](auto zero, int code, int bits) {
    using T = decltype(zero);
    dlpack::ManagedTensor* const tensor = to_dlpack(ones<T>({3}));
    EXPECT_EQ(tensor->dl_tensor.dtype.code, code);
    EXPECT_EQ(tensor->dl_tensor.dtype.bits, bits);
    EXPECT_TRUE(array_equal(from_dlpack<T>(tensor), ones<T>({3})));
  };
  check(false, 6, 8);
  check(std::int8_t{}, 0, 8), check(std::int16_t{}, 0, 16), check(std::int32_t{}, 0, 32),
      check(std::int64_t{}, 0, 64);
  check(std::uint8_t{}, 1, 8), check(std::uint16_t{}, 1, 16), check(std::uint32_t{}, 1, 32);
  check(std::uint64_t{}, 1, 64);
  check(half{}, 2, 16), check(bfloat16{}, 4, 16), check(0.f, 2, 32), check(0., 2, 64);
  check(std::complex<float>{}, 5, 64), check(std::complex<double>{}, 5, 128);
}

TEST(Interchange, BadTensors) {
  float numbers[4] = {};
  std::int64_t shape[] = {4};
  dlpack::ManagedTensor tensor;
  tensor.deleter = [](dlpack::ManagedTensor*) { ADD_FAILURE() << "the tensor is still the caller's"; };
  tensor.dl_tensor = {numbers, {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0};
  EXPECT_THROW(from_dlpack<double>(&tensor), TypeError);
  EXPECT_THROW(from_dlpack<float>(static_cast<dlpack::ManagedTensor*>(nullptr)), ValueError);
  tensor.dl_tensor.dtype.lanes = 4;
  EXPECT_THROW(from_dlpack<float>(&tensor), TypeError);
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.dl_tensor.device.device_type = 8;  // Metal
  EXPECT_THROW(from_dlpack<float>(&tensor), DeviceError);
  tensor.dl_tensor.device.device_type = 1;
  tensor.dl_tensor.byte_offset = 1;
  EXPECT_THROW(from_dlpack<float>(&tensor), ValueError);
  tensor.dl_tensor.byte_offset = 0;
  tensor.version.major = 2;
  EXPECT_THROW(from_dlpack<float>(&tensor), ValueError);
  const A x = ones<float>({2, 2});
  EXPECT_THROW(grad([](const A& x) { return to_dlpack(x), sum(x); })(x), ValueError);
  EXPECT_THROW(vmap([](const A& x) { return to_dlpack(x), x; })(x), ValueError);
}

}  // namespace interchange_test
