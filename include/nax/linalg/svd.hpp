#pragma once

#include "nax/linalg/eigh.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/select.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Singular values.
NAX_BEGIN
namespace linalg {

template <class T>
struct SVD {
  Array<T> U;
  Array<real_t<T>> S;
  Array<T> Vh;
};

}  // namespace linalg

namespace detail {

template <class T>
linalg::SVD<T> svd_values(const Array<T>& a, bool full, bool vectors) {
  using R = real_t<T>;
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const std::int64_t rows = full ? m : k, columns = full ? n : k;
  linalg::SVD<T> parts;
  parts.S = matrices_like<R>(a, {k});
  if (vectors) {
    parts.U = matrices_like<T>(a, {m, rows});
    parts.Vh = matrices_like<T>(a, {columns, n});
  }
  constexpr auto kind = loops::Factorisation::svd;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  factorise({.kind = kind, .complete = full}, a,
            {vectors ? &parts.U : nullptr, &parts.S, vectors ? &parts.Vh : nullptr});
  return parts;
}

// The tangents of U and V (Giles 2008; complex numbers: Wan and Zhang 2019; as in JAX). With M = U^H dA V and
// F = 1 / (s_j^2 - s_i^2) off the diagonal:
//   dU = U (F * (M S + S M^H) + (M - M^H) / 2s on the diagonal) + (1 - U U^H) dA V / S
//   dV = V (F * (S M + M^H S)) + (1 - V V^H) dA^H U / S
template <class T>
struct SvdTangents {
  Array<T> u, v, s, inner;

  SvdTangents(const Array<T>& t, const linalg::SVD<T>& of)
      : u(of.U), v(la::adjoint(of.Vh)), s(la::converted<T>(of.S)) {
    inner = la::product(la::adjoint(u), t, v);
  }
  Array<T> inverse_square_gaps() const {
    const Array<T> one = la::eye_beside<T>(s, s.shape(-1)), to = la::as_rows(s), from = la::as_columns(s);
    const Array<T> gaps = la::plus(la::times(la::plus(to, from), la::minus(to, from)), one);
    return la::minus(evaluate(make_expr<rules::reciprocal>(gaps)), one);
  }
  // The part of x (as many columns as singular values) outside the span of `basis`, divided by those values.
  Array<T> outside(const Array<T>& x, const Array<T>& basis) const {
    const Array<T> rest = la::minus(x, la::product(basis, la::product(la::adjoint(basis), x)));
    return la::over(rest, la::as_rows(s));
  }
  Array<T> of_u(const Array<T>& t) const {
    const Array<T> ms = la::times(inner, la::as_rows(s));
    Array<T> turn = la::times(inverse_square_gaps(), la::plus(ms, la::adjoint(ms)));
    if constexpr (is_complex_v<T>) {
      const Array<T> skew = la::halved(la::minus(inner, la::adjoint(inner)));
      turn = la::plus(turn, la::times(la::eye_beside<T>(s, s.shape(-1)), la::over(skew, la::as_rows(s))));
    }
    const Array<T> du = la::product(u, turn);
    return u.shape(-2) > u.shape(-1) ? la::plus(du, outside(la::product(t, v), u)) : du;
  }
  Array<T> of_vh(const Array<T>& t) const {
    const Array<T> sm = la::times(la::as_columns(s), inner);
    const Array<T> turn = la::times(inverse_square_gaps(), la::plus(sm, la::adjoint(sm)));
    Array<T> dv = la::product(v, turn);
    if (v.shape(-2) > v.shape(-1)) dv = la::plus(dv, outside(la::product(la::adjoint(t), u), v));
    return la::adjoint(dv);
  }
};

template <class T>
linalg::SVD<T> svd_of(const Array<T>& a, bool full) {
  using R = real_t<T>;
  const bool recorded = is_recorded(a);
  if (recorded && full && a.shape(-1) != a.shape(-2))
    throw ValueError(
        "svd: what full_matrices adds to the factors has no derivative; use {.full_matrices = false}, or "
        "svdvals");
  auto parts = std::make_shared<linalg::SVD<T>>(svd_values(a, full, true));
  if (!recorded) return *parts;
  parts->U = record_tangent(
      parts->U, a, [parts](const Array<T>& t, const Array<T>&) { return SvdTangents<T>(t, *parts).of_u(t); });
  parts->Vh = record_tangent(parts->Vh, a, [parts](const Array<T>& t, const Array<T>&) {
    return SvdTangents<T>(t, *parts).of_vh(t);
  });
  parts->S = record_tangent(parts->S, a, [parts](const Array<T>& t, const Array<R>&) {
    return la::real_part(la::diagonals(SvdTangents<T>(t, *parts).inner));
  });
  return *parts;
}

// Of a Hermitian matrix, by its eigenvalues: S are their sizes, U the eigenvectors.
template <class T>
linalg::SVD<T> svd_hermitian(const Array<T>& a) {
  using R = real_t<T>;
  const linalg::Eigh<T> e = eigh_of(a, true);
  const Array<R> size = evaluate(make_expr<rules::absolute>(e.eigenvalues));
  const Array<std::int32_t> order = argsort_axis(typed<R>(constant(size)), size.ndim() - 1, true);
  const Array<R> w = typed<R>(constant(e.eigenvalues));
  const Array<R> sign = evaluate(make_selection<rules::where>(evaluate(make_expr<rules::less>(w, R(0))),
                                                              typed<R>(host_number(R(-1))), R(1)));
  const Array<T> u = take_along_axis(e.eigenvectors, la::as_rows(order), -1);
  const Array<R> ordered_sign = take_along_axis(sign, order, -1);
  return {u, take_along_axis(size, order, -1),
          la::adjoint(la::times(u, la::as_rows(la::converted<T>(ordered_sign))))};
}

}  // namespace detail

namespace linalg {

struct SvdOptions {
  bool full_matrices = true;
  bool hermitian = false;
};
// a = U diag(S) Vh for matrices (..., m, n): S (..., k), descending, k = min(m, n); U is (..., m, m) and Vh
// (..., n, n), or (..., m, k) and (..., k, n) without full_matrices. Where `hermitian`, the lower triangle is
// read. Derivatives of U and Vh are not finite where two singular values are equal; where m != n they need
// {.full_matrices = false}. Throws ShapeError unless the array is at least 2-d, and ValueError for a
// derivative with `full_matrices` of a matrix that is not square.
template <detail::ArrayLike A>
auto svd(const A& a_, const SvdOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  if (!options.hermitian) {
    detail::check_matrices("svd", a);
    return detail::svd_of(a, options.full_matrices);
  }
  detail::check_square("svd", a);
  return detail::svd_hermitian(a);
}
// The singular values alone, (..., min(m, n)), descending. Throws ShapeError unless the array is at least
// 2-d.
template <detail::ArrayLike A>
auto svdvals(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_matrices("svdvals", a);
  return (detail::is_recorded(a) ? detail::svd_of(a, false) : detail::svd_values(a, false, false)).S;
}

}  // namespace linalg
NAX_END
