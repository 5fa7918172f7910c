#include "both_devices.hpp"

// Counts and sums in bins, histograms, and different elements of a given number.
namespace bins_test {

using namespace nax;
using namespace both_devices;

// Numbers of few bins, many of them each.
Array<int> numbers(int n, int below) {
  std::vector<int> values;
  for (int i = 0; i < n; ++i) values.push_back(i * 7919 % 10007 % below);
  return asarray(values.data(), {n});
}

TEST(BinsOnGpu, Counts) {
  for (const int n : {0, 1, 5, 300, 5000})
    expect_same([&](auto put) { return bincount(put(numbers(n, 9)), {.length = 7}); });
  expect_same([&](auto put) { return bincount(put(numbers(300, 250))); });
  expect_same([&](auto put) { return bincount(put(numbers(300, 250).astype<std::uint8_t>())); });
  expect_same([&](auto put) { return bincount(put(numbers(300, 2).astype<bool>())); });
  expect_same([&](auto put) {
    return vmap([](const Array<int>& x) { return bincount(x, {.length = 5}); })(
        put(numbers(60, 5).reshape({4, 15})));
  });
}

TEST(BinsOnGpu, Sums) {
  for (const int n : {0, 1, 5, 300, 5000})
    expect_same([&](auto put) { return bincount(put(numbers(n, 9)), put(waves(n)), {.length = 7}); }, 1e-5);
  expect_same([&](auto put) { return bincount(put(numbers(300, 9)), put(waves(300).astype<double>())); },
              1e-13);
  expect_same([&](auto put) { return bincount(put(numbers(300, 9)), put(waves(300).astype<nax::half>())); },
              1e-2);
  expect_same(
      [&](auto put) {
        const Array<int> bins = put(numbers(30, 9));
        return grad([&](const Array<float>& w) { return sum(square(bincount(bins, w, {.length = 7}))); })(
            put(waves(30)));
      },
      1e-5);
}

TEST(BinsOnGpu, Histograms) {
  expect_same([&](auto put) { return histogram(put(waves(500))).hist; });
  expect_same([&](auto put) { return histogram(put(waves(500))).bin_edges; }, 1e-6);
  expect_same([&](auto put) { return histogram(put(waves(500)), {.bins = {-1, 0, .5, 1}}).hist; });
  expect_same([&](auto put) { return histogram(put(waves(500)), {.bins = "sturges"}).hist; });
  expect_same([&](auto put) { return histogram(put(numbers(500, 30))).hist; });
  expect_same([&](auto put) {
    return vmap([](const Array<float>& x) { return histogram(x, {.bins = 4}).hist; })(
        put(waves(60).reshape({3, 20})));
  });
  expect_same([&](auto put) {
    return histogram2d(put(waves(200)), put(waves(400)(slice(200, 400))), {.bins = {3, 4}}).H;
  });
  expect_same([&](auto put) {
    const auto f = jit([](const Array<float>& x) { return histogram(x, {.bins = 5}).hist; });
    f(put(waves(40) * 2.f));
    return f(put(waves(40)));
  });
}

TEST(BinsOnGpu, HistogramsRefuseEdgesThatDescend) {
  expect_same_error<ValueError>([&](auto put) {
    histogram(put(waves(20)), {.bins = put(Array<float>{0.f, 1.f, .5f})});
  });
  expect_same_error<ValueError>([&](auto put) {
    histogram(put(Array<float>{0.f, std::numeric_limits<float>::infinity()}));
  });
}

TEST(BinsOnGpu, DifferentElements) {
  expect_same([&](auto put) { return unique(put(numbers(50, 9)), {.size = 12, .fill_value = -1}); });
  expect_same([&](auto put) { return unique(put(round(waves(50) * 3.f)), {.size = 4}); });
  expect_same([&](auto put) { return unique(put(zeros<float>({0})), {.size = 2, .fill_value = 1.f}); });
  expect_same([&](auto put) {
    return vmap([](const Array<int>& x) { return unique(x, {.size = 3, .fill_value = 7}); })(
        put(numbers(24, 5).reshape({4, 6})));
  });
}

}  // namespace bins_test
