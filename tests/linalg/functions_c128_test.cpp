#include "linalg/golden_functions.hpp"

TEST(LinalgRecords, FunctionsOfComplex128) { linalg_records::check_functions<std::complex<double>>(); }
TEST(LinalgRecords, GradientsOfComplex128) { linalg_records::check_gradients<std::complex<double>>(); }
