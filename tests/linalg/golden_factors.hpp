#pragma once

#include "linalg/golden_records.hpp"

// Factorisations: for one element type a file, as they take long to compile.
namespace linalg_records {

inline const std::vector<std::string> shapes = {"square", "tall", "wide", "batch", "one", "large"};
inline const std::vector<std::string> sizes = {"3", "batch", "one", "large"};

template <class T>
Array<T> with_diagonal(const Array<T>& u, const Array<nax::real_t<T>>& s) {
  return u * nax::expand_dims(s, -2).template astype<T>();
}
template <class T>
Array<T> adjoint(const Array<T>& x) {
  return nax::conj(nax::matrix_transpose(x));
}

template <class T>
void check_factors() {
  using Of = Records<T>;
  Of::each("qr", {"square", "tall", "wide", "batch", "one", "large"}, [](const std::string& r) {
    const auto [q, upper] = la::qr(Of::in(r));
    Of::expect(r, q, upper);
  });
  Of::each("qr", {"complete"}, [](const std::string& r) {
    const auto [q, upper] = la::qr(Of::in(r), {.mode = "complete"});
    Of::expect(r, q, upper);
  });
  Of::each("svdvals", shapes, [](const std::string& r) {
    const Array<T> a = Of::in(r);
    Of::expect(r, la::svdvals(a));
    const auto [u, s, vh] = la::svd(a, {.full_matrices = false});
    Of::expect(r, s);
    expect_equal<T>(nax::matmul(with_diagonal(u, s), vh), a);
    const auto full = la::svd(a);
    EXPECT_EQ(full.U.shape(-1), a.shape(-2));
    expect_equal<T>(nax::matmul(full.Vh, adjoint(full.Vh)),
                    nax::broadcast_to(nax::eye<T>(a.shape(-1)), full.Vh.shape()));
  });
  Of::each("pinv", shapes, [](const std::string& r) { Of::expect(r, la::pinv(Of::in(r))); });
  Of::each("matrix_rank", shapes, [](const std::string& r) { Of::expect(r, la::matrix_rank(Of::in(r))); });
  Of::each("lu", shapes, [](const std::string& r) {
    const auto [p, l, u] = la::lu(Of::in(r));
    Of::expect(r, p, l, u);
  });
  Of::each("eigvalsh", sizes, [](const std::string& r) {
    const Array<T> a = Of::in(r);
    Of::expect(r, la::eigvalsh(a));
    const auto [w, v] = la::eigh(a);
    Of::expect(r, w);
    expect_equal<T>(nax::matmul(with_diagonal(v, w), adjoint(v)), a);
  });
  Of::each("eigvalsh.U", sizes,
           [](const std::string& r) { Of::expect(r, la::eigvalsh(Of::in(r), {.UPLO = "U"})); });
  Of::each("cholesky", sizes, [](const std::string& r) { Of::expect(r, la::cholesky(Of::in(r))); });
  Of::each("cholesky.upper", sizes,
           [](const std::string& r) { Of::expect(r, la::cholesky(Of::in(r), {.upper = true})); });
  Of::each("slogdet", sizes, [](const std::string& r) {
    const auto [sign, logabsdet] = la::slogdet(Of::in(r));
    Of::expect(r, sign, logabsdet);
  });
  Of::each("solve", sizes,
           [](const std::string& r) { Of::expect(r, la::solve(Of::in(r, 0), Of::in(r, 1))); });
  Of::each("lu_factor", sizes, [](const std::string& r) {
    const auto [lu, piv] = la::lu_factor(Of::in(r));
    Of::expect(r, lu, piv);
  });
  Of::each("lstsq", {"tall", "vector", "wide", "square", "deficient"}, [](const std::string& r) {
    const auto [x, residuals, rank, s] = la::lstsq(Of::in(r, 0), Of::in(r, 1));
    Of::expect(r, x, residuals, rank, s);
  });
}

}  // namespace linalg_records
