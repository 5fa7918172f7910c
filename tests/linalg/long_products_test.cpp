#include "support/long_sums.hpp"

// Products whose inner axis is long. (Tenths are left out: each of their additions rounds the same way, which
// the 512 terms of a register tile feel.)
namespace long_products_test {

using namespace long_sums;
using nax::matmul;

constexpr Terms product_terms[] = {Terms::ones, Terms::uniform, Terms::signs};

// x times ones, both ways, for an x of (rows, k): rows of sums.
void expect_products(std::int64_t rows, std::int64_t k, std::int64_t columns) {
  for (const Terms which : product_terms) {
    const Array<float> x = terms(which, {rows, k});
    const Sums want = sums_of(x, rows, k, 1);
    const auto spread = [&](const Array<float>& y, int axis) {  // all columns are the same
      for (std::int64_t j = 0; j < y.shape(axis); ++j)
        expect(axis == 1 ? y(nax::ellipsis, j) : y(j), want, which, "matmul");
    };
    const Array<float> ones = nax::ones<float>({k, columns});
    const Array<float> ones_t = nax::copy(ones.T()), x_t = nax::copy(x.T());
    spread(matmul(x, ones), 1);
    spread(matmul(x_t.T(), ones), 1);
    spread(matmul(x, ones_t.T()), 1);
    spread(matmul(ones_t, x_t), 0);
    spread(matmul(ones.T(), x.T()), 0);
  }
}

TEST(LongProducts, matrices) {
  expect_products(2, many / 4, 2);
  expect_products(17, many / 128, 33);
}
TEST(LongProducts, matrix_and_vector) {
  expect_products(1, many / 2, 1);
  expect_products(9, many / 16, 1);
  expect_products(40, many / 64, 1);
}

TEST(LongProducts, dot) {
  for (const Terms which : product_terms) {
    const Array<float> x = terms(which, {many}), ones = nax::ones<float>({many});
    const Sums want = sums_of(x, 1, many, 1);
    expect(nax::dot(x, ones), want, which, "dot");
    expect(nax::einsum("i,i->", x, ones), want, which, "einsum");
    const Array<float> pairs = x.reshape({many / 2, 2});
    const Sums halves = sums_of(x, many / 2, 2, 0);
    for (int j = 0; j < 2; ++j) {
      Sums half(1);
      half.sums[0] = halves.sums[static_cast<std::size_t>(j)];
      half.sizes[0] = halves.sizes[static_cast<std::size_t>(j)];
      expect(nax::dot(pairs(nax::ellipsis, j), ones(nax::slice(0, many / 2))), half, which,
             "dot of a column");
      expect(nax::dot(ones(nax::slice(0, nax::none, 2)), pairs(nax::ellipsis, j)), half, which,
             "dot, strided");
    }
  }
}

// A weight shared by a batch whose strides keep it out of the product.
TEST(LongProducts, summed_batch) {
  const std::int64_t batch = 1 << 20;
  const Array<float> x = terms(Terms::uniform, {batch, 2, 4});
  const Array<float> g = nax::ones<float>({batch, 2, 3});
  const auto f = [&](const Array<float>& w) {
    return nax::sum(nax::matmul(x(nax::ellipsis, nax::slice(0, 3)), w) * g);
  };
  const Array<float> got = nax::grad(f)(nax::zeros<float>({3, 3}));
  Sums want(9);
  const float* at = x.data();
  for (std::int64_t i = 0; i < batch * 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int c = 0; c < 3; ++c) want.add(j * 3 + c, double{at[4 * i + j]});
  expect(got.reshape({-1}), want, Terms::uniform, "shared weight");
  const auto each = [&](const Array<float>& w) {
    return nax::sum(nax::vmap([&](const Array<float>& a) { return nax::matmul(a.T(), w); },
                              {.in_axes = 0})(x(nax::ellipsis, nax::slice(0, 3))));
  };
  const Array<float> of_each = nax::grad(each)(nax::zeros<float>({2, 3}));
  Sums rows(6);
  for (std::int64_t i = 0; i < batch; ++i)
    for (int r = 0; r < 2; ++r)
      for (int j = 0; j < 3; ++j)
        for (int c = 0; c < 3; ++c) rows.add(r * 3 + c, double{at[8 * i + 4 * r + j]});
  expect(of_each.reshape({-1}), rows, Terms::uniform, "shared weight under vmap");
}

TEST(LongProducts, other_types) {
  const std::int64_t k = many / 8;
  const Array<std::complex<float>> z = nax::full({2, k}, std::complex<float>(1, -1)),
                                   ones = nax::full({k, 2}, std::complex<float>(1, 0));
  const std::complex<float> dot = matmul(z, ones)(1, 1).item();
  EXPECT_EQ(dot, std::complex<float>(static_cast<float>(k), -static_cast<float>(k)));
  const auto small = nax::full({2, k}, .0625f / 1024).astype<nax::half>();
  EXPECT_EQ(static_cast<float>(matmul(small, nax::ones<nax::half>({k, 2}))(0, 1).item()),
            .0625f / 1024 * static_cast<float>(k));
}

// For any number of threads.
TEST(LongProducts, threads) {
  const Array<float> a = terms(Terms::uniform, {37, 70000}), b = terms(Terms::uniform, {70000, 19});
  const int before = nax::num_threads();
  std::vector<std::vector<float>> seen;
  for (const int threads : {1, 2, 4}) {
    nax::set_num_threads(threads);
    seen.push_back(matmul(a, b).to_vector());
    for (const float v : matmul(a, b(nax::ellipsis, 0)).to_vector()) seen.back().push_back(v);
    for (const float v : matmul(b(nax::ellipsis, 1), a.T()).to_vector()) seen.back().push_back(v);
  }
  nax::set_num_threads(before);
  for (const auto& values : seen) EXPECT_EQ(values, seen[0]);
}

}  // namespace long_products_test
