#include "both_devices.hpp"

// Sums of many tenths on a GPU: each addition rounds the same way, which long chains add up.
namespace long_sums_test {

using namespace nax;
using namespace both_devices;

TEST(LongSumsOnGpu, Reductions) {
  const std::int64_t rows = 256, columns = 1 << 15;
  const Array<float> x = device_put(eval(full({rows, columns}, .1f)), gpu());
  const auto expect = [](const Array<float>& sums, std::int64_t terms) {
    for (const float v : sums.to_vector())
      ASSERT_NEAR(double{v}, double{.1f} * static_cast<double>(terms), 1e-7 * static_cast<double>(terms));
  };
  expect(sum(x, {.axis = 0}), rows);
  expect(sum(x, {.axis = 1}), columns);
  expect(sum(x).reshape({1}), rows * columns);
  expect(sum(x * 1.f, {.axis = 0}), rows);
  const auto of_row = grad([&](const Array<float>& b) { return sum(x * b); });
  expect(of_row(device_put(zeros<float>({columns}), gpu())), rows);
}

TEST(LongSumsOnGpu, RunningSums) {
  const std::int64_t rows = 256, columns = 1 << 14;
  const Array<float> x = device_put(eval(full({rows, columns}, .1f)), gpu());
  const auto last = cumsum(x, {.axis = 0})(rows - 1).to_vector();
  for (const float v : last) ASSERT_NEAR(double{v}, double{.1f} * rows, 1e-7 * rows);
  const auto line = cumsum(x)(slice(-3, none)).to_vector();
  const double all = static_cast<double>(rows * columns);
  ASSERT_NEAR(double{line[2]}, double{.1f} * all, 1e-7 * all);
}

TEST(LongSumsOnGpu, SumsInBins) {
  constexpr std::int64_t n = 1 << 20;
  const Array<int> bins = device_put(eval(zeros<int>({n})), gpu());
  const Array<float> sums = bincount(bins, device_put(eval(full({n}, .1f)), gpu()), {.length = 1});
  ASSERT_NEAR(double{sums.to_vector()[0]}, double{.1f} * n, 1e-7 * n);
}

}  // namespace long_sums_test
