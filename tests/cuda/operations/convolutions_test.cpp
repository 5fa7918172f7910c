#include "both_devices.hpp"
#include "nax/devices/cuda/conv/conv_kernels.hpp"

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
  expect({2, 5, 4, 4}, {3, 2, 1, 4}, 4, {2, 1}, {1, 2});  // channels in pieces
  expect({2, 5, 4, 12}, {3, 2, 1, 12}, 12);
  expect({2, 5, 4, 8}, {3, 2, 1, 16}, 8);
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

// Channels move in pieces of 16 bytes where those of a group divide into such.
TEST(ConvolutionsOnGpu, OfChannelsInPieces) {
  for (const std::int64_t channels : {2, 4, 5, 8, 12}) {
    const auto expect = [&]<class T>(std::type_identity<T>, double tolerance) {
      expect_same_convolution<T>({2, 7, 6, channels}, {3, 5, channels, 3}, {1, 1}, "SAME",
                                 {.dimension_numbers = nhwc}, tolerance);
      expect_same_convolution<T>({2, 7, 6, channels}, {2, 3, channels, 3}, {2, 3}, {{1, 2}, {-1, 3}},
                                 {.lhs_dilation = {1, 3}, .rhs_dilation = {2, 1}, .dimension_numbers = nhwc},
                                 tolerance);
    };
    expect(std::type_identity<float>(), 1e-5);
    expect(std::type_identity<double>(), 1e-13);
  }
}

// Rows of y whose patches do not fit into the memory go block by block; blocks begin within images. Operands
// begin `shift` elements behind addresses that pieces may have.
void expect_blocks_of_rows_to_add_up(std::int64_t channels, std::int64_t shift) {
  cpu::provide<cpu::ConvKernel, float>();
  const Device cpu = devices("cpu")[0];
  loops::ConvGeometry s;
  s.n = 3, s.c = channels, s.o = 6, s.groups = 2;
  s.in[1] = 5, s.in[2] = 4, s.kernel[1] = 3, s.kernel[2] = 2, s.out[1] = 4, s.out[2] = 5;
  s.stride[1] = 2, s.low[1] = 1, s.low[2] = 1, s.lhs[1] = 2;
  const auto x = numbers<float>({shift + 3 * 5 * 4 * channels}, 1),
             w = numbers<float>({shift + 3 * 2 * channels / 2 * 6}, 2),
             y = numbers<float>({shift + 3 * 4 * 5 * 6}, 3);
  using loops::ConvPart;
  const auto compare = [&](ConvPart part, const Array<float>& a, const Array<float>& b,
                           const Array<float>& begin, std::int64_t rows) {
    const auto run = [&](Device device, const auto& convolve) {
      const Array<float> to = copy(device_put(begin, device)), left = device_put(a, device),
                         right = device_put(b, device);
      const auto data = [&](const Array<float>& array) {
        return detail::device_data(array) + shift * static_cast<std::int64_t>(sizeof(float));
      };
      convolve(device, data(left), data(right), data(to));
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
TEST(ConvolutionsOnGpu, BlocksOfRowsAddUp) {
  for (const std::int64_t channels : {16, 18})
    for (const std::int64_t shift : {0, 1}) expect_blocks_of_rows_to_add_up(channels, shift);
}

// All counts, and what padding, strides and dilations make of them, are to be below 2^31.
TEST(ConvolutionsOnGpu, IndicesOf32BitsOnlyWhereAllFit) {
  loops::ConvGeometry s;
  s.n = 2, s.c = 64, s.in[2] = 1 << 20, s.kernel[2] = 3, s.out[2] = 1 << 20, s.low[2] = 1;
  EXPECT_TRUE(cuda::is_narrow_conv(s, 1 << 20));
  EXPECT_FALSE(cuda::is_narrow_conv(s, std::int64_t{1} << 24));
  const auto expect_wide = [&](auto change) {
    loops::ConvGeometry wide = s;
    change(wide);
    EXPECT_FALSE(cuda::is_narrow_conv(wide, 1 << 20));
  };
  expect_wide([](auto& g) { g.n = 32; });
  expect_wide([](auto& g) { g.stride[2] = 2048; });
  expect_wide([](auto& g) { g.lhs[2] = 2048; });
  expect_wide([](auto& g) { g.rhs[2] = 1 << 30; });
  expect_wide([](auto& g) { g.low[2] = -(std::int64_t{1} << 31); });
  expect_wide([](auto& g) { g.stride[0] = std::int64_t{1} << 40; });
}

// Indices of 64 bits, which no array here needs, give the same patches and sums.
TEST(ConvolutionsOnGpu, IndicesOf64Bits) {
  loops::ConvGeometry g;
  g.n = 2, g.c = 6, g.groups = 2, g.in[1] = 5, g.in[2] = 4, g.kernel[1] = 3, g.kernel[2] = 2, g.out[1] = 3,
  g.out[2] = 4;
  g.stride[1] = 2, g.low[1] = 1, g.low[2] = 1, g.rhs[2] = 2;
  const std::int64_t rows = g.rows(), size = rows * g.taps() * g.c;
  const auto x = numbers<float>({2 * 5 * 4 * 6}, 1), patches = numbers<float>({size}, 2);
  using Unit = cuda::Piece<4>;
  const auto unit = [](const Array<float>& array) {
    return reinterpret_cast<Unit*>(detail::device_data(array));
  };
  const Array<float> from = device_put(x, gpu()), sums = copy(from), wide_sums = copy(from),
                     gathered = device_put(patches, gpu()), wide_gathered = copy(gathered);
  cuda::launch_gather_patches<float>(gpu(), g, 0, rows, reinterpret_cast<const float*>(unit(from)),
                                     reinterpret_cast<float*>(unit(gathered)));
  const cuda::ConvLoop wide(g);
  constexpr std::int64_t step = 5;  // a thread takes rows that lie so far apart
  cuda::launch(gpu(), step * (size / rows),
               cuda::GatherPatches<Unit, std::int64_t>{wide, 0, rows, step, unit(from), unit(wide_gathered)});
  expect_near(gathered, wide_gathered, 0);
  cuda::launch_sum_patches<float>(gpu(), g, 0, rows, reinterpret_cast<const float*>(unit(gathered)),
                                  reinterpret_cast<float*>(unit(sums)));
  cuda::launch(gpu(), x.size(),
               cuda::SumPatches<float, 1, std::int64_t>{wide, 0, rows, 0, unit(gathered), unit(wide_sums)});
  expect_near(sums, wide_sums, 0);

  g.groups = 6, g.o = 6;
  const Array<float> w = device_put(numbers<float>({g.taps() * 6}, 3), gpu()), y = zeros<float>({rows * 6}),
                     to = device_put(y, gpu()), wide_to = copy(to), wide_w = copy(w);
  const auto floats = [&](const Array<float>& array) { return reinterpret_cast<float*>(unit(array)); };
  const auto narrow = [&](loops::ConvPart part, const auto& a, const auto& b, const auto& c) {
    cuda::launch_direct_convolve<float>(gpu(), part, g, floats(a), floats(b), floats(c), false);
  };
  const cuda::ConvLoop depthwise(g);
  narrow(loops::ConvPart::forward, from, w, to);
  cuda::launch(gpu(), rows * 6,
               cuda::DirectForward<float, 1, std::int64_t>{{depthwise, unit(from), unit(w), unit(wide_to)}});
  expect_near(to, wide_to, 0);
  narrow(loops::ConvPart::input, to, w, sums);
  cuda::launch(gpu(), x.size(),
               cuda::DirectInput<float, 1, std::int64_t>{{depthwise, unit(to), unit(w), unit(wide_sums)}});
  expect_near(sums, wide_sums, 0);
  narrow(loops::ConvPart::weights, from, to, w);
  cuda::launch_teams(
      gpu(), w.size(), cuda::row_threads(rows),
      cuda::DirectWeights<float, std::int64_t>{depthwise, floats(from), floats(to), floats(wide_w), false});
  expect_near(w, wide_w, 0);
}

}  // namespace convolutions_test
