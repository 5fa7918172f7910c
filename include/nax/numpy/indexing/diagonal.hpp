#pragma once

#include <algorithm>

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/reshape.hpp"

// Diagonals and triangles.
NAX_BEGIN

struct DiagonalOptions {
  std::int64_t offset = 0;  // above the main diagonal where positive
  std::int64_t axis1 = 0, axis2 = 1;
};
struct TraceOptions {
  std::int64_t offset = 0;
  std::int64_t axis1 = 0, axis2 = 1;
  std::optional<DType> dtype = {};  // as for sum: must be the type that the call has
};
struct DiagOptions {
  std::int64_t k = 0;
};

namespace detail {

// The diagonal of two visible axes as the last axis of a view.
struct DiagonalPlan {
  int axis1, axis2;
  std::int64_t offset;

  std::int64_t view(const Layout& x, Layout& out) const;
};

template <class T>
Array<T> on_diagonal(const Array<T>& g, const DiagonalPlan& plan, const Dims& visible);

template <class T>
Array<T> diagonal_view(const Array<T>& x, const DiagonalPlan& plan) {
  Layout layout;
  const std::int64_t offset = plan.view(layout_of(x), layout);
  const Dims visible = x.shape();
  return record_view(
      x, std::move(layout), offset,
      [plan, visible](const Array<T>& g) { return on_diagonal(g, plan, visible); },
      [plan](const Array<T>& t) { return diagonal_view(t, plan); });
}

// Zeros of visible shape `visible` with g on the diagonal.
template <class T>
Array<T> on_diagonal(const Array<T>& g, const DiagonalPlan& plan, const Dims& visible) {
  Array<T> result =
      typed<T>(allocate(dtype_of<T>, with_visible(layout_of(g), visible), device_for("diagonal", g)));
  clear_elements(result);
  Layout layout;
  const std::int64_t offset = plan.view(layout_of(result), layout);
  copy_into(g, sub_array(result, std::move(layout), offset));
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      g, [plan](const Array<T>& c) { return diagonal_view(c, plan); },
                      [plan, visible](const Array<T>& t) { return on_diagonal(t, plan, visible); }));
  else
    return result;
}

template <class T>
Array<T> diagonal_of(const char* function, const Array<T>& x, const DiagonalOptions& options) {
  check_operand(function, x);
  if (x.ndim() < 2)
    raise<ValueError>({function, ": diag requires an array of at least two dimensions, shape ", x.shape()});
  const int a = normalize_axis(function, options.axis1, x.ndim()),
            b = normalize_axis(function, options.axis2, x.ndim());
  if (a == b) raise<ValueError>({function, ": axis1 and axis2 cannot be the same"});
  return diagonal_view(x, {a, b, std::clamp(options.offset, -x.shape(a), x.shape(b))});
}

// x where column - row is at most k (or at least), 0 elsewhere.
template <class X>
auto triangle(const char* function, const X& x_, std::int64_t k, bool lower) {
  using T = typename X::value_type;
  const auto& x = materialise(x_);
  if (x.ndim() < 1) raise<ValueError>({function, ": the array must have at least one dimension"});
  const std::int64_t columns = x.shape(-1), rows = x.ndim() > 1 ? x.shape(-2) : columns;
  Array<bool> mask = typed<bool>(allocate_on_host(DType::boolean, Frame{Shape{rows, columns}, {}}));
  bool* m = elements<bool>(mask);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) *m++ = lower ? j - i <= k : j - i >= k;
  return evaluate(make_selection<rules::where>(typed<bool>(beside(x, mask)), x, Array<T>(T(0))));
}

}  // namespace detail

// The elements x[..., i, ..., i + offset, ...], as the last axis of a view. The view has the shape of x
// without the two axes, then the length of the diagonal: (m, n, k) gives (k, min(m, n)). Throws ValueError
// for an array of less than two axes or equal axes, and IndexError if one is out of bounds.
template <detail::ArrayLike X>
auto diagonal(const X& x, const DiagonalOptions& options = {}) {
  return detail::diagonal_of("diagonal", detail::materialise(x), options);
}
// A matrix's diagonal k, or the matrix with a 1-d array on its diagonal k. (m, n) gives (min(m, n),) for k =
// 0, and (n,) gives (n + k, n + k) for k >= 0. Throws ValueError unless the array is 1-d or 2-d.
template <detail::ArrayLike X>
auto diag(const X& x_, const DiagOptions& options = {}) {
  const auto& x = detail::materialise(x_);
  if (x.ndim() == 2) return detail::diagonal_of("diag", x, {.offset = options.k});
  if (x.ndim() != 1) raise<ValueError>({"diag: input must be 1- or 2-d, shape ", x.shape()});
  detail::check_operand("diag", x);
  const std::int64_t below = options.k < -INT64_MAX ? INT64_MAX : -options.k;
  const std::int64_t n = detail::add_extents(x.size(), std::max(options.k, below));
  detail::count_elements("diag", Shape{n, n});
  return detail::on_diagonal(x, {0, 1, options.k}, Shape{n, n});
}
// The matrix with all elements of x on its diagonal k. The result has shape (n + k, n + k) for n elements and
// k >= 0.
template <detail::ArrayLike X>
auto diagflat(const X& x, const DiagOptions& options = {}) {
  return diag(ravel(x), options);
}
// The sum of a diagonal, in the type of sums. trace<R>(x) converts the elements to R first, and is of that
// type. The result has the shape of x without the two axes. Throws ValueError for an array of less than two
// axes or equal axes, IndexError if one is out of bounds, and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto trace(const X& x, const TraceOptions& options = {}) {
  using T = typename X::value_type;
  using R = detail::sum_t<T>;
  detail::check_result_dtype("trace", options.dtype, dtype_of<R>);
  const Array<T> d =
      detail::diagonal_of("trace", detail::materialise(x),
                          {.offset = options.offset, .axis1 = options.axis1, .axis2 = options.axis2});
  AxisMarks last(static_cast<std::size_t>(d.ndim()), false);
  last.back() = true;
  return detail::sum_over<R>(d, last, false, 1);
}
template <Dtype R, detail::ArrayLike X>
Array<R> trace(const X& x, const TraceOptions& options = {}) {
  return detail::in_result_type<R>("trace", x, options,
                                   [](const auto& a, const auto& with) { return trace(a, with); });
}

// The last two axes at and below (tril), or at and above (triu), diagonal k; zeros elsewhere. The result has
// the shape of x; (n,) becomes (n, n), n equal rows. Throws ValueError for a 0-d array.
template <detail::ArrayLike X>
auto tril(const X& x, const DiagOptions& options = {}) {
  return detail::triangle("tril", x, options.k, true);
}
// The upper triangle of matrices, zeros below it. The result has the shape of x; (n,) becomes (n, n), n equal
// rows. Throws ValueError for a 0-d array.
template <detail::ArrayLike X>
auto triu(const X& x, const DiagOptions& options = {}) {
  return detail::triangle("triu", x, options.k, false);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t DiagonalPlan::view(const Layout& x, Layout& out) const {
  out = hidden_part(x);
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != axis1 && axis != axis2) append_axis(out, x.visible(axis), visible_stride(x, axis));
  const std::int64_t s1 = visible_stride(x, axis1), s2 = visible_stride(x, axis2);
  const std::int64_t rows = x.visible(axis1) - (offset < 0 ? -offset : 0);
  const std::int64_t columns = x.visible(axis2) - (offset > 0 ? offset : 0);
  const std::int64_t n = rows < columns ? rows : columns;
  append_axis(out, n > 0 ? n : 0, s1 + s2);
  return n <= 0 ? 0 : offset < 0 ? -offset * s1 : offset * s2;
}

}  // namespace detail
NAX_END
#endif
