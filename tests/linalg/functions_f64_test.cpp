#include "linalg/golden_functions.hpp"

namespace functions_f64_test {

TEST(LinalgRecords, FunctionsOfDouble) { linalg_records::check_functions<double>(); }
TEST(LinalgRecords, GradientsOfDouble) { linalg_records::check_gradients<double>(); }

}  // namespace functions_f64_test
