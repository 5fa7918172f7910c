#include "both_devices.hpp"
#include "nax/devices/cuda/conv/window_kernels.hpp"

// Pooling on a GPU: values and gradients against the CPU's.
namespace pooling_test {

using namespace nax;
using namespace both_devices;

const Shape images = {2, 5, 6, 3};
Array<float> image() { return waves(180).reshape(images); }

template <class T>
void expect_same_extrema(const Array<T>& x, const Shape& window, const nn::PoolOptions& options) {
  expect_same([&](auto put) { return nn::max_pool(put(x), window, options); });
  expect_same([&](auto put) { return nn::min_pool(put(x), window, options); });
}

TEST(PoolingOnGpu, ExtremaOfAllTypes) {
  const nn::PoolOptions options{.strides = {2, 1}, .padding = "SAME"};
  const Array<float> x = round(image() * 4);  // with equal elements
  expect_same_extrema<float>(x, {2, 3}, options);
  expect_same_extrema<double>(x.astype<double>(), {2, 3}, options);
  expect_same_extrema<nax::half>(x.astype<nax::half>(), {2, 3}, options);
  expect_same_extrema<bfloat16>(x.astype<bfloat16>(), {2, 3}, options);
  expect_same_extrema<std::int8_t>(x.astype<std::int8_t>(), {2, 3}, options);
  expect_same_extrema<std::uint64_t>((x + 4).astype<std::uint64_t>(), {2, 3}, options);
}

TEST(PoolingOnGpu, ExtremaOfNansAndEmptyWindows) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Array<float> x = Array<float>{1, nan, 3, nan, nan, -inf, -inf, 2, inf}.reshape({1, 9, 1});
  expect_same_extrema<float>(x, {2}, {});
  expect_same_extrema<float>(x, {3}, {.strides = {2}, .padding = {{4, 5}}});
  expect_same_extrema<float>(zeros<float>({0, 4, 4, 2}), {2, 2}, {});
  expect_same_extrema<float>(zeros<float>({2, 0, 2}), {2}, {.padding = {{2, 2}}});
}

TEST(PoolingOnGpu, ExtremaOverManyAxes) {
  expect_same_extrema<float>(waves(60).reshape({2, 15, 2}), {4}, {.strides = {3}});
  expect_same_extrema<float>(waves(240).reshape({2, 3, 4, 5, 2}), {2, 2, 3}, {.padding = "SAME"});
  expect_same_extrema<float>(waves(960).reshape({2, 3, 2, 4, 5, 2, 2}), {2, 1, 3, 2, 2},
                             {.strides = {1, 1, 2, 1, 1}, .padding = "SAME"});
}

// Neighbouring channels go together where they are a multiple of two or four, at addresses that 16 bytes
// divide.
TEST(PoolingOnGpu, ChannelsInPieces) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t channels : {1, 2, 3, 4, 6, 8, 12}) {
    const std::int64_t size = 2 * 5 * 7 * channels;
    Array<float> x = round(waves(static_cast<int>(size) + 1) * 3);
    x = where(x == 2.0f, nan, x);
    for (const std::int64_t begin : {0, 1}) {
      SCOPED_TRACE(std::to_string(channels) + " channels from " + std::to_string(begin));
      const auto expect = [&]<class T>(std::type_identity<T>) {
        const Array<T> numbers = x.astype<T>();
        const auto pool = [&](auto put, const Shape& window, const nn::PoolOptions& options) {
          const Array<T> batch =
              Array<T>(put(numbers)(slice(begin, begin + size))).reshape({2, 5, 7, channels});
          return std::pair(Array<T>(nn::max_pool(batch, window, options)),
                           Array<T>(nn::min_pool(batch, window, options)));
        };
        for (const Shape& window : {Shape{2, 2}, Shape{3, 5}, Shape{1, 7}}) {
          const nn::PoolOptions valid{.strides = {2, 2}}, same{.strides = {1, 2}, .padding = "SAME"};
          for (const nn::PoolOptions& options : {valid, same}) {
            expect_same([&](auto put) { return pool(put, window, options).first; });
            expect_same([&](auto put) { return pool(put, window, options).second; });
          }
        }
      };
      expect(std::type_identity<float>());
      expect(std::type_identity<double>());
      expect(std::type_identity<nax::half>());
      expect(std::type_identity<bfloat16>());
    }
  }
}

// Where the best elements lie is what gradients tell.
TEST(PoolingOnGpu, GradientsOfChannelsInPieces) {
  for (const std::int64_t channels : {4, 6, 8}) {
    const Array<float> x = round(waves(static_cast<int>(210 * channels)) * 3).reshape({6, 5, 7, channels});
    expect_same([&](auto put) {
      return grad([](const Array<float>& a) {
        return sum(square(nn::max_pool(a, {2, 3}, {.strides = {2, 1}, .padding = "SAME"})));
      })(put(x));
    });
    expect_same([&](auto put) {
      return vmap([](const Array<float>& a) { return nn::min_pool(a, {2, 2}); }, {.in_axes = {1}})(put(x));
    });
  }
}

TEST(PoolingOnGpu, IndicesOf32BitsOnlyWhereAllFit) {
  const auto dims = [](std::int64_t first, std::int64_t second) {
    Dims both(1, first);
    both.push_back(second);
    return both;
  };
  loops::Windows s;
  s.in = s.out = dims(1 << 20, 64), s.window = dims(3, 1), s.low = s.high = dims(1, 0);
  s.strides = s.base = s.dilation = dims(1, 1);
  EXPECT_TRUE(cuda::are_narrow_windows(s, 8));
  EXPECT_FALSE(cuda::are_narrow_windows(s, 32));
  const auto expect_wide = [&](auto change) {
    loops::Windows wide = s;
    change(wide);
    EXPECT_FALSE(cuda::are_narrow_windows(wide, 8));
  };
  expect_wide([](auto& w) { w.strides[0] = 2048; });
  expect_wide([](auto& w) { w.strides[1] = std::int64_t{1} << 40; });
  expect_wide([](auto& w) { w.dilation[0] = 1 << 30; });
  expect_wide([](auto& w) { w.low[0] = -(std::int64_t{1} << 31); });
}

template <class Pool>
void expect_same_gradients(const Pool& pool) {
  const Array<float> by = waves(static_cast<int>(pool(image()).size())).reshape(pool(image()).shape());
  expect_same(
      [&](auto put) {
        return grad([&, w = put(by)](const Array<float>& x) { return sum(pool(x) * w); })(put(image()));
      },
      1e-6);
  const Array<float> several = waves(360).reshape({2, 2, 5, 6, 3});
  expect_same(
      [&](auto put) {
        return vmap([&](const Array<float>& x) { return pool(x); }, {.in_axes = {1}})(put(several));
      },
      1e-6);
}
TEST(PoolingOnGpu, GradientsOfExtrema) {
  expect_same_gradients([](const Array<float>& x) { return nn::max_pool(x, {2, 2}, {.strides = {2, 2}}); });
  expect_same_gradients([](const Array<float>& x) { return nn::min_pool(x, {3, 2}, {.padding = "SAME"}); });
}

TEST(PoolingOnGpu, Means) {
  for (const bool count_include_pad : {true, false}) {
    const auto pool = [&](const auto& x) {
      return nn::avg_pool(x, {2, 3},
                          {.strides = {2, 1}, .padding = "SAME", .count_include_pad = count_include_pad});
    };
    expect_same([&](auto put) { return pool(put(image())); }, 1e-6);
    expect_same([&](auto put) { return pool(put(Array<nax::half>(image().astype<nax::half>()))); }, 1e-3);
    expect_same_gradients([&](const Array<float>& x) { return Array<float>(pool(x)); });
  }
}

TEST(PoolingOnGpu, MeansOfChannelsInPieces) {
  for (const std::int64_t channels : {1, 2, 4, 6, 8}) {
    const int size = static_cast<int>(2 * 5 * 7 * channels);
    for (const std::int64_t begin : {0, 1}) {
      const auto pool = [](const auto& x) {
        return nn::avg_pool(x, {2, 3}, {.strides = {2, 1}, .padding = "SAME"});
      };
      const auto expect = [&]<class T>(std::type_identity<T>, double tolerance) {
        const auto numbers = Array<T>(waves(size + 1).astype<T>());
        const auto batch = [=](const Array<T>& x) {
          return Array<T>(x(slice(begin, begin + size))).reshape({2, 5, 7, channels});
        };
        expect_same([&](auto put) { return Array<T>(pool(batch(put(numbers)))); }, tolerance);
        expect_same(
            [&](auto put) {
              return grad([&](const Array<T>& x) { return sum(square(pool(batch(x)))); })(put(numbers));
            },
            tolerance);
      };
      expect(std::type_identity<float>(), 1e-6);
      expect(std::type_identity<double>(), 1e-14);
    }
  }
}

}  // namespace pooling_test
