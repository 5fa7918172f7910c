#include "linalg/golden_factors.hpp"

namespace factors_c128_test {

TEST(LinalgRecords, FactorsOfComplex128) { linalg_records::check_factors<std::complex<double>>(); }

}  // namespace factors_c128_test
