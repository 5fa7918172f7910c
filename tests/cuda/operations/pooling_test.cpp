#include "both_devices.hpp"

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

}  // namespace pooling_test
