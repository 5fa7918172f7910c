#include <gtest/gtest.h>

#include <vector>

#include "nax/nax.hpp"

// The errors that comments of nax/linalg, nax/lax and nax/nn document, one expression for each.
namespace layer_errors_test {

using namespace nax;
using F = Array<float>;
using I = Array<int>;

const F number(1.f), line = {1, 2, 3}, four = {1, 2, 3, 4}, matrix = {{1, 2, 3}, {4, 5, 6}},
                     square = {{2, 1}, {1, 3}};

#define EXPECT_SHAPE(...) EXPECT_THROW((void)(__VA_ARGS__), ShapeError)
#define EXPECT_INDEX(...) EXPECT_THROW((void)(__VA_ARGS__), IndexError)
#define EXPECT_VALUE(...) EXPECT_THROW((void)(__VA_ARGS__), ValueError)

TEST(LinalgErrors, Factorisations) {
  EXPECT_SHAPE(linalg::cholesky(matrix));
  EXPECT_SHAPE(linalg::det(matrix));
  EXPECT_SHAPE(linalg::slogdet(line));
  EXPECT_SHAPE(linalg::eig(matrix));
  EXPECT_SHAPE(linalg::eigvals(matrix));
  EXPECT_SHAPE(linalg::eigh(matrix));
  EXPECT_VALUE(linalg::eigh(square, {.UPLO = 'X'}));
  EXPECT_SHAPE(linalg::eigvalsh(matrix));
  EXPECT_SHAPE(linalg::lu(line));
  EXPECT_SHAPE(linalg::lu_factor(line));
  EXPECT_SHAPE(linalg::lu_solve(linalg::lu_factor(square), line));
  EXPECT_SHAPE(linalg::cho_factor(matrix));
  EXPECT_SHAPE(linalg::qr(line));
  EXPECT_VALUE(linalg::qr(square, {.mode = "half"}));
  EXPECT_SHAPE(linalg::svd(line));
  EXPECT_SHAPE(linalg::svdvals(line));
}

TEST(LinalgErrors, Functions) {
  EXPECT_SHAPE(linalg::solve_triangular(matrix, line));
  EXPECT_SHAPE(linalg::solve_triangular(square, line));
  EXPECT_SHAPE(linalg::solve(matrix, line));
  EXPECT_SHAPE(linalg::solve(square, line));
  EXPECT_SHAPE(linalg::inv(matrix));
  EXPECT_SHAPE(linalg::matrix_power(matrix, 2));
  EXPECT_VALUE(linalg::matrix_power(I{{1, 0}, {0, 1}}, -1));
  EXPECT_SHAPE(linalg::expm(matrix));
  EXPECT_SHAPE(linalg::sqrtm(matrix));
  EXPECT_SHAPE(linalg::solve_sylvester(square, square, matrix));
  EXPECT_SHAPE(linalg::polar(line));
  EXPECT_VALUE(linalg::polar(square, {.side = "up"}));
  EXPECT_VALUE(linalg::norm(line, {.ord = "none"}));
  EXPECT_VALUE(linalg::norm(line, {.ord = "fro"}));
  EXPECT_VALUE(linalg::norm(matrix, {.ord = 3}));
  EXPECT_VALUE(linalg::norm(zeros<float>({2, 2, 2}), {.ord = 2}));
  EXPECT_SHAPE(linalg::matrix_norm(line));
  EXPECT_VALUE(linalg::matrix_norm(matrix, {.ord = 3}));
  EXPECT_VALUE(linalg::vector_norm(line, {.ord = "fro"}));
  EXPECT_INDEX(linalg::vector_norm(line, {.axis = 1}));
  EXPECT_SHAPE(linalg::pinv(line));
  EXPECT_VALUE(linalg::matrix_rank(square, {.tol = 1., .rtol = 1.}));
  EXPECT_SHAPE(linalg::lstsq(matrix, line));
  EXPECT_VALUE(linalg::outer(matrix, line));
  EXPECT_VALUE(linalg::diagonal(line));
  EXPECT_VALUE(linalg::trace(line));
  EXPECT_VALUE(linalg::tensorinv(square, {.ind = 0}));
  EXPECT_SHAPE(linalg::tensorinv(matrix, {.ind = 1}));
  EXPECT_SHAPE(linalg::block_diag(zeros<float>({2, 2, 2})));
  EXPECT_SHAPE(linalg::toeplitz(zeros<float>({2, 3}), zeros<float>({4, 3})));
}

TEST(LaxErrors, BranchesLoopsAndSlices) {
  const auto same = [](const F& x) { return x; };
  EXPECT_SHAPE(lax::cond(Array<bool>{true, false}, same, same, line));
  EXPECT_SHAPE(lax::switch_(I{0, 1}, std::tuple(same, same), line));
  EXPECT_SHAPE(lax::fori_loop(
      0, 2, [](int, const F& x) { return append(x, x); }, line));
  EXPECT_VALUE(lax::map(same, line, {.batch_size = 0}));
  EXPECT_SHAPE(lax::custom_root(
      same, line, [](const auto&, const F& x) { return append(x, x); },
      [](const auto& f, const F& y) { return y / f(F(y * 0.f + 1.f)); }));
  EXPECT_INDEX(lax::cumsum(line, {.axis = 1}));
  EXPECT_INDEX(lax::cummax(line, {.axis = 1}));
  EXPECT_INDEX(lax::cumlogsumexp(line, {.axis = 1}));
  EXPECT_VALUE(lax::dynamic_update_slice(matrix, matrix, {0}));
  EXPECT_SHAPE(lax::dynamic_update_slice(line, four, {0}));
  EXPECT_INDEX(lax::dynamic_slice_in_dim(line, 0, 1, 1));
  EXPECT_SHAPE(lax::dynamic_slice_in_dim(line, 0, 4));
  EXPECT_INDEX(lax::dynamic_index_in_dim(line, 0, 1));
  EXPECT_SHAPE(lax::dynamic_index_in_dim(zeros<float>({0}), 0));
  EXPECT_INDEX(lax::dynamic_update_slice_in_dim(line, line, 0, 1));
  EXPECT_SHAPE(segment_sum(line, I{0, 1}));
  EXPECT_VALUE(segment_max(line, I{0, 1, 1}, {.num_segments = -1}));
  EXPECT_SHAPE(lax::sort_key_val(line, four));
  EXPECT_INDEX(lax::sort_key_val(line, line, {.dimension = 1}));
}

TEST(NnErrors, Layers) {
  EXPECT_SHAPE(nn::dot_product_attention(zeros<float>({1, 2, 1, 4}), zeros<float>({1, 2, 1, 3}),
                                         zeros<float>({1, 2, 1, 3})));
  EXPECT_VALUE(nn::initializers::orthogonal<float>(random::key(0), {3}));
  EXPECT_INDEX(nn::standardize(line, {.axis = 1}));
  EXPECT_VALUE(nn::standardize(matrix, {.axis = {0, 0}}));
  EXPECT_INDEX(nn::layer_norm(line, line, line, {.axis = 1}));
  EXPECT_VALUE(nn::one_hot(I{0}, -1));
  EXPECT_INDEX(nn::one_hot(I{0}, 2, {.axis = 2}));
  EXPECT_SHAPE(nn::max_pool(line, {2, 2}));
  EXPECT_SHAPE(nn::avg_pool(line, {2, 2}));
  EXPECT_INDEX(nn::softmax(line, {.axis = 1}));
  EXPECT_VALUE(nn::log_softmax(matrix, {.axis = {0, 0}}));
  EXPECT_INDEX(nn::logmeanexp(line, {.axis = 1}));
}

#undef EXPECT_SHAPE
#undef EXPECT_INDEX
#undef EXPECT_VALUE
}  // namespace layer_errors_test
