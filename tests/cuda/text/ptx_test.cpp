#include <gtest/gtest.h>

#include "cuda/ptx/grid.hpp"
#include "cuda/text/texts.hpp"
#include "nax/devices/cuda/text/nvrtc.hpp"

// Device code of texts, run without a card: NVRTC compiles them as far as PTX, which the interpreter runs.
// Steps have the CPU's bits; functions of CUDA's library are compared by their last places.
namespace text_ptx_test {

using namespace texts;

class Device {
 public:
  explicit Device(const std::string& text) : module_(nax::cuda::Nvrtc::get().compile(text, "compute_90")) {}

  // Runs kernel k on 3 blocks of 32 threads, so that threads stride.
  void run(int k, const std::vector<std::uint64_t>& words) {
    ptx::Launch launch;
    launch.module = &module_;
    launch.kernel = module_.entry("formula_" + std::to_string(k));
    ASSERT_NE(launch.kernel, nullptr) << k;
    launch.blocks = {3, 1, 1};
    launch.threads = {32, 1, 1};
    const char* const bytes = reinterpret_cast<const char*>(words.data());
    launch.params.assign(bytes, bytes + 8 * words.size());
    launch.allocation = [](const char* address, std::size_t n) {
      return ptx::Extent{address, address + n, {}};
    };
    ptx::run(launch);
  }

 private:
  ptx::Module module_;
};

// Differences of numbers below 1, and of larger ones in parts of them.
template <class T>
double worst_error(const std::vector<std::vector<T>>& a, const std::vector<std::vector<T>>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a[0].size(); ++i) {
    if (formulas::same_bits(a[0][i], b[0][i])) continue;
    const double error = static_cast<double>(std::abs(a[0][i] - b[0][i])) /
                         std::max(1.0, static_cast<double>(std::abs(a[0][i])));
    worst = error == error ? std::max(worst, error) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

template <class T>
void compare() {
  if (!nax::cuda::Nvrtc::is_present()) GTEST_SKIP() << "libnvrtc is not installed";
  const std::vector<Case> all = cases<T>();
  TextFile file;
  for (const Case& c : all) file.add(c.lowered);
  Device device(file.text());
  const auto inputs = case_inputs<T>();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Case& c = all[k];
    std::vector<std::vector<T>> results;
    ASSERT_NO_THROW(results =
                        results_by<T>(c.lowered, inputs,
                                      [&](const auto& words) { device.run(static_cast<int>(k), words); }))
        << c.name;
    const auto expected = expected_results<T>(c.lowered, inputs);
    if (!c.by_library && nax::simd::fused)
      EXPECT_EQ(formulas::difference(expected, results), "") << c.name << "\n" << c.lowered.text();
    else if (c.name == "lgamma" || c.name == "polygamma")  // of many last places near its zeros, as CUDA says
      EXPECT_LE(worst_error(expected, results), 20 * std::numeric_limits<T>::epsilon());
    else
      EXPECT_LE(worst_ulps(expected, results), 12) << c.name << "\n" << c.lowered.text();
  }
}
TEST(TextAsPtx, FloatsHaveTheCpusBits) { compare<float>(); }
TEST(TextAsPtx, DoublesHaveTheCpusBits) { compare<double>(); }

}  // namespace text_ptx_test
