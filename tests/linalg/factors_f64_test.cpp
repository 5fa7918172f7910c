#include "linalg/golden_factors.hpp"

TEST(LinalgRecords, FactorsOfDouble) { linalg_records::check_factors<double>(); }
