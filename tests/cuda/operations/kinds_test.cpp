// Switches over enums: each enumerator has a case, and a value that has none is refused.

#include <gtest/gtest.h>

#include "nax/devices/cuda/draws/draw_kernels.hpp"
#include "nax/devices/cuda/reduce/reduce_kernels.hpp"
#include "nax/nax.hpp"
#include "support/text_of.hpp"

namespace kinds_test {
using namespace nax;

// A draw without a form for its dtype is an error, not a draw of another type.
TEST(Kinds, DrawsWithoutAFormAreRefused) {
  const Device gpu = devices("cuda")[0];
  const Array<float> out = device_put(zeros<float>({4}), gpu);
  const Array<std::int32_t> whole = device_put(zeros<std::int32_t>({4}), gpu);
  const auto draw = [&](detail::DrawKind kind, const ArrayBase& to) {
    detail::Draw one;
    one.kind = kind;
    cuda::DrawLauncher(gpu, one, {nullptr, 1}, 1, to.dtype(), 4, detail::device_data(to)).launch_all();
  };
  for (const auto kind : {detail::DrawKind::bits, detail::DrawKind::bernoulli, detail::DrawKind::integers})
    EXPECT_NE(text_of<DeviceError>([&] { draw(kind, out); }).find("float32"), std::string::npos);
  for (const auto kind : {detail::DrawKind::normal, detail::DrawKind::uniform, detail::DrawKind::cauchy})
    EXPECT_NE(text_of<DeviceError>([&] { draw(kind, whole); }).find("int32"), std::string::npos);
  draw(detail::DrawKind::rademacher, out);
  for (const float x : Array<float>(device_put(out, devices("cpu")[0])).to_vector())
    EXPECT_EQ(std::abs(x), 1);
}

TEST(Kinds, ComplexElementsAreLoadedAsNoOtherType) {
  const auto nothing = [](auto) {};
  EXPECT_NE(text_of<DeviceError>([&] { cuda::with_wide(DType::complex64, nothing); }).find("complex64"),
            std::string::npos);
}

// An unknown kind of reduction ends the program instead of computing a minimum.
TEST(KindsDeathTest, UnknownReductionsEndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  float from[2] = {1, 2}, to[1] = {0};
  const loops::Operand operands[] = {
      {reinterpret_cast<char*>(from), Dims(1, 1), DType::float32, DType::float32},
      {reinterpret_cast<char*>(to), Dims(1, 0), DType::float32, DType::float32}};
  EXPECT_DEATH(cuda::launch_reduce(devices("cuda")[0], static_cast<loops::ReduceKind>(9), Dims(1, 2),
                                   Dims(1, 1), operands[0], operands[1]),
               "");
}

}  // namespace kinds_test
