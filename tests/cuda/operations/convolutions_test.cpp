#include "both_devices.hpp"
#include "nax/backend/cuda/conv_kernels.hpp"

// Convolutions on a GPU: values and gradients against the CPU's.
namespace convolutions_test {

using namespace nax;
using namespace both_devices;
using lax::ConvOptions;

template <class T>
Array<T> numbers(const Shape& shape, int seed) {
  const int n = static_cast<int>(detail::count_elements("numbers", shape));
  return Array<T>(sin(waves(n) * 5 + static_cast<float>(seed)).template astype<T>()).reshape(shape);
}

// The value, and the gradients of a sum that weighs its elements.
template <class T>
void expect_same_convolution(const Shape& x_shape, const Shape& w_shape, const Shape& strides,
                             const lax::Padding& padding, const ConvOptions& options, double tolerance) {
  SCOPED_TRACE(to_string(x_shape) + " and " + to_string(w_shape));
  const auto x = numbers<T>(x_shape, 1), w = numbers<T>(w_shape, 2);
  const auto conv = [&](const Array<T>& a, const Array<T>& b) {
    return lax::conv_general_dilated(a, b, strides, padding, options);
  };
  const Array<T> weights = numbers<T>(conv(x, w).shape(), 3);
  expect_same([&](auto put) { return conv(put(x), put(w)); }, tolerance);
  for (int operand = 0; operand < 2; ++operand) {
    SCOPED_TRACE("gradient in operand " + std::to_string(operand));
    expect_same(
        [&](auto put) {
          const auto loss = [&, by = put(weights)](const Array<T>& a, const Array<T>& b) {
            return sum(conv(a, b) * by);
          };
          return operand == 0 ? grad<0>(loss)(put(x), put(w)) : grad<1>(loss)(put(x), put(w));
        },
        tolerance);
  }
}

const lax::DimensionNumbers nwc{"NWC", "WIO", "NWC"}, nhwc{"NHWC", "HWIO", "NHWC"},
    ndhwc{"NDHWC", "DHWIO", "NDHWC"};

template <class T>
void expect_same_convolutions(double tolerance) {
  const auto expect = [&](const Shape& x, const Shape& w, const Shape& strides, const lax::Padding& padding,
                          const ConvOptions& options) {
    expect_same_convolution<T>(x, w, strides, padding, options, tolerance);
  };
  expect({2, 9, 3}, {3, 3, 4}, {2}, "SAME", {.dimension_numbers = nwc});
  expect({2, 3, 6, 5}, {4, 3, 3, 2}, {1, 2}, "SAME", {});
  expect({1, 4, 3, 5, 2}, {2, 2, 3, 2, 3}, {1, 2, 1}, "VALID", {.dimension_numbers = ndhwc});
  expect({2, 4, 3, 5}, {1, 1, 5, 6}, {1, 1}, "VALID", {.dimension_numbers = nhwc});
  expect({2, 4, 5, 2}, {2, 2, 2, 3}, {2, 1}, {{1, 1}, {1, 0}},
         {.lhs_dilation = {2, 3}, .rhs_dilation = {2, 3}, .dimension_numbers = nhwc});
  expect({1, 6, 6, 2}, {2, 2, 2, 2}, {1, 1}, {{-1, 2}, {1, -2}}, {.dimension_numbers = nhwc});
  expect({4, 5, 5, 2}, {3, 3, 2, 4}, {1, 1}, "SAME", {.dimension_numbers = nhwc, .batch_group_count = 2});
}
TEST(ConvolutionsOnGpu, OfRanksStridesDilationsAndPaddings) {
  expect_same_convolutions<float>(1e-5);
  expect_same_convolutions<double>(1e-13);
}
TEST(ConvolutionsOnGpu, OfHalfTypes) {
  expect_same_convolution<nax::half>({2, 6, 5, 3}, {3, 2, 3, 4}, {1, 2}, "SAME", {.dimension_numbers = nhwc},
                                     2e-3);
  expect_same_convolution<bfloat16>({2, 6, 5, 3}, {3, 2, 3, 4}, {1, 2}, "SAME", {.dimension_numbers = nhwc},
                                    2e-2);
}

// Groups of few channels are computed without patches, those of eight with them.
TEST(ConvolutionsOnGpu, OfGroups) {
  const auto expect = [](const Shape& x, const Shape& w, std::int64_t groups, const Shape& lhs = {},
                         const Shape& rhs = {}) {
    expect_same_convolution<float>(
        x, w, {2, 1}, {{1, 2}, {2, 1}},
        {.lhs_dilation = lhs, .rhs_dilation = rhs, .dimension_numbers = nhwc, .feature_group_count = groups},
        1e-5);
  };
  expect({2, 5, 4, 3}, {3, 2, 1, 3}, 3);
  expect({2, 5, 4, 3}, {3, 2, 1, 6}, 3, {2, 1}, {1, 2});
  expect({2, 5, 4, 4}, {3, 2, 2, 6}, 2);
  expect({2, 5, 4, 16}, {3, 2, 8, 6}, 2);
  expect({2, 5, 4, 24}, {3, 2, 8, 3}, 3, {1, 2}, {2, 1});
  expect({2, 5, 4, 16}, {1, 1, 8, 6}, 2);
  // So many rows that a block of threads shares the sum of a weight.
  expect_same_convolution<double>({2, 25, 50, 3}, {3, 2, 1, 3}, {1, 1}, "SAME",
                                  {.dimension_numbers = nhwc, .feature_group_count = 3}, 1e-12);
}

TEST(ConvolutionsOnGpu, OfEmptyOperands) {
  for (const Shape& x : {Shape{0, 4, 4, 2}, Shape{2, 4, 4, 0}, Shape{2, 0, 4, 2}, Shape{2, 1, 4, 2}})
    for (const std::int64_t out : {3, 0})
      expect_same_convolution<float>(x, {3, 3, x[3], out}, {1, 1}, "VALID", {.dimension_numbers = nhwc}, 0);
  expect_same_convolution<float>({2, 0, 4, 2}, {3, 3, 2, 3}, {1, 1}, {{2, 2}, {0, 0}},
                                 {.dimension_numbers = nhwc}, 0);
}

TEST(ConvolutionsOnGpu, UnderVmapAndJit) {
  const auto x = numbers<float>({3, 2, 6, 5, 2}, 1), w = numbers<float>({3, 3, 2, 2, 4}, 2);
  const auto conv = [](const Array<float>& a, const Array<float>& b) {
    return nn::conv(a, b, {.padding = "SAME"});
  };
  expect_same([&](auto put) { return vmap(conv)(put(x), put(w)); }, 1e-5);
  const auto gradient = [&](const Array<float>& a, const Array<float>& b) {
    return grad<1>([&](const Array<float>& u, const Array<float>& v) { return sum(square(conv(u, v))); })(a,
                                                                                                          b);
  };
  expect_same([&](auto put) { return vmap(gradient)(put(x), put(w)); }, 1e-5);
  const auto fast = jit(gradient);
  for (int i = 0; i < 3; ++i)
    expect_same(
        [&](auto put) { return Array<float>(fast(put(Array<float>(x(i))), put(Array<float>(w(i))))); }, 1e-5);
}

// Rows of y whose patches do not fit into the memory go block by block; blocks begin within images.
TEST(ConvolutionsOnGpu, BlocksOfRowsAddUp) {
  cpu::provide<cpu::ConvKernel, float>();
  const Device cpu = devices("cpu")[0];
  loops::ConvGeometry s;
  s.n = 3, s.c = 16, s.o = 6, s.groups = 2;
  s.in[1] = 5, s.in[2] = 4, s.kernel[1] = 3, s.kernel[2] = 2, s.out[1] = 4, s.out[2] = 5;
  s.stride[1] = 2, s.low[1] = 1, s.low[2] = 1, s.lhs[1] = 2;
  const auto x = numbers<float>({3 * 5 * 4 * 16}, 1), w = numbers<float>({3 * 2 * 8 * 6}, 2),
             y = numbers<float>({3 * 4 * 5 * 6}, 3);
  using loops::ConvPart;
  const auto compare = [&](ConvPart part, const Array<float>& a, const Array<float>& b,
                           const Array<float>& begin, std::int64_t rows) {
    const auto run = [&](Device device, const auto& convolve) {
      const Array<float> to = copy(device_put(begin, device)), left = device_put(a, device),
                         right = device_put(b, device);
      convolve(device, detail::device_data(left), detail::device_data(right), detail::device_data(to));
      return to;
    };
    const bool adds = part == ConvPart::weights;
    const auto expected = run(cpu, [&](Device device, const char* l, const char* r, char* to) {
      backend::run(device, ops::Convolve{part, s, DType::float32, adds}, {l, r, to});
    });
    const auto actual = run(gpu(), [&](Device device, const char* l, const char* r, char* to) {
      const std::int64_t row_bytes = s.taps() * s.c * static_cast<std::int64_t>(sizeof(float));
      cuda::launch_own_convolve(device, part, s, DType::float32, l, r, to, adds, rows * row_bytes);
    });
    expect_near(actual, expected, 1e-5);
  };
  for (const std::int64_t rows : {0, 1, 7, 20, 33, 60, 100}) {
    SCOPED_TRACE(rows);
    compare(ConvPart::forward, x, w, y, rows);
    compare(ConvPart::input, y, w, x, rows);
    compare(ConvPart::weights, x, y, w, rows);
  }
}

}  // namespace convolutions_test
