// Products of bfloat16 by pairs, in vectors and in tiles, against float products of the same operands.

#include <gtest/gtest.h>

#include "nax/nax.hpp"

namespace gemm_pairs_test {
using namespace nax;
using B = Array<bfloat16>;
using F = Array<float>;

F draw(std::uint64_t seed, const Shape& shape) { return random::normal<float>(random::key(seed), shape); }
B rounded(const F& x) { return x.astype<bfloat16>(); }
F wide(const B& x) { return x.astype<float>(); }

// |got - want| within a rounding to bfloat16 and float sums of k terms in another order.
void expect_near(const F& got, const F& want, std::int64_t k) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto g = got.to_vector(), w = want.to_vector();
  for (std::size_t i = 0; i < g.size(); ++i)
    ASSERT_NEAR(g[i], w[i], std::abs(w[i]) / 256 + 1e-6 * static_cast<double>(k)) << i;
}

#if NAX_MULTIPLIES_PAIRS
// Sizes at, below and above those of tiles, blocks, slices and groups.
TEST(GemmPairs, BothUnitsMultiply) {
  const std::vector<std::array<std::int64_t, 3>> sizes{{1, 1, 1},      {16, 16, 32}, {17, 33, 31},
                                                       {32, 32, 512},  {5, 70, 65},  {100, 40, 513},
                                                       {33, 530, 600}, {64, 2, 7}};
  for (const auto unit : {cpu::PairsUnit::vectors, cpu::PairsUnit::tiles}) {
    if (unit == cpu::PairsUnit::tiles && cpu::pairs_unit() != unit) continue;
    for (const auto [m, n, k] : sizes)
      for (int form = 0; form < 8; ++form) {
        const B a = rounded(draw(1, {m, k})), b = rounded(draw(2, {k, n})), c = rounded(draw(3, {m, n}));
        // Lying by rows, by columns, or with gaps.
        const auto lay = [](const B& x, int how) {
          return how == 0 ? x
                 : how == 1
                     ? B(copy(x.T()).T())
                     : B(repeat(repeat(x, 2, {.axis = 0}), 3, {.axis = 1})(slice(_, _, 2), slice(_, _, 3)));
        };
        const B left = lay(a, form % 3), right = lay(b, form / 3);
        const bool accumulate = form % 2 == 1, by_columns = form > 5;
        std::vector<bfloat16> out = by_columns ? B(c.T()).to_vector() : c.to_vector();
        const auto &la = nax::detail::layout_of(left), &lb = nax::detail::layout_of(right);
        cpu::gemm_pairs(unit, m, n, k, {left.data(), la.strides[0], la.strides[1]},
                        {right.data(), lb.strides[0], lb.strides[1]},
                        {out.data(), by_columns ? 1 : n, by_columns ? m : 1}, accumulate);
        const B got = by_columns ? B(array(out).reshape({n, m}).T()) : B(array(out).reshape({m, n}));
        const F product = matmul(wide(a), wide(b));
        expect_near(wide(got), accumulate ? F(product + wide(c)) : product, k);
      }
  }
}

// A sum of exact terms is rounded once, to nearest, ties to even; what is no number stays so.
TEST(GemmPairs, RoundsOnce) {
  const std::int64_t k = 300;
  const B ones_ = ones<bfloat16>({20, k}), columns = ones<bfloat16>({k, 20});
  for (const float x : wide(matmul(ones_, columns)).to_vector()) EXPECT_EQ(x, 300.f);
  const B odd = ones<bfloat16>({k + 1, 20}), row = ones<bfloat16>({20, k + 1});
  for (const float x : wide(matmul(row, odd)).to_vector()) EXPECT_EQ(x, 300.f);  // 301 is a tie
  const F spoiled = ones<float>({20, k}).at(3, 7).set(NAN).at(4, 8).set(INFINITY);
  const auto y = wide(matmul(rounded(spoiled), columns));
  EXPECT_TRUE(std::isnan(y(3, 0).item()) && std::isinf(y(4, 0).item()) && y(5, 0).item() == 300.f);
}
#endif

TEST(GemmPairs, ServesMatmulAndItsDerivatives) {
  const F x = wide(rounded(draw(1, {37, 65}))), w = wide(rounded(draw(2, {65, 50}))),
          g = wide(rounded(draw(3, {37, 50})));
  const auto product = [](const auto& a, const auto& b) { return matmul(a, b); };
  const auto [y, pull] = vjp(product, rounded(x), rounded(w));
  const auto [dx, dw] = pull(rounded(g));
  expect_near(wide(y), matmul(x, w), 65);
  expect_near(wide(dx), matmul(g, w.T()), 50);
  expect_near(wide(dw), matmul(x.T(), g), 37);
}

TEST(GemmPairs, ServesVmapAndViews) {
  const F a = wide(rounded(draw(1, {3, 40, 33}))), b = wide(rounded(draw(2, {3, 33, 20})));
  const auto product = [](const B& x, const B& y) { return matmul(x, y); };
  expect_near(wide(vmap(product)(rounded(a), rounded(b))), matmul(a, b), 33);
  expect_near(wide(vmap(product, {.in_axes = {0, none}})(rounded(a), rounded(b(1)))), matmul(a, b(1)), 33);
  const F flipped = flip(a(0), {.axis = 1});
  expect_near(wide(matmul(flip(rounded(a(0)), {.axis = 1}), rounded(b(0)))), matmul(flipped, b(0)), 33);
  expect_near(wide(einsum("bij,bjk->bik", rounded(a), rounded(b))), matmul(a, b), 33);
}

TEST(GemmPairs, ThreadsDoNotChangeTheBits) {
  const B a = rounded(draw(1, {300, 700})), b = rounded(draw(2, {700, 600}));
  const auto together = wide(matmul(a, b)).to_vector();
  const ThreadLimit one(1);
  EXPECT_EQ(wide(matmul(a, b)).to_vector(), together);
}

}  // namespace gemm_pairs_test
