#include "linalg/golden_factors.hpp"

TEST(LinalgRecords, FactorsOfComplex128) { linalg_records::check_factors<std::complex<double>>(); }
