#pragma once

#include <vector>

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Orders by several keys, and order in part.
NAX_BEGIN

// No axis (none) means the flattened array.
struct PartitionOptions {
  Axis axis = -1;
};

namespace detail {

NAX_ENGINE void check_kth(const char* function, const std::vector<std::int64_t>& kth, std::int64_t n);
template <class X, class F>
auto in_part(const char* function, const X& x, const std::vector<std::int64_t>& kth,
             const PartitionOptions& options, const F& f) {
  return along_axis(function, x, {.axis = options.axis}, [&](const auto& a, int axis) {
    check_kth(function, kth, a.shape(axis));
    return f(a, axis);
  });
}

// Values only, of a type with an order.
NAX_ENGINE ArrayBase argpartition_lines(const ArrayBase& x, std::int64_t kth, int axis);
NAX_ENGINE ArrayBase partition_lines(const ArrayBase& x, std::int64_t kth, int axis);

// Lines are parted at one place; at several they are sorted.
template <class T>
Array<std::int32_t> argpartition_axis(const Array<T>& x_, const std::vector<std::int64_t>& kth, int axis) {
  const Array<T> x = typed<T>(constant(x_));
  if constexpr (!is_complex_v<T>) {
    if (kth.size() == 1) {
      cpu::provide<cpu::ArgpartitionKernel, sortable_t<T>>();
      return typed<std::int32_t>(argpartition_lines(x, kth[0], axis));
    }
  }
  return argsort_any(x, axis, false);
}
template <class T>
Array<T> partition_axis(const Array<T>& x, const std::vector<std::int64_t>& kth, int axis) {
  if constexpr (!is_complex_v<T>) {
    if (kth.size() == 1) {
      if (is_recorded(x)) return take_along_axis(x, argpartition_axis(x, kth, axis), axis);
      cpu::provide<cpu::PartitionKernel, sortable_t<T>>();
      return typed<T>(partition_lines(x, kth[0], axis));
    }
  }
  return sort_any(x, axis, false);
}

}  // namespace detail

// The elements along `axis`, the kth where a sort would put it (each of several in a vector), none larger
// before it, none smaller behind. How the others lie is left open, as in NumPy. The result has the shape of
// x. Throws ValueError for a kth that the axis has not.
template <detail::ArrayLike X>
auto partition(const X& x, const std::vector<std::int64_t>& kth, const PartitionOptions& options = {}) {
  return detail::in_part("partition", x, kth, options,
                         [&](const auto& a, int axis) { return detail::partition_axis(a, kth, axis); });
}
template <detail::ArrayLike X>
auto partition(const X& x, std::int64_t kth, const PartitionOptions& options = {}) {
  return partition(x, std::vector{kth}, options);
}
// Where the elements of the partition come from. The result has the shape of x. Throws ValueError if `kth` is
// out of bounds or `axis` is several axes, and IndexError if `axis` is out of bounds.
template <detail::ArrayLike X>
Array<std::int32_t> argpartition(const X& x, const std::vector<std::int64_t>& kth,
                                 const PartitionOptions& options = {}) {
  return detail::in_part("argpartition", x, kth, options,
                         [&](const auto& a, int axis) { return detail::argpartition_axis(a, kth, axis); });
}
template <detail::ArrayLike X>
Array<std::int32_t> argpartition(const X& x, std::int64_t kth, const PartitionOptions& options = {}) {
  return argpartition(x, std::vector{kth}, options);
}

struct LexsortOptions {
  std::int64_t axis = -1;
};
namespace detail {

struct Lexsort {
  using Options = LexsortOptions;
  template <class T>
  static Array<std::int32_t> call(const std::vector<Array<T>>& keys, const Options& options) {
    if (keys.empty()) throw ValueError("lexsort: need at least one key");
    for (const Array<T>& key : keys) {
      check_operand("lexsort", key);
      if (!(key.shape() == keys[0].shape()))
        raise<ShapeError>({"lexsort: the keys must have one shape: ", keys[0].shape(), " and ", key.shape()});
    }
    if (keys[0].ndim() == 0) return Array<std::int32_t>(0);
    const int axis = normalize_axis("lexsort", options.axis, keys[0].ndim());
    Array<std::int32_t> order = argsort_any(keys[0], axis, false);
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const Array<T> key = take_along_axis(typed<T>(constant(keys[i])), order, axis);
      order = take_along_axis(order, argsort_any(key, axis, false), axis);
    }
    return order;
  }
};

}  // namespace detail

// The order by several keys: the last counts first, the one before it where that is equal, and so on:
// lexsort({b, a}). The keys are arrays of one type and shape, in braces, a vector, or the rows of an array.
// The result has the shape of a key. Throws ValueError without keys, ShapeError where their shapes differ.
inline constexpr detail::ListFunction<detail::Lexsort> lexsort{};

// The elements along the last axis as complex numbers, ordered by the real parts, then by the imaginary ones.
// The result has the shape of x. Throws ValueError for a moved-from array.
template <detail::ArrayLike X>
auto sort_complex(const X& x_) {
  using T = inexact_t<typename X::value_type>;
  using C = std::conditional_t<is_complex_v<T>, T,
                               std::complex<std::conditional_t<std::is_same_v<T, double>, double, float>>>;
  const Array<C> x = detail::as_type<C>(x_);
  detail::check_reducible("sort_complex", x);
  if (x.ndim() == 0) return x;
  return detail::sort_any(x, x.ndim() - 1, false);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase argpartition_lines(const ArrayBase& x, std::int64_t kth, int axis) {
  check_places("argpartition", x.shape(axis) - 1);
  const ArrayBase rows = contiguous(x, transforms_handled);
  const loops::Lines lines = lines_of(layout_of(rows), axis);
  ArrayBase order = allocate(DType::int32, layout_of(rows), device_for("argpartition", x));
  backend::run(order.device(), ops::Argpartition{lines, rows.dtype(), kth < 0 ? kth + lines.n : kth},
               {device_data(rows), device_data(order)});
  return order;
}

NAX_ENGINE ArrayBase partition_lines(const ArrayBase& x, std::int64_t kth, int axis) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  const loops::Lines lines = lines_of(layout_of(rows), axis);
  ArrayBase parted = allocate(x.dtype(), layout_of(rows), device_for("partition", x));
  backend::run(parted.device(), ops::Partition{lines, rows.dtype(), kth < 0 ? kth + lines.n : kth},
               {device_data(rows), device_data(parted)});
  return parted;
}

NAX_ENGINE void check_kth(const char* function, const std::vector<std::int64_t>& kth, std::int64_t n) {
  for (const std::int64_t k : kth)
    if (k < -n || k >= n)
      raise<ValueError>({function, ": kth(=", k, ") out of bounds for an axis of ", n, " elements"});
}

}  // namespace detail
NAX_END
#endif
