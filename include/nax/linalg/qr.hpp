#pragma once

#include <string_view>

#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/linalg/cholesky.hpp"
#include "nax/linalg/rules.hpp"
#include "nax/numpy/indexing/indexing.hpp"

NAX_BEGIN
namespace linalg {

template <class T>
struct QR {
  Array<T> Q, R;
};

}  // namespace linalg

namespace detail {

// x with x r = t, r upper triangular.
template <class T>
Array<T> divided_by_triangle(const Array<T>& t, const Array<T>& r) {
  return matrix_transpose(solve_triangles(matrix_transpose(r), matrix_transpose(t), true, false));
}

// The tangent of Q, where Q has min(m, n) columns: with dA R1^-1 = C, R1 the square part of R, the
// skew-symmetric Q^H dQ takes its lower triangle from Q^H C (Walter and Lehmann 2010, as in JAX). Columns of
// a wide matrix beyond the first m are not read: they follow from Q.
template <class T>
Array<T> q_tangent(const Array<T>& t, const Array<T>& q, const Array<T>& r) {
  using namespace la;
  const std::int64_t k = q.shape(-1);
  const Array<T> c = divided_by_triangle(first_columns(t, k), first_columns(r, k));
  const Array<T> inner = product(adjoint(q), c);
  const Array<T> low = triangle(inner, true, T(0));
  Array<T> turn = minus(low, adjoint(low));
  if constexpr (is_complex_v<T>) {  // the diagonal of R stays real
    const Array<T> imaginary = minus(inner, converted<T>(real_part(inner)));
    turn = plus(turn, times(imaginary, eye_beside<T>(q, k)));
  }
  return plus(product(q, minus(turn, inner)), c);
}

template <class T>
linalg::QR<T> qr_of(const Array<T>& a, bool complete, bool wants_q) {
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = complete ? m : std::min(m, n);
  const bool recorded = is_recorded(a);
  if (recorded && k > n)
    throw ValueError("qr: the columns that mode 'complete' adds to Q have no derivative; use mode 'reduced'");
  if (recorded) wants_q = true;  // the derivative of R reads Q
  auto parts = std::make_shared<linalg::QR<T>>();
  if (wants_q) parts->Q = matrices_like<T>(a, {m, k});
  parts->R = matrices_like<T>(a, {k, n});
  constexpr auto kind = loops::Factorisation::qr;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  factorise({.kind = kind, .complete = complete}, a, {wants_q && m * k > 0 ? &parts->Q : nullptr, &parts->R});
  if (!recorded) return *parts;
  parts->Q = record_tangent(
      parts->Q, a, [parts](const Array<T>& t, const Array<T>& q_) { return q_tangent(t, q_, parts->R); });
  parts->R = record_tangent(parts->R, a, [parts](const Array<T>& t, const Array<T>& r_) {
    const Array<T> dq = q_tangent(t, parts->Q, r_);
    return triangle(la::product(la::adjoint(parts->Q), la::minus(t, la::product(dq, r_))), false, T(1));
  });
  return *parts;
}

}  // namespace detail

namespace linalg {

struct QrOptions {
  const char* mode = "reduced";
};
// a = Q R for the matrices (..., m, n) in the last two axes: Q has orthonormal columns, R is upper
// triangular, the signs are LAPACK's. Mode "reduced": Q is (..., m, k), R (..., k, n) with k = min(m, n);
// "complete": k = m; "r": R alone, and Q is an empty array. Differentiable where Q has no more than n columns
// and the first k columns of a are independent. Throws ShapeError unless the array is at least 2-d, and
// ValueError for an unknown mode or a derivative of added columns.
template <detail::ArrayLike A>
auto qr(const A& a_, const QrOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_matrices("qr", a);
  const std::string_view mode = options.mode;
  if (mode != "reduced" && mode != "complete" && mode != "r")
    raise<ValueError>({"qr: mode must be 'reduced', 'complete' or 'r', got '", options.mode, "'"});
  QR<T> parts = detail::qr_of(a, mode == "complete", mode != "r");
  if (mode == "r") parts.Q = Array<T>();
  return parts;
}

}  // namespace linalg
NAX_END
