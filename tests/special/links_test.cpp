#include <gtest/gtest.h>

#include <nax/nax.hpp>

// Functions of numbers, which files with the engine only declare: a program that calls them links.
namespace links_test {
using namespace nax;

TEST(SpecialFunctions, OfNumbersAreInTheEngine) {
  const Array<double> x = {1};
  EXPECT_NEAR(special::i0e(x)(0).item(), 0.46575960759364043, 1e-15);
  EXPECT_NEAR(special::i1(x)(0).item(), 0.5651591039924851, 1e-15);
  EXPECT_NEAR(special::gammainc(x, x * 2)(0).item(), 0.8646647167633873, 1e-14);
}

}  // namespace links_test
