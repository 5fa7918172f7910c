#include "linalg/golden_factors.hpp"

namespace factors_f64_test {

TEST(LinalgRecords, FactorsOfDouble) { linalg_records::check_factors<double>(); }

}  // namespace factors_f64_test
