#include "linalg/golden_functions.hpp"

namespace functions_c128_test {

TEST(LinalgRecords, FunctionsOfComplex128) { linalg_records::check_functions<std::complex<double>>(); }
TEST(LinalgRecords, GradientsOfComplex128) { linalg_records::check_gradients<std::complex<double>>(); }

}  // namespace functions_c128_test
