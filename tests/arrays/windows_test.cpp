// Windows against NumPy's.

#include "nax/numpy/creation/windows.hpp"

#include "support/numpy_more.hpp"

namespace windows_test {

TEST(Windows, MatchNumPy) {
  for (const int n : {0, 1, 2, 7, 12}) {
    const std::string tag = "." + std::to_string(n) + "/f64/out";
    more::expect("bartlett" + tag, nax::bartlett<double>(n), 1e-15);
    more::expect("blackman" + tag, nax::blackman<double>(n), 1e-15);
    more::expect("hamming" + tag, nax::hamming<double>(n), 1e-15);
    more::expect("hanning" + tag, nax::hanning<double>(n), 1e-15);
  }
  more::expect("kaiser.1.5/f64/out", nax::kaiser<double>(1, 5));
  more::expect("kaiser.7.0/f64/out", nax::kaiser<double>(7, 0));
  more::expect("kaiser.8.3.5/f64/out", nax::kaiser<double>(8, 3.5));
  more::expect("kaiser.9.14/f64/out", nax::kaiser<double>(9, 14));
  more::expect("kaiser.6.-2/f64/out", nax::kaiser<double>(6, -2));
  EXPECT_EQ(nax::hanning(-3).size(), 0);
  EXPECT_EQ(nax::hamming(3).dtype(), nax::DType::float32);
}

}  // namespace windows_test
