// Norms and least squares of numbers whose squares or reciprocals leave the range.

#include "nax/linalg/norm.hpp"
#include "nax/linalg/pinv.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/transform/grad.hpp"
#include "support/expect_close.hpp"

namespace range_test {

using A = nax::Array<double>;
using nax::linalg::norm;

TEST(Range, NormsOfLargeAndSmallNumbers) {
  for (const double size : {1e200, 1e-200, 3e-310, 1e300}) {
    const A x{3 * size, 4 * size};
    EXPECT_NEAR(norm(x).item() / size, 5, 1e-12) << size;
    support::expect_close("gradient", nax::grad([](const A& v) { return norm(v); })(x).to_vector(),
                          {0.6, 0.8}, 1e-12, 1);
    const A rows{{3 * size, 4 * size}, {3, 4}};
    support::expect_close("rows", norm(rows, {.axis = 1}).to_vector(), {5 * size, 5}, 1e-12, 5 * size);
    EXPECT_EQ(norm(rows, {.axis = 1, .keepdims = true}).shape(), (nax::Shape{2, 1}));
    const nax::Array<std::complex<double>> z{{3 * size, 0}, {0, 4 * size}};
    EXPECT_NEAR(norm(z).item() / size, 5, 1e-12);
  }
  const nax::Array<float> x{3e30f, 4e30f};
  EXPECT_NEAR(norm(x).item(), 5e30f, 1e24f);
  EXPECT_EQ(norm(A{0, 0}).item(), 0);
  EXPECT_EQ(norm(A{1, INFINITY}).item(), INFINITY);
  EXPECT_TRUE(std::isnan(norm(A{1, NAN}).item()));
  EXPECT_EQ(norm(A(nax::zeros<double>({0}))).item(), 0);
}
TEST(Range, LeastSquaresOfSubnormalNumbers) {
  const A a{{1e-310, 2e-310}, {3e-310, -1e-310}, {2e-310, 2e-310}}, b{5e-310, 1e-310, 6e-310};
  const auto found = nax::linalg::lstsq(a, b);
  const auto want = nax::linalg::lstsq(A(a * 1e300 * 1e10), A(b * 1e300 * 1e10));
  support::expect_close("x", found.x.to_vector(), want.x.to_vector(), 1e-12, 1);
  EXPECT_EQ(found.rank.item(), 2);
  support::expect_close("s", A(found.s * 1e300).to_vector(), A(want.s * 1e-10).to_vector(), 1e-10, 1e-300);
}

}  // namespace range_test
