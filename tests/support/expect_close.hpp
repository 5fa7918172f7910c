#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

// Numbers against numbers: |got - want| <= tolerance * max(|want|, scale); NaN meets NaN, an infinity its
// like.
namespace support {

inline void expect_close(const std::string& what, const std::vector<double>& got,
                         const std::vector<double>& want, double tolerance, double scale) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    ASSERT_TRUE(std::isfinite(want[i]))
        << what << ", element " << i << ": " << got[i] << " is not " << want[i];
    EXPECT_LE(std::abs(got[i] - want[i]), tolerance * std::max(std::abs(want[i]), scale))
        << what << ", element " << i << ": " << got[i] << " is not " << want[i];
  }
}

}  // namespace support
