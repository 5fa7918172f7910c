#pragma once

#include "nax/linalg/qr.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// SciPy's LU and Cholesky factors, and solving with them.
NAX_BEGIN
namespace detail {

// The factors of matrices (..., m, n) in one array, L below the diagonal and U on and above; the swaps of
// rows.
template <class T>
struct PackedLu {
  Array<T> lu;
  Array<std::int32_t> swaps;
};

// L (..., m, min(m, n)), with ones on its diagonal, and U (..., min(m, n), n) of packed factors.
template <class T>
Array<T> lower_of(const Array<T>& lu) {
  const std::int64_t m = lu.shape(-2), k = std::min(m, lu.shape(-1));
  const Array<T> below = triangle(la::first_columns(lu, k), true, T(0));
  return la::plus(below, la::eye_beside<T>(lu, m, {.M = k}));
}
template <class T>
Array<T> upper_of(const Array<T>& lu) {
  return triangle(la::first_rows(lu, std::min(lu.shape(-1), lu.shape(-2))), false, T(1));
}

// With L and U made square by ones on the diagonal and M = L^-1 P^T dA U^-1: dL = L tril(M, -1) and
// dU = triu(M) U, together in one array (as in JAX).
template <class T>
Array<T> lu_tangent(const Array<T>& rows, const Array<T>& lu) {
  const std::int64_t m = lu.shape(-2), n = lu.shape(-1), k = std::min(m, n);
  const auto grown = [&](const Array<T>& x, std::int64_t size, int axis) -> Array<T> {
    if (size == k) return x;
    const std::int64_t more = size - k;
    const Array<T> rest = axis == -1 ? la::eye_beside<T>(x, size, {.M = more, .k = -k})
                                     : la::eye_beside<T>(x, more, {.M = size, .k = k});
    Dims visible = x.shape();
    visible[visible.size() - 2] = rest.shape(0);
    visible[visible.size() - 1] = rest.shape(1);
    return concatenate_on("lu", std::vector<Array<T>>{x, broadcast_visible("lu", rest, visible)}, axis);
  };
  const Array<T> l = grown(lower_of(lu), m, -1), u = grown(upper_of(lu), n, -2);
  const Array<T> inner = divided_by_triangle(solve_triangles(l, rows, true, true), u);
  return la::plus(la::product(l, triangle(inner, true, T(0))), la::product(triangle(inner, false, T(1)), u));
}

[[noreturn, gnu::cold]] inline void throw_no_row(const std::int32_t* swaps, std::int64_t m) {
  while (*swaps >= 0 && *swaps < m) ++swaps;
  raise<ValueError>({"lu_solve: piv holds ", *swaps, ", which is no row of ", m});
}

// The permutation matrices p with p x = a, x being a with its rows swapped. Where the device does not say
// so, a swap with no row is left out.
template <class T>
Array<T> permutation_of(const Array<std::int32_t>& swaps, std::int64_t m) {
  using R = real_t<T>;
  const ArrayBase plain = contiguous(swaps, transforms_handled);
  const std::int64_t k = layout_of(plain).shape.back();
  const Device device = device_for("lu", plain);
  Frame frame = layout_of(plain);
  frame.shape.back() = m;
  const std::int64_t lines = m == 0 ? 0 : frame.size() / m;
  const ArrayBase rows = allocate(DType::int32, frame, device);
  frame.shape.push_back(m);
  Array<R> result = typed<R>(allocate(dtype_of<R>, frame, device));
  if (lines > 0) {
    const char* const places = device_data(plain);
    if (backend::run(device, ops::OrderOfSwaps{lines, k, m}, {places, device_data(rows)}).value_or(false))
      throw_no_row(reinterpret_cast<const std::int32_t*>(places), m);  // a device that says so is the host
    backend::run(device, ops::OneHot{{lines, m, m}, DType::int32, dtype_of<R>},
                 {device_data(rows), device_data(result)});
  }
  if constexpr (is_complex_v<T>)
    return la::converted<T>(result);
  else
    return result;
}

template <class T>
PackedLu<T> lu_of(const Array<T>& a) {
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  PackedLu<T> parts{matrices_like<T>(a, {m, n}), matrices_like<std::int32_t>(a, {k})};
  if (m * n > 0) {
    constexpr auto kind = loops::Factorisation::lu;
    cpu::provide<cpu::FactorKernel<kind>, T>();
    factorise({.kind = kind}, a, {&parts.lu, &parts.swaps});
  }
  if (!is_recorded(a)) return parts;
  const Array<T> back = matrix_transpose(permutation_of<T>(parts.swaps, m));
  parts.lu = record_tangent(parts.lu, a, [back](const Array<T>& t, const Array<T>& lu) {
    return lu_tangent(la::product(back, t), lu);
  });
  return parts;
}

// f(a, b) for a matrix a and b a vector or matrices; leading axes of both broadcast.
template <class T, class F>
Array<T> with_right_side(const char* function, const Array<T>& a, const Array<T>& b, const F& f) {
  check_square(function, a);
  check_operand(function, b);
  if (b.ndim() == 0 || b.shape(b.ndim() == 1 ? 0 : -2) != a.shape(-1))
    throw_inner(function, a.shape(), b.shape());
  const int rank = std::max(a.ndim(), b.ndim());
  const Array<T> x = f(with_unit_axes(a, rank - a.ndim(), false),
                       with_unit_axes(b, rank - std::max(b.ndim(), 2), b.ndim() == 1));
  if (b.ndim() > 1) return x;
  Dims visible = x.shape();
  visible.pop_back();
  return restride(x, with_visible(layout_of(x), visible));
}

}  // namespace detail

namespace linalg {

// SciPy's names.
template <class T>
struct LU {
  Array<real_t<T>> p;
  Array<T> l, u;
};
template <class T>
struct LuFactor {
  Array<T> lu;              // L below the diagonal, U on and above
  Array<std::int32_t> piv;  // row i was swapped with row piv[i]
};
template <class T>
struct ChoFactor {
  Array<T> c;
  bool lower = false;
};

// a = p l u for matrices (..., m, n), k = min(m, n): p (..., m, m) permutes rows, l (..., m, k) is lower
// triangular with ones on its diagonal, u (..., k, n) upper triangular. The rows are those of partial
// pivoting. Differentiable where the leading k x k matrix of p^T a is regular. Throws ShapeError unless the
// array is at least 2-d.
template <detail::ArrayLike A>
auto lu(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_matrices("lu", a);
  const detail::PackedLu<T> parts = detail::lu_of(a);
  return LU<T>{detail::permutation_of<real_t<T>>(parts.swaps, a.shape(-2)), detail::lower_of(parts.lu),
               detail::upper_of(parts.lu)};
}

// Factorises into the form that lu_solve takes. lu has the shape of a, (..., m, n); piv has shape (..., k), k
// = min(m, n). Throws ShapeError unless the array is at least 2-d.
template <detail::ArrayLike A>
auto lu_factor(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_matrices("lu_factor", a);
  const detail::PackedLu<T> parts = detail::lu_of(a);
  return LuFactor<T>{parts.lu, parts.swaps};
}

struct LuSolveOptions {
  Transposition trans = 0;
};
// x with a x = b, a square and given by lu_factor(a): b a vector or matrices, whose leading axes broadcast.
// `trans`: a^T x = b (1 or "T"), or a^H x = b (2 or "C"). A singular matrix gives infinities or NaN. The
// result has the shape of b, (..., n, k) or (n,). Throws ShapeError if the shapes of lu, piv and b do not
// fit, and ValueError for an invalid pivot.
template <class T, detail::ArrayLike B>
auto lu_solve(const LuFactor<T>& lu_and_piv, const B& b_, const LuSolveOptions& options = {}) {
  using R = promote_t<T, detail::linalg_t<B>>;
  const Array<R> lu = detail::as_type<R>(lu_and_piv.lu), b = detail::as_type<R>(b_);
  detail::check_operand("lu_solve", lu_and_piv.piv);
  if (lu.ndim() < 2 || lu_and_piv.piv.ndim() == 0 || lu_and_piv.piv.shape(-1) != lu.shape(-1))
    raise<ShapeError>({"lu_solve: lu and piv do not belong together: shapes ", lu.shape(), " and ",
                       lu_and_piv.piv.shape()});
  if (b.ndim() > 0 && lu.shape(-1) == lu.shape(-2) && b.shape(b.ndim() == 1 ? 0 : -2) != lu.shape(-1))
    raise<ShapeError>(
        {"lu_solve: b has not as many rows as the matrix: shapes ", lu.shape(), " and ", b.shape()});
  return detail::with_right_side("lu_solve", lu, b, [&](const Array<R>& f, const Array<R>& right) {
    const Array<R> p = detail::permutation_of<R>(lu_and_piv.piv, lu.shape(-1));
    if (!options.trans.transposes()) {
      const Array<R> rows = detail::la::product(matrix_transpose(p), right);
      return detail::solve_triangles(f, detail::solve_triangles(f, rows, true, true), false, false);
    }
    const Array<R> t = options.trans.of(f);
    return detail::la::product(
        p, detail::solve_triangles(t, detail::solve_triangles(t, right, true, false), false, true));
  });
}

struct ChoFactorOptions {
  bool lower = false;
};
// The Cholesky factor in the form that cho_solve takes: c^H c = a, or c c^H = a where `lower`. The other
// triangle of c holds zeros. NaN where a is not positive definite. The gradient is JAX's: not symmetric, as
// that of cholesky is. c has the shape of a, (..., n, n). Throws ShapeError unless the last two axes are
// square.
template <detail::ArrayLike A>
auto cho_factor(const A& a_, const ChoFactorOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("cho_factor", a);
  constexpr auto of = detail::CholeskyDerivative::elements;
  if (options.lower) return ChoFactor<T>{detail::cholesky_of(a, of), true};
  return ChoFactor<T>{detail::conjugate_transpose(detail::cholesky_of(detail::conjugate_transpose(a), of)),
                      false};
}
// x with a x = b, a given by cho_factor(a): b a vector or matrices, whose leading axes broadcast. The result
// has the shape of b, (..., n, k) or (n,). Throws ShapeError unless the factor is square and `b` has as many
// rows.
template <class T, detail::ArrayLike B>
auto cho_solve(const ChoFactor<T>& c_and_lower, const B& b_) {
  using R = promote_t<T, detail::linalg_t<B>>;
  const Array<R> c = detail::as_type<R>(c_and_lower.c), b = detail::as_type<R>(b_);
  return detail::with_right_side("cho_solve", c, b, [&](const Array<R>& f, const Array<R>& right) {
    const Array<R> t = detail::conjugate_transpose(f);
    const bool lower = c_and_lower.lower;
    return lower ? detail::solve_triangles(t, detail::solve_triangles(f, right, true, false), false, false)
                 : detail::solve_triangles(f, detail::solve_triangles(t, right, true, false), false, false);
  });
}

}  // namespace linalg
NAX_END
