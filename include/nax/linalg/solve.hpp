#pragma once

#include "nax/expr/evaluation/number_kernels.hpp"
#include "nax/linalg/matrices.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/reductions/sum.hpp"

// Linear systems. A singular matrix gives infinities or NaN, as JAX has it: in a batch the others are solved.
NAX_BEGIN
namespace detail {

using loops::SystemKind;

constexpr SystemKind triangular(bool lower, bool unit) {
  if (unit) return lower ? SystemKind::unit_lower : SystemKind::unit_upper;
  return lower ? SystemKind::lower : SystemKind::upper;
}

// Provides the kernels of the functions below, of arrays of T.
template <class T>
void provide_systems() {
  static_assert(is_linalg_v<T>, "linalg: the type must be float, double or complex");
  cpu::provide<cpu::SystemKernel, T>();
  cpu::provide<cpu::FactorKernel<loops::Factorisation::triangle>, T>();
  cpu::provide<NegatedKernel, T>();
  provide_products<T>();
}

// a^-1 b for matrices b of a's type; leading axes broadcast. Differentiable in both.
NAX_ENGINE ArrayBase solve_systems(SystemKind kind, const ArrayBase& a, const ArrayBase& b);
// Checks both: a square, b a vector or matrices.
NAX_ENGINE ArrayBase solve_operands(const char* function, SystemKind kind, const ArrayBase& a,
                                    const ArrayBase& b);
// The inverses of square matrices. Differentiable.
NAX_ENGINE ArrayBase inverse(const ArrayBase& a);

template <class T>
Array<T> negated(const Array<T>& x) {
  return typed<T>(NegatedKernel::run<T>(x));
}
template <class T>
Array<T> solve_matrices(const Array<T>& a, const Array<T>& b) {
  provide_systems<T>();
  return typed<T>(solve_systems(SystemKind::general, a, b));
}
template <class T>
Array<T> solve_arrays(const char* function, const Array<T>& a, const Array<T>& b) {
  provide_systems<T>();
  return typed<T>(solve_operands(function, SystemKind::general, a, b));
}
template <class T>
Array<T> inverse(const Array<T>& a) {
  provide_systems<T>();
  return typed<T>(inverse(handle_of(a)));
}

// g, one number a matrix, times the matrices x.
template <class T>
Array<T> times_matrix(const Array<T>& g, const Array<T>& x) {
  Dims visible = g.shape();
  visible.push_back(1);
  visible.push_back(1);
  return evaluate(make_expr<rules::multiply>(restride(g, with_visible(layout_of(g), visible)), x));
}
// sum of x * y over the last two axes.
template <class T>
Array<T> matrix_inner(const Array<T>& x, const Array<T>& y) {
  const auto product = make_expr<rules::multiply>(x, y);
  AxisMarks marks(static_cast<std::size_t>(product.ndim()), false);
  marks[marks.size() - 1] = marks[marks.size() - 2] = true;
  return sum_over<T>(product, marks, false, 1);
}

}  // namespace detail

namespace linalg {

// x with a x = b: b a vector, or matrices whose leading axes broadcast with those of a. Differentiable in
// both. a (..., n, n) and b (..., n, k) give (..., n, k), b (n,) gives (..., n). Throws ShapeError unless `a`
// is square and `b` has as many rows.
template <detail::ArrayLike A, detail::ArrayLike B>
auto solve(const A& a, const B& b) {
  using R = promote_t<detail::linalg_t<A>, detail::linalg_t<B>>;
  return detail::solve_arrays<R>("solve", detail::as_type<R>(a), detail::as_type<R>(b));
}

// The inverses of the matrices in the last two axes. The result has the shape of a, (..., n, n). Throws
// ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto inv(const A& a_) {
  using R = detail::linalg_t<A>;
  const Array<R> a = detail::as_type<R>(a_);
  detail::check_square("inv", a);
  return detail::inverse(a);
}

// a multiplied by itself n times; the inverse for negative n, the identity for 0. The result has the shape of
// a, (..., n, n). Throws ShapeError unless the last two axes are square, and ValueError for a negative power
// of integers.
template <detail::ArrayLike A>
auto matrix_power(const A& a_, std::int64_t n) {
  using T = typename A::value_type;
  Array<T> a = detail::as_type<T>(a_);
  detail::check_operand("matrix_power", a);
  if (a.ndim() < 2 || a.shape(-1) != a.shape(-2))
    raise<ShapeError>({"matrix_power: the last two axes must be square, shape ", a.shape()});
  if (n < 0) {
    if constexpr (detail::is_linalg_v<T>) {
      a = detail::inverse(a);
      n = -n;
    } else {
      throw ValueError("matrix_power: a negative power needs a floating type");
    }
  }
  const detail::ComputeOn beside_a(a);
  if (n == 0) return nax::detail::typed<T>(detail::copy_over(eye<T>(a.shape(-1)), detail::layout_of(a)));
  std::optional<Array<T>> power;
  for (; n > 0; n /= 2) {
    if (n % 2) power = power ? matmul(*power, a) : a;
    if (n > 1) a = matmul(a, a);
  }
  return *power;
}

}  // namespace linalg
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/linalg/solve-inl.hpp"
#endif
