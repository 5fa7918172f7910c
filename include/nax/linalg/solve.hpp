#pragma once

#include "nax/linalg/matrices.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/reductions/sum.hpp"

// Linear systems. A singular matrix gives infinities or NaN, as JAX has it: in a batch the others are solved.
NAX_BEGIN
namespace detail {

template <class T>
Array<T> negated(const Array<T>& x) {
  return evaluate(make_expr<rules::negative>(x));
}

// a^-1 b for matrices b; leading axes broadcast.
template <class T>
Array<T> solve_matrices(const Array<T>& a, const Array<T>& b) {
  const Layout &la = layout_of(a), &lb = layout_of(b);
  const std::int64_t n = la.shape.back(), m = lb.shape.back();
  const Frame leading = broadcast("solve", leading_axes(la), leading_axes(lb));
  Frame frame = leading;
  frame.shape.push_back(n);
  frame.shape.push_back(m);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame));
  const BatchWalk walk_a(la, leading, 2), walk_b(lb, leading, 2);
  const std::size_t rb = lb.shape.size();
  if (frame.size() > 0)
    for_each_batch(leading.size(), n, [&](std::int64_t begin, std::int64_t end) {
      if constexpr (simd::has_packet<T>)
        if (cpu::has_tiny_factors<T>(n) && m <= cpu::most_tiny_right) {
          const std::size_t ra = la.shape.size();
          for (std::int64_t i = begin; i < end; i += MatrixLanes<T>::width) {
            const std::int64_t some = std::min(end - i, MatrixLanes<T>::width);
            cpu::solve_tiny<T>(MatrixLanes<T>(a, walk_a, i, some).at, la.strides[ra - 2], la.strides[ra - 1],
                               n, MatrixLanes<T>(b, walk_b, i, some).at, lb.strides[rb - 2],
                               lb.strides[rb - 1], m, elements<T>(result) + i * n * m, some);
          }
          return;
        }
      LuFactors<T> factors;
      std::vector<T> right(static_cast<std::size_t>(n * m));
      for (std::int64_t i = begin; i < end; ++i) {
        factors.of(a, walk_a.at(i));
        gather_matrix(elements<const T>(b, transforms_handled) + walk_b.at(i), lb.strides[rb - 2],
                      lb.strides[rb - 1], n, m, right.data());
        cpu::lu_solve(factors.lu.data(), factors.rows.data(), n, right.data(),
                      elements<T>(result) + i * n * m, m);
      }
    });
  check_result("solve", result, {&a, &b});
  const Frame fa = la, fb = lb;
  return record_with_result(std::move(result),
                            wrt(
                                a,
                                [=](const Array<T>& g, const Array<T>& x) {
                                  const Array<T> w = negated(solve_matrices(matrix_transpose(a), g));
                                  return contract(w, matrix_transpose(x),
                                                  with_new_levels(fa, frame, layout_of(g)));
                                },
                                [=](const Array<T>& t, const Array<T>& x) {
                                  return negated(solve_matrices(a, matmul_arrays("solve", t, x)));
                                }),
                            wrt(
                                b,
                                [=](const Array<T>& g, const Array<T>&) {
                                  return sum_to(solve_matrices(matrix_transpose(a), g), fb, frame);
                                },
                                [=](const Array<T>& t, const Array<T>&) { return solve_matrices(a, t); }));
}

template <class T>
Array<T> solve_arrays(const char* function, const Array<T>& a, const Array<T>& b) {
  check_square(function, a);
  need_host(function, b);
  check_operand(function, b);
  if (b.ndim() == 0 || b.shape(b.ndim() == 1 ? 0 : -2) != a.shape(-1))
    throw_inner(function, a.shape(), b.shape());
  const int rank = std::max(a.ndim(), b.ndim());
  const Array<T> left = with_unit_axes(a, rank - a.ndim(), false);
  if (b.ndim() > 1) return solve_matrices(left, with_unit_axes(b, rank - b.ndim(), false));
  const Array<T> x = solve_matrices(left, with_unit_axes(b, rank - 2, true));
  Dims visible = x.shape();
  visible.pop_back();
  return restride(x, with_visible(layout_of(x), visible));
}

template <class T>
Array<T> inverse(const Array<T>& a) {
  const Layout& la = layout_of(a);
  const std::int64_t n = la.shape.back();
  const Frame frame = la;
  const Frame leading = leading_axes(la);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame));
  const BatchWalk walk(la, leading, 2);
  if (frame.size() > 0)
    for_each_batch(leading.size(), n, [&](std::int64_t begin, std::int64_t end) {
      if constexpr (simd::has_packet<T>)
        if (cpu::has_tiny_factors<T>(n)) {
          const std::size_t rank = la.shape.size();
          for (std::int64_t i = begin; i < end; i += MatrixLanes<T>::width) {
            const std::int64_t some = std::min(end - i, MatrixLanes<T>::width);
            cpu::solve_tiny<T>(MatrixLanes<T>(a, walk, i, some).at, la.strides[rank - 2],
                               la.strides[rank - 1], n, nullptr, 0, 0, n, elements<T>(result) + i * n * n,
                               some);
          }
          return;
        }
      LuFactors<T> factors;
      std::vector<T> one(static_cast<std::size_t>(n * n), T(0));
      for (std::int64_t i = 0; i < n; ++i) one[static_cast<std::size_t>(i * n + i)] = T(1);
      for (std::int64_t i = begin; i < end; ++i) {
        factors.of(a, walk.at(i));
        cpu::lu_solve(factors.lu.data(), factors.rows.data(), n, one.data(), elements<T>(result) + i * n * n,
                      n);
      }
    });
  check_result("inv", result, {&a});
  const auto product = [](const Array<T>& x, const Array<T>& y, const Array<T>& z) {
    return negated(matmul_arrays("inv", matmul_arrays("inv", x, y), z));
  };
  return record_with_result(std::move(result),
                            wrt(
                                a,
                                [=](const Array<T>& g, const Array<T>& y) {
                                  const Array<T> t = matrix_transpose(y);
                                  return product(t, g, t);
                                },
                                [=](const Array<T>& t, const Array<T>& y) { return product(y, t, y); }));
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
// both. Throws ShapeError unless `a` is square and `b` has as many rows.
template <detail::ArrayLike A, detail::ArrayLike B>
auto solve(const A& a, const B& b) {
  using R = promote_t<detail::linalg_t<A>, detail::linalg_t<B>>;
  return detail::solve_arrays<R>("solve", detail::as_type<R>(a), detail::as_type<R>(b));
}

// The inverses of the matrices in the last two axes. Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto inv(const A& a_) {
  using R = detail::linalg_t<A>;
  const Array<R> a = detail::as_type<R>(a_);
  detail::check_square("inv", a);
  return detail::inverse(a);
}

// a multiplied by itself n times; the inverse for negative n, the identity for 0. Throws ShapeError unless
// the last two axes are square, and ValueError for a negative power of integers.
template <detail::ArrayLike A>
auto matrix_power(const A& a_, std::int64_t n) {
  using T = typename A::value_type;
  Array<T> a = detail::as_type<T>(a_);
  detail::check_operand("matrix_power", a);
  if (a.ndim() < 2 || a.shape(-1) != a.shape(-2))
    raise<ShapeError>({"matrix_power: the last two axes must be square, shape ", a.shape()});
  if (n < 0) {
    if constexpr (detail::is_linalg_v<T>) {
      detail::need_host("matrix_power", a);
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
