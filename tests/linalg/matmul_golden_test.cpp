#include "nax/numpy/products/matmul.hpp"
#include "reductions/check.hpp"

namespace matmul_golden_test {

template <class T>
void one(const std::string& shapes) {
  const std::string name = "matmul." + shapes + "/" + check::tag<T>();
  check::expect(name, nax::matmul(check::input<T>(name + "/in0"), check::input<T>(name + "/in1")));
}

TEST(MatmulGolden, RanksAndBatches) {
  for (const char* shapes :
       {"4.4", "3x4.4", "4.4x5", "3x4.4x5", "2x3x4.4", "4.2x4x5", "2x3x4.4x5", "3x4.2x4x5", "2x3x4.2x4x5",
        "2x1x3x4.5x4x2", "1x3x4.6x4x2", "0x4.4x5", "3x0.0x5", "0x3x4.4x2", "17x33.33x19", "1x1.1x1"}) {
    one<float>(shapes);
    one<double>(shapes);
  }
}

TEST(MatmulGolden, EveryType) {
  one<nax::half>("2x3.3x2");
  one<nax::bfloat16>("2x3.3x2");
  one<std::int8_t>("2x3.3x2");
  one<std::int32_t>("2x3.3x2");
  one<std::int64_t>("2x3.3x2");
  one<std::complex<float>>("2x3.3x2");
  one<std::complex<double>>("2x3.3x2");
}

}  // namespace matmul_golden_test
