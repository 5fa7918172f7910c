// A tolerance for each matrix of a batch, against NumPy's results.

#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/refusal.hpp"

namespace tolerances {

using namespace nax;
using D = Array<double>;

const D matrices = {{{3, 0}, {0, 1}, {0, 0}}, {{3, 0}, {0, 1}, {0, 0}}, {{2, 0}, {0, 2}, {0, 0}}};
const D each = {.1, .5, .9};

TEST(Pinv, ToleranceForEachMatrix) {
  const D inverses = linalg::pinv(matrices, {.rtol = each});
  ASSERT_EQ(inverses.shape(), (Shape{3, 2, 3}));
  const double third = 1 / 3.;
  const std::vector<double> want = {third, 0, 0, 0, 1, 0, third, 0, 0, 0, 0, 0, .5, 0, 0, 0, .5, 0};
  const auto got = inverses.to_vector();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-15) << i;
  EXPECT_TRUE(
      all(D(linalg::pinv(matrices, {.rcond = Array<float>(each.astype<float>())})) == inverses).item());
  // One matrix after the other, under vmap, and differentiated.
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(all(D(linalg::pinv(matrices(i), {.rtol = each(i).item()})) == inverses(i)).item());
  const D mapped = vmap([](const D& m, const D& r) { return linalg::pinv(m, {.rtol = r}); })(matrices, each);
  EXPECT_TRUE(allclose(mapped, inverses).item());
  const D slope = grad([](const D& m) { return sum(linalg::pinv(m, {.rtol = each})); })(matrices);
  for (std::int64_t i = 0; i < 3; ++i) {
    const double r = each(i).item();
    const D one = grad([&](const D& m) { return sum(linalg::pinv(m, {.rtol = r})); })(matrices(i));
    EXPECT_TRUE(allclose(D(slope(i)), one).item());
  }
}

TEST(MatrixRank, ToleranceForEachMatrix) {
  using Ranks = std::vector<int>;
  EXPECT_EQ(linalg::matrix_rank(matrices, {.rtol = each}).to_vector(), (Ranks{2, 1, 2}));
  EXPECT_EQ(linalg::matrix_rank(matrices, {.tol = D{.1, 2, 2}}).to_vector(), (Ranks{2, 1, 0}));
  EXPECT_EQ(linalg::matrix_rank(matrices, {.tol = 1}).to_vector(), (Ranks{1, 1, 2}));
  EXPECT_EQ(linalg::matrix_rank(matrices).to_vector(), (Ranks{2, 2, 2}));
}

TEST(Tolerances, ShapesThatDoNotMatchAreRefused) {
  EXPECT_EQ(refusal<ShapeError>([] {
              linalg::pinv(matrices, {.rtol = D{.1, .2}});
            }),
            "pinv: operands could not be broadcast together with shapes (2, 1) (3, 2)");
  EXPECT_EQ(refusal<ShapeError>([] { linalg::matrix_rank(matrices(0), {.rtol = each}); }),
            "matrix_rank: a tolerance for each matrix: (3,) for singular values (2,)");
}

}  // namespace tolerances
