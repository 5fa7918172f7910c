#pragma once

#include "nax/linalg/eigh.hpp"
#include "nax/linalg/solve.hpp"

// Eigenvalues of general matrices: complex.
NAX_BEGIN
namespace linalg {

template <class C>
struct Eig {
  Array<C> eigenvalues, eigenvectors;
};

}  // namespace linalg

namespace detail {

template <class T>
struct EigParts : linalg::Eig<complex_t<T>> {
  Array<complex_t<T>> largest;  // a one in each column, where the largest component of the eigenvector is
};

template <class T>
EigParts<T> eig_values(const Array<T>& a, bool vectors) {
  using C = complex_t<T>;
  using R = real_t<T>;
  const std::int64_t n = a.shape(-1);
  EigParts<T> parts;
  parts.eigenvalues = matrices_like<C>(a, {n});
  Array<R> largest;
  if (vectors) {
    parts.eigenvectors = matrices_like<C>(a, {n, n});
    largest = matrices_like<R>(a, {n, n});
  }
  constexpr auto kind = loops::Factorisation::eig;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  factorise({.kind = kind}, a,
            {&parts.eigenvalues, vectors ? &parts.eigenvectors : nullptr, vectors ? &largest : nullptr});
  if (vectors && is_recorded(a)) parts.largest = la::converted<C>(largest);
  return parts;
}

// With M = V^-1 dA V: dw = diag(M), and dV = V Z + V diag(c) where Z has M's elements off the diagonal over
// the gaps between eigenvalues (Giles 2008). c is what keeps the columns at norm 1, and their largest
// components real.
template <class T>
EigParts<T> eig_of(const Array<T>& a) {
  using C = complex_t<T>;
  auto parts = std::make_shared<EigParts<T>>(eig_values(a, true));
  if (!is_recorded(a)) return *parts;
  const auto inner = [](const Array<T>& t, const Array<C>& v) {
    return solve_matrices(v, la::product(la::converted<C>(t), v));
  };
  parts->eigenvalues =
      record_tangent(parts->eigenvalues, a, [parts, inner](const Array<T>& t, const Array<C>&) {
        return la::diagonals(inner(t, parts->eigenvectors));
      });
  parts->eigenvectors =
      record_tangent(parts->eigenvectors, a, [parts, inner](const Array<T>& t, const Array<C>& v) {
        const Array<C> z = la::product(v, la::times(la::inverse_gaps(parts->eigenvalues), inner(t, v)));
        const auto column_sums = [](const Array<C>& x) {
          AxisMarks rows(static_cast<std::size_t>(x.ndim()), false);
          rows[rows.size() - 2] = true;
          return sum_over<C>(x, rows, true, 1);
        };
        const Array<C> along = column_sums(la::times(la::conjugated(v), z));
        const Array<C> top =
            la::over(column_sums(la::times(parts->largest, z)), column_sums(la::times(parts->largest, v)));
        const Array<C> imaginary = la::minus(top, la::converted<C>(la::real_part(top)));
        const Array<C> c = negated(la::plus(la::converted<C>(la::real_part(along)), imaginary));
        return la::plus(z, la::times(v, c));
      });
  return *parts;
}

}  // namespace detail

namespace linalg {

// Eigenvalues (..., n) and eigenvectors, the columns of (..., n, n), of square matrices. Both are complex,
// also where all are real. Eigenvectors have norm 1, and the largest component of each is real. The order is
// that in which they are found: not sorted. Derivatives are not finite where two eigenvalues are equal (those
// of the eigenvalues: where there are not enough eigenvectors). Throws ShapeError unless the last two axes
// are square.
template <detail::ArrayLike A>
auto eig(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("eig", a);
  return static_cast<Eig<complex_t<T>>>(detail::eig_of(a));
}
// The eigenvalues alone, (..., n). Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto eigvals(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("eigvals", a);
  return (detail::is_recorded(a) ? detail::eig_of(a) : detail::eig_values(a, false)).eigenvalues;
}

}  // namespace linalg
NAX_END
