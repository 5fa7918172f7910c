#pragma once

#include "linalg/golden_factors.hpp"

// Functions computed from factors, and gradients.
namespace linalg_records {

template <class T>
void check_functions() {
  using Of = Records<T>;
  using C = nax::complex_t<T>;
  const auto by_parts = [](const C& x, const C& y) {
    return x.real() < y.real() || (x.real() == y.real() && x.imag() < y.imag());
  };
  Of::each("eigvals", sizes, [&](const std::string& r) {
    const Array<T> a = Of::in(r);
    Array<C> w = la::eigvals(a);
    std::vector<C> sorted = w.to_vector();
    for (auto at = sorted.begin(); at != sorted.end(); at += a.shape(-1))
      std::sort(at, at + a.shape(-1), by_parts);
    Of::expect(r, Array<C>(nax::array(sorted).reshape(w.shape())));
    const auto [values, v] = la::eig(a);
    expect_equal<C>(nax::matmul(a.template astype<C>(), v), v * nax::expand_dims(values, -2));
    expect_equal<C>(nax::sum(nax::square(nax::abs(v)), {.axis = -2}).template astype<C>(),
                    nax::ones<C>(values.shape()));
  });
  Of::each("expm", {"3", "one", "large", "0.01", "0.2", "0.8", "1.9", "5.0", "40.0"},
           [](const std::string& r) { Of::expect(r, la::expm(Of::in(r))); });
  Of::each("sqrtm", sizes, [](const std::string& r) { Of::expect(r, la::sqrtm(Of::in(r))); });
  Of::each("cho_solve", sizes, [](const std::string& r) {
    Of::expect(r, la::cho_solve(la::cho_factor(Of::in(r, 0)), Of::in(r, 1)));
    Of::expect(r, la::cho_solve(la::cho_factor(Of::in(r, 0), {.lower = true}), Of::in(r, 1)));
  });
  Of::each("solve_sylvester", sizes, [](const std::string& r) {
    Of::expect(r, la::solve_sylvester(Of::in(r, 0), Of::in(r, 1), Of::in(r, 2)));
  });
  for (const int trans : {0, 1, 2}) {
    const std::string name = std::to_string(trans);
    Of::each("lu_solve." + name, {""}, [&](const std::string& r) {
      Of::expect(r, la::lu_solve(la::lu_factor(Of::in(r, 0)), Of::in(r, 1), {.trans = trans}));
    });
    Of::each("solve_triangular." + name, {""}, [&](const std::string& r) {
      Of::expect(r, la::solve_triangular(Of::in(r, 0), Of::in(r, 1), {.trans = trans, .lower = true}));
    });
  }
  for (const char* side : {"left", "right"})
    Of::each(std::string("polar.") + side, {"3x3", "4x2", "2x3"}, [&](const std::string& r) {
      const auto [u, p] = la::polar(Of::in(r), {.side = side});
      Of::expect(r, u, p);
    });
  Of::each("expm", {"3"}, [](const std::string& r) {
    const Array<T> a = Of::in(r);
    const auto [t, z] = la::schur(a);
    expect_equal<T>(nax::matmul(nax::matmul(z, t), adjoint(z)), a);
    if (nax::is_complex_v<T>) {
      expect_equal<T>(nax::tril(t, {.k = -1}), nax::zeros<T>(t.shape()));
    }
  });
}

// JAX's gradients of sum(real(f(a)) * w).
template <class T>
void check_gradients() {
  using Of = Records<T>;
  const auto check = [](const std::string& name, const auto& f) {
    Of::each(name + ".grad", {""}, [&](const std::string& r) {
      const Array<nax::real_t<T>> w = nax::real(Of::in(r, 1));
      const auto loss = [&](const Array<T>& a) { return nax::sum(nax::real(f(a)) * w); };
      Of::expect(r, nax::grad(loss)(Of::in(r, 0)));
    });
  };
  check("qr", [](const Array<T>& a) { return la::qr(a).R; });
  check("svdvals", [](const Array<T>& a) { return la::svdvals(a); });
  check("eigvalsh", [](const Array<T>& a) { return la::eigvalsh(a); });
  check("eigvals", [](const Array<T>& a) { return nax::sum(nax::power(la::eigvals(a), 3)).reshape({1}); });
  check("cholesky", [](const Array<T>& a) { return la::cholesky(a); });
  check("slogdet", [](const Array<T>& a) { return la::slogdet(a).logabsdet; });
  check("slogdet.sign", [](const Array<T>& a) { return la::slogdet(a).sign; });
  check("solve", [](const Array<T>& a) { return la::solve(a, nax::ones<T>({3})); });
  check("pinv", [](const Array<T>& a) { return la::pinv(a); });
  check("lu", [](const Array<T>& a) { return la::lu(a).u; });
  check("expm", [](const Array<T>& a) { return la::expm(a); });
}

}  // namespace linalg_records
