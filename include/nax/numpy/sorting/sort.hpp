#pragma once

#include "nax/backend/cpu/lines/line_kernels.hpp"
#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/cumulative.hpp"

// Order along an axis. Sorts put NaN last (first when descending); the derivative of a sort moves along with
// the elements. Complex numbers are ordered by their real parts, equal ones by their imaginary parts.
NAX_BEGIN

// No axis (none) means the flattened array. Every sort is stable, whether that is asked for or not: of equal
// elements the first comes first, also when descending.
struct SortOptions {
  Axis axis = -1;
  bool stable = true;
  bool descending = false;
};

namespace detail {

using cpu::sortable_t;

// Row-major elements in the type that sort kernels compare. `x`: of a type with an order.
NAX_ENGINE ArrayBase sortable_rows(const ArrayBase& x);

// Values only, of a type with an order: the places from which the elements of each sorted line come, the
// sorted lines, and the places of the k greatest elements of each line of the last axis.
NAX_ENGINE ArrayBase argsort_lines(const ArrayBase& x, int axis, bool descending);
NAX_ENGINE ArrayBase sort_lines(const ArrayBase& x, int axis, bool descending);
NAX_ENGINE ArrayBase top_k_lines(const ArrayBase& x, std::int64_t k);

template <class T>
Array<std::int32_t> argsort_axis(const Array<T>& x, int axis, bool descending) {
  static_assert(!is_complex_v<T>, "argsort: complex numbers have no order");
  cpu::provide<cpu::ArgsortKernel, sortable_t<T>>();
  return typed<std::int32_t>(argsort_lines(x, axis, descending));
}

template <class T>
Array<T> sort_axis(const Array<T>& x, int axis, bool descending) {
  if constexpr (is_inexact_v<T>)
    if (is_recorded(x))
      return take_along_axis(x, argsort_axis(typed<T>(constant(x)), axis, descending), axis);
  cpu::provide<cpu::SortKernel, sortable_t<T>>();
  return typed<T>(sort_lines(x, axis, descending));
}

// Does the element hold a NaN, and in which parts? NumPy sorts complex numbers in this order: none, one in
// the imaginary part, one in the real part, both.
template <class T>
Array<std::int8_t> nan_class(const Array<T>& x) {
  const Array<real_t<T>> re = evaluate(make_expr<rules::real>(x)), im = evaluate(make_expr<rules::imag>(x));
  using Class = where_used_t<Array<std::int8_t>, T>;
  const Class one(std::int8_t{1}), two(std::int8_t{2}), zero(std::int8_t{0});
  const Class of_re = evaluate(make_selection<rules::where>(make_expr<rules::equal>(re, re), zero, two));
  const Class of_im = evaluate(make_selection<rules::where>(make_expr<rules::equal>(im, im), zero, one));
  return evaluate(make_expr<rules::add>(of_re, of_im));
}

// `order`, sorted by another key that goes before all so far.
template <class T>
Array<std::int32_t> ordered_by(const Array<T>& key, const Array<std::int32_t>& order, int axis,
                               bool descending) {
  return take_along_axis(order, argsort_axis(Array<T>(take_along_axis(key, order, axis)), axis, descending),
                         axis);
}

template <class T>
Array<std::int32_t> argsort_any(const Array<T>& x_, int axis, bool descending) {
  const Array<T> x = typed<T>(constant(x_));
  if constexpr (is_complex_v<T>) {
    const Array<std::int32_t> by_imag = argsort_axis(evaluate(make_expr<rules::imag>(x)), axis, descending);
    return ordered_by(nan_class(x),
                      ordered_by(evaluate(make_expr<rules::real>(x)), by_imag, axis, descending), axis,
                      descending);
  } else {
    return argsort_axis(x, axis, descending);
  }
}
template <class T>
Array<T> sort_any(const Array<T>& x, int axis, bool descending) {
  if constexpr (is_complex_v<T>)
    return take_along_axis(x, argsort_any(x, axis, descending), axis);
  else
    return sort_axis(x, axis, descending);
}

template <class T>
Array<std::int32_t> top_k_places(const Array<T>& x, std::int64_t k) {
  static_assert(!is_complex_v<T>, "top_k: complex numbers have no order");
  cpu::provide<cpu::TopKKernel, sortable_t<T>>();
  return typed<std::int32_t>(top_k_lines(x, k));
}

}  // namespace detail

// The elements in ascending order along `axis` (the last when not given; none: flattened). The result has the
// shape of x; flattened, shape (n,). Throws ValueError unless `axis` is one axis, and IndexError if it is out
// of bounds.
template <detail::ArrayLike X>
auto sort(const X& x, const SortOptions& options = {}) {
  return detail::along_axis("sort", x, {.axis = options.axis}, [&](const auto& a, int axis) {
    return detail::sort_any(a, axis, options.descending);
  });
}
// Where the elements of the sorted array come from: take_along_axis(x, argsort(x), axis) is sort(x). The
// result has the shape of x; flattened, shape (n,). Throws ValueError unless `axis` is one axis, and
// IndexError if it is out of bounds.
template <detail::ArrayLike X>
Array<std::int32_t> argsort(const X& x, const SortOptions& options = {}) {
  return detail::along_axis("argsort", x, {.axis = options.axis}, [&](const auto& a, int axis) {
    return detail::argsort_any(a, axis, options.descending);
  });
}

template <class T>
struct TopK {
  Array<T> values;
  Array<std::int32_t> indices;
};
// The k largest elements along the last axis in descending order, and where they were. Both have the shape of
// x with extent k on the last axis. Throws ValueError for a 0-d array, or if `k` is negative or exceeds the
// last axis.
template <detail::ArrayLike X>
auto top_k(const X& x_, std::int64_t k) {
  using T = typename X::value_type;
  const Array<T> x = detail::materialise(x_);
  detail::check_reducible("top_k", x);
  if (x.ndim() == 0) throw ValueError("top_k: the array must be at least 1-d");
  if (k < 0 || k > x.shape(-1))
    raise<ValueError>({"top_k: k = ", k, " is out of range for shape ", x.shape()});
  const Array<std::int32_t> indices = detail::top_k_places(detail::typed<T>(detail::constant(x)), k);
  return TopK<T>{take_along_axis(x, indices, -1), indices};
}

// Where JAX has it.
namespace lax {
using nax::top_k;
}  // namespace lax

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase sortable_rows(const ArrayBase& x) {
  return as_dtype(contiguous(x, transforms_handled), lane_of(x.dtype()));
}

NAX_ENGINE ArrayBase argsort_lines(const ArrayBase& x, int axis, bool descending) {
  check_places("argsort", x.shape(axis) - 1);
  const ArrayBase rows = contiguous(x, transforms_handled);
  ArrayBase order = allocate(DType::int32, layout_of(rows), device_for("argsort", x));
  backend::run(order.device(), ops::Argsort{lines_of(layout_of(rows), axis), rows.dtype(), descending},
               {device_data(rows), device_data(order)});
  return order;
}

NAX_ENGINE ArrayBase sort_lines(const ArrayBase& x, int axis, bool descending) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  ArrayBase sorted = allocate(x.dtype(), layout_of(rows), device_for("sort", x));
  backend::run(sorted.device(), ops::Sort{lines_of(layout_of(rows), axis), rows.dtype(), descending},
               {device_data(rows), device_data(sorted)});
  return sorted;
}

NAX_ENGINE ArrayBase top_k_lines(const ArrayBase& x, std::int64_t k) {
  check_places("top_k", x.shape(-1) - 1);
  const ArrayBase rows = contiguous(x, transforms_handled);
  Frame frame = layout_of(rows);
  frame.shape.back() = k;
  ArrayBase order = allocate(DType::int32, frame, device_for("top_k", x));
  backend::run(order.device(), ops::TopK{lines_of(layout_of(rows), x.ndim() - 1), rows.dtype(), k},
               {device_data(rows), device_data(order)});
  return order;
}

}  // namespace detail
NAX_END
#endif
