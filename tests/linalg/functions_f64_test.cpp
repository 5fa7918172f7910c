#include "linalg/golden_functions.hpp"

TEST(LinalgRecords, FunctionsOfDouble) { linalg_records::check_functions<double>(); }
TEST(LinalgRecords, GradientsOfDouble) { linalg_records::check_gradients<double>(); }
