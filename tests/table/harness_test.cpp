// The checks of the table detect wrong functions.

#include "table/harness.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/transform/custom.hpp"

namespace harness_test {

std::string failures_of(const table::Row& row) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    table::check(row);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) text += results.GetTestPartResult(i).message();
  return text;
}

TEST(Harness, FindsWrongDerivatives) {
  const auto square = [](double factor) {
    return nax::custom_jvp(
        [](const table::Real& x) { return table::Real(x * x); },
        [factor](const auto& x, const auto& t) {
          const table::Real& at = std::get<0>(x);
          return std::pair{table::Real(at * at), table::Real(factor * at * std::get<0>(t))};
        });
  };
  const auto row = [&](double factor) {
    return table::unrecorded(table::row(
        "square", [f = square(factor)](const table::Operands& x) { return f(x[0]); }, {{{{2, 3}}}}));
  };
  EXPECT_EQ(failures_of(row(2)), "");
  EXPECT_NE(failures_of(row(1.9)).find("gradient against differences"), std::string::npos);
}

TEST(Harness, FindsFunctionsOfTheLayout) {
  const auto f = [](const table::Operands& x) {
    return x[0] * (nax::detail::layout_of(x[0]).is_contiguous() ? 1.0 : 2.0);
  };
  const table::Row row = table::unrecorded(table::row("layout", f, {{{{2, 3}}}}, table::Smooth::no));
  const std::string found = failures_of(row);
  EXPECT_NE(found.find("vmap against a loop"), std::string::npos) << found;
}

TEST(Harness, DetectsMissingRecords) {
  const table::Row row = table::row("sine", [](const table::Operands& x) { return nax::sin(x[0]); }, {});
  EXPECT_NE(failures_of(row).find("no record of sine"), std::string::npos);
}

}  // namespace harness_test
