// Values that another rounding would change, equal to NumPy's with and without FMA.

#include "elementwise/support.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/numpy/statistics/histogram.hpp"
#include "support/expect_close.hpp"

namespace one_rounding_test {

using elementwise::array_of, elementwise::numbers;
using A = nax::Array<double>;

const golden::Golden& record(const std::string& name) { return golden::get("numbers", name); }
std::vector<double> expected(const std::string& name) { return record(name).values; }

TEST(OneRounding, StepwiseQuantiles) {
  for (const char* method :
       {"inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
        "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"})
    for (const int n : {3, 7, 10, 49, 100}) {
      const std::string name = "quantile." + std::string(method) + "." + std::to_string(n) + "/f64";
      const A x = array_of<double>(record(name + "/in0")), q = array_of<double>(record(name + "/in1"));
      support::expect_close(name, numbers(A(nax::quantile(x, q.to_vector(), {.method = method}))),
                            expected(name + "/out"), 1e-13, .01);
      support::expect_close(name, numbers(A(nax::nanquantile(x, q.to_vector(), {.method = method}))),
                            expected(name + "/out"), 1e-13, .01);
    }
  EXPECT_EQ(A(nax::quantile(nax::arange<double>(10), .1, {.method = "inverted_cdf"})).item(), 0);
}
TEST(OneRounding, Ranges) {
  for (const auto& [start, stop, num] : {std::tuple{0, 3, 31}, {-7, 11, 37}, {0, 1, 50}, {3, -3, 61}}) {
    const std::string name = std::to_string(start) + "." + std::to_string(stop) + "." + std::to_string(num);
    EXPECT_EQ(numbers(nax::linspace<double>(start, stop, num)), expected("linspace." + name + "/f64/out"));
    EXPECT_EQ(numbers(nax::linspace<std::int32_t>(start, stop, num)),
              expected("linspace.whole." + name + "/i32/out"));
  }
}
TEST(OneRounding, EdgesOfBins) {
  for (const int bins : {3, 7, 10, 30}) {
    const std::string name = std::to_string(bins) + "/f64/";
    const A x = array_of<double>(record("histogram." + name + "in0"));
    const auto [count, edges] = nax::histogram(x, {.bins = bins});
    EXPECT_EQ(numbers(edges), expected("histogram." + name + "out"));
    EXPECT_EQ(numbers(count), expected("histogram.count." + name + "out"));
  }
}

}  // namespace one_rounding_test
