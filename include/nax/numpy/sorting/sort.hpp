#pragma once

#include "nax/backend/cpu/sort.hpp"
#include "nax/backend/cpu/top_k.hpp"
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

// The type that sort kernels compare: float for half types, bytes for bool.
template <class T>
using sortable_t = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, lane_t<T>>;

template <class T>
ArrayBase sortable_rows(const Array<T>& x) {
  static_assert(!is_complex_v<T>, "sort: complex numbers have no order");
  using Lane = sortable_t<T>;
  ArrayBase rows = contiguous(x, transforms_handled);
  if constexpr (std::is_same_v<Lane, T> || std::is_same_v<T, bool>) {
    return rows;
  } else {
    ArrayBase wide = allocate(dtype_of<Lane>, layout_of(rows));
    cpu::convert_run<T, Lane>(raw_data(rows), 1, raw_data(wide), 1, layout_of(rows).size());
    return wide;
  }
}

// Where the elements of each sorted line come from, on a GPU.
[[gnu::cold]] NAX_ENGINE ArrayBase argsort_on_device(const ArrayBase& x, int axis, bool descending);

template <class T>
Array<std::int32_t> argsort_axis(const Array<T>& x, int axis, bool descending) {
  static_assert(!is_complex_v<T>, "argsort: complex numbers have no order");
  if (on_accelerator(x)) return typed<std::int32_t>(argsort_on_device(x, axis, descending));
  using Lane = sortable_t<T>;
  const ArrayBase rows = sortable_rows(x);
  Array<std::int32_t> result = typed<std::int32_t>(allocate(DType::int32, layout_of(rows)));
  const loops::Lines lines = lines_of(layout_of(rows), axis);
  const Lane* from = elements<const Lane>(rows, transforms_handled);
  std::int32_t* to = elements<std::int32_t>(result);
  if (lines.n > 0)
    loops::for_each_line(lines, [=](std::int64_t first) {
      cpu::argsort_line(from + first, lines.inner, lines.n, descending, to + first, lines.inner);
    });
  return result;
}

template <class T>
Array<T> sort_axis(const Array<T>& x, int axis, bool descending) {
  if (on_accelerator(x)) {
    const Array<std::int64_t> order =
        typed<std::int64_t>(as_dtype(argsort_on_device(x, axis, descending), DType::int64));
    return get(x, along_selection(layout_of(x), order, axis));
  }
  if constexpr (is_inexact_v<T>) {
    if (is_recorded(x))
      return take_along_axis(x, argsort_axis(typed<T>(constant(x)), axis, descending), axis);
  }
  using Lane = sortable_t<T>;
  const Frame frame = layout_of(x);
  const loops::Lines lines = lines_of(frame, axis);
  const ArrayBase rows = sortable_rows(x);
  ArrayBase sorted = allocate(dtype_of<Lane>, frame);
  const Lane* from = elements<const Lane>(rows, transforms_handled);
  Lane* to = elements<Lane>(sorted);
  if (lines.n > 0)
    loops::for_each_line(lines, [=](std::int64_t first) {
      if (lines.inner == 1) return cpu::sort_run(from + first, to + first, lines.n, descending);
      const cpu::Scratch<Lane> line(lines.n);
      for (std::int64_t i = 0; i < lines.n; ++i) line[i] = from[first + i * lines.inner];
      cpu::sort_run(line.data(), line.data(), lines.n, descending);
      for (std::int64_t i = 0; i < lines.n; ++i) to[first + i * lines.inner] = line[i];
    });
  if constexpr (std::is_same_v<Lane, T> || std::is_same_v<T, bool>)
    return typed<T>(std::move(sorted));
  else
    return from_accumulator<T, Lane>(std::move(sorted));
}

// Does the element hold a NaN, and in which parts? NumPy sorts complex numbers in this order: none, one in
// the imaginary part, one in the real part, both.
template <class T>
Array<std::int8_t> nan_class(const Array<T>& x) {
  const Array<real_t<T>> re = evaluate(make_expr<rules::real>(x)), im = evaluate(make_expr<rules::imag>(x));
  const Array<std::int8_t> one(std::int8_t{1}), two(std::int8_t{2}), zero(std::int8_t{0});
  const Array<std::int8_t> of_re =
      evaluate(make_selection<rules::where>(make_expr<rules::equal>(re, re), zero, two));
  const Array<std::int8_t> of_im =
      evaluate(make_selection<rules::where>(make_expr<rules::equal>(im, im), zero, one));
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

// Where the k largest elements of each line of the last axis are.
template <class T>
Array<std::int32_t> top_k_places(const Array<T>& x, std::int64_t k) {
  if (on_accelerator(x)) {
    const Array<std::int32_t> order = argsort_axis(x, x.ndim() - 1, true);
    return order(ellipsis, slice(0, k));
  }
  using Lane = sortable_t<T>;
  const ArrayBase rows = sortable_rows(x);
  Frame frame = layout_of(rows);
  frame.shape.back() = k;
  Array<std::int32_t> result = typed<std::int32_t>(allocate(DType::int32, frame));
  const loops::Lines lines = lines_of(layout_of(rows), x.ndim() - 1);
  const Lane* from = elements<const Lane>(rows, transforms_handled);
  std::int32_t* to = elements<std::int32_t>(result);
  if (k > 0)
    loops::for_each_line(lines, [=](std::int64_t first) {
      cpu::top_k_line(from + first, lines.n, k, to + first / lines.n * k);
    });
  return result;
}

}  // namespace detail

// The elements in ascending order along `axis` (the last when not given; none: flattened).
template <detail::ArrayLike X>
auto sort(const X& x, const SortOptions& options = {}) {
  return detail::along_axis("sort", x, {.axis = options.axis}, [&](const auto& a, int axis) {
    return detail::sort_any(a, axis, options.descending);
  });
}
// Where the elements of the sorted array come from: take_along_axis(x, argsort(x), axis) is sort(x).
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
// The k largest elements along the last axis in descending order, and where they were.
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

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/sorting/sort-inl.hpp"
#endif
