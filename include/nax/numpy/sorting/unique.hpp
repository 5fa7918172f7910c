#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/bitwise.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/sorting/search.hpp"

// The different elements of an array.
NAX_BEGIN

template <class T>
struct UniqueAll {
  Array<T> values;  // ascending
  Array<std::int32_t> indices, inverse_indices, counts;
};
template <class T>
struct UniqueCounts {
  Array<T> values;
  Array<std::int32_t> counts;
};
template <class T>
struct UniqueInverse {
  Array<T> values;
  Array<std::int32_t> inverse_indices;
};

// unique: `axis` none means the flattened array, else the different slices of that axis, in lexicographic
// order.
template <class T>
struct UniqueOptions {
  Axis axis = {};
  bool equal_nan = true;  // are all NaNs one element?
  // How many elements the result has, whatever the values are: larger ones fall off, and where there are too
  // few `fill_value` (the smallest element when not given) stands in. So vmap can map it. Without axis.
  std::optional<std::int64_t> size = {};
  std::optional<T> fill_value = {};
};
// unique_all and kin, where NaNs are different from each other unless .equal_nan says otherwise.
struct UniqueAllOptions {
  Axis axis = {};
  bool equal_nan = false;
};

namespace detail {

template <class T>
bool is_nan(T x) {
  return !(x == x);
}
template <class T>
bool same_element(T a, T b, bool equal_nan) {
  return a == b || (equal_nan && is_nan(a) && is_nan(b));
}
// Is a before b, NaN last, and is either before the other?
template <class T>
bool comes_before(T a, T b) {
  if constexpr (is_complex_v<T>) {
    const auto rank = [](T x) {
      return 2 * static_cast<int>(is_nan(x.real())) + static_cast<int>(is_nan(x.imag()));
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (comes_before(a.real(), b.real())) return true;
    if (comes_before(b.real(), a.real())) return false;
    return comes_before(a.imag(), b.imag());
  } else {
    return is_nan(b) ? !is_nan(a) : a < b;
  }
}

// How the elements (or slices) 0 ... n - 1 fall into groups of equal ones, in order.
struct UniqueGroups {
  std::vector<std::int32_t> first, counts;
  Array<std::int32_t> inverse;  // of shape (n,)
};
template <class Same>
UniqueGroups unique_groups(const std::int32_t* order, std::int64_t n, const Same& same) {
  UniqueGroups groups{
      {}, {}, typed<std::int32_t>(allocate(DType::int32, Frame{Dims(std::size_t{1}, n), {}}))};
  std::int32_t* which = elements<std::int32_t>(groups.inverse);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || !same(order[i], order[i - 1])) groups.first.push_back(order[i]), groups.counts.push_back(0);
    ++groups.counts.back();
    which[order[i]] = static_cast<std::int32_t>(groups.first.size()) - 1;
  }
  return groups;
}

template <class T>
void check_unique(const char* function, const Array<T>& x) {
  check_operand(function, x);
  if (is_batched(x))
    raise<ValueError>({function, ": the length of the result depends on the values, which vmap cannot map"});
  need_host(function, x);
}

// The slices of an axis; the derivatives of the values move along with them.
template <class T>
UniqueAll<T> unique_slices(const char* function, const Array<T>& x, std::int64_t axis_, bool equal_nan) {
  const int axis = normalize_axis(function, axis_, x.ndim());
  const std::int64_t n = x.shape(axis), each = x.size() / std::max<std::int64_t>(n, 1);
  const ArrayBase rows = contiguous(moveaxis(typed<T>(constant(x)), axis, 0), transforms_handled);
  const T* v = elements<const T>(rows, transforms_handled);
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [=](std::int32_t a, std::int32_t b) {
    const T *p = v + a * each, *q = v + b * each;
    for (std::int64_t i = 0; i < each; ++i) {
      if (comes_before(p[i], q[i])) return true;
      if (comes_before(q[i], p[i])) return false;
    }
    return false;
  });
  const UniqueGroups groups = unique_groups(order.data(), n, [=](std::int32_t a, std::int32_t b) {
    for (std::int64_t i = 0; i < each; ++i)
      if (!same_element(v[a * each + i], v[b * each + i], equal_nan)) return false;
    return true;
  });
  return {take_positions(x, host_numbers<std::int64_t>(groups.first), axis),
          host_numbers<std::int32_t>(groups.first), groups.inverse,
          host_numbers<std::int32_t>(groups.counts)};
}

template <class T>
UniqueAll<T> unique_of(const char* function, const Array<T>& x, const Axis& axis, bool equal_nan) {
  check_unique(function, x);
  if (axis.given()) {
    if (axis.list().size() != 1) raise<ValueError>({function, ": axis must be one axis"});
    return unique_slices(function, x, axis.list()[0], equal_nan);
  }
  const std::int64_t n = x.size();
  const Array<T> line = reshape_to(function, x, Shape{n}),
                 flat = typed<T>(contiguous(typed<T>(constant(line))));
  const Array<std::int32_t> order = argsort_any(flat, 0, false);
  const T* v = elements<const T>(flat);
  const UniqueGroups groups =
      unique_groups(elements<const std::int32_t>(order), n,
                    [=](std::int32_t a, std::int32_t b) { return same_element(v[a], v[b], equal_nan); });
  // The values move along with their derivatives.
  return {take_positions(line, host_numbers<std::int64_t>(groups.first), 0),
          host_numbers<std::int32_t>(groups.first), reshape_to(function, groups.inverse, x.shape()),
          host_numbers<std::int32_t>(groups.counts)};
}

// The different elements and how often each occurs, for values without a derivative to move along.
template <class T>
UniqueCounts<T> unique_plain(const char* function, const Array<T>& x, bool equal_nan) {
  const std::int64_t n = x.size();
  const Array<T> line = reshape_to(function, x, Shape{n});
  const Array<T> sorted = typed<T>(contiguous(sort_any(line, 0, false)));
  const T* const v = elements<const T>(sorted);
  const cpu::Scratch<T> values(n);
  const cpu::Scratch<std::int32_t> starts(n + 1);  // in the sorted line, then its end
  std::int64_t count = 0;
  starts[0] = 0;
  if (n > 0) values[0] = v[0], count = 1;
  // Equal ones are overwritten. All NaNs, which come last, differ from each other.
  for (std::int64_t i = 1; i < n; ++i) {
    values[count] = v[i];
    starts[count] = static_cast<std::int32_t>(i);
    count += static_cast<std::int64_t>(!(v[i] == v[i - 1]));
  }
  if constexpr (is_inexact_v<T>)
    if (equal_nan)
      while (count > 1 && is_nan(static_cast<T>(values[count - 2]))) --count;
  starts[count] = static_cast<std::int32_t>(n);
  Array<T> result = typed<T>(allocate_on_host(dtype_of<T>, Frame{Dims(1, count), {}}));
  T* const to = elements<T>(result);
  std::copy(values.data(), values.data() + count, to);
  // Of zeros, which are equal whatever their signs are, the first one stands for all.
  if constexpr (is_floating_v<T>)
    if (T* const zero = std::find(to, to + count, T(0.f)); zero != to + count) {
      const Array<T> flat = typed<T>(contiguous(line));
      const T* first = elements<const T>(flat);
      while (*first != T(0.f)) ++first;
      *zero = *first;
    }
  Array<std::int32_t> counts = typed<std::int32_t>(allocate_on_host(DType::int32, Frame{Dims(1, count), {}}));
  std::int32_t* const many = elements<std::int32_t>(counts);
  for (std::int64_t i = 0; i < count; ++i) many[i] = starts[i + 1] - starts[i];
  return {std::move(result), std::move(counts)};
}

// Where neither places nor derivatives are asked for, the sorted values say it all.
template <class T>
UniqueCounts<T> unique_values_of(const char* function, const Array<T>& x, const Axis& axis, bool equal_nan) {
  if constexpr (!is_complex_v<T>)
    if (!axis.given() && !is_recorded(x)) {
      check_unique(function, x);
      return unique_plain(function, x, equal_nan);
    }
  UniqueAll<T> all = unique_of(function, x, axis, equal_nan);
  return {all.values, all.counts};
}

// As many elements as asked for, of each example of a vmap: the k-th is where the k-th change of the sorted
// line is.
template <class T>
Array<T> unique_sized(const Array<T>& x, const UniqueOptions<T>& options) {
  check_operand("unique", x);
  const ComputeOn there(x);
  const std::int64_t size = *options.size, n = x.size();
  if (options.axis.given()) throw ValueError("unique: .size goes without .axis");
  if (size < 0) raise<ValueError>({"unique: size must not be negative, got ", size});
  if (n == 0) {
    if (size > 0 && !options.fill_value)
      throw ValueError("unique: an empty array needs a fill_value to fill .size elements");
    return filled<T>("unique", Shape{size}, options.fill_value.value_or(T(0.f)));
  }
  const Array<T> sorted = sort_any(reshape_to("unique", x, Shape{n}), 0, false);
  const Array<T> plain = typed<T>(constant(sorted)), before(stretch_of_axis(plain, 0, 0, n - 1)),
                 after(stretch_of_axis(plain, 0, 1, n - 1));
  using Places = where_used_t<Array<std::int32_t>, T>;
  where_used_t<Array<bool>, T> differs = before != after;
  if constexpr (is_inexact_v<T>)
    if (options.equal_nan) differs = differs & ((before == before) | (after == after));
  const Places group = cumsum(differs), k = arange<std::int32_t>(size);
  const Places place = where(k == 0, 0, 1 + searchsorted(group, k));
  const Array<T> values = take(sorted, Places(minimum(place, static_cast<std::int32_t>(n - 1))));
  const Array<T> fill = options.fill_value ? Array<T>(*options.fill_value) : sorted(0);
  return where(place < static_cast<std::int32_t>(n), values, fill);
}

}  // namespace detail

// The different elements, where each occurs first, which of them each element is (in the array's shape; with
// .axis one number a slice), and how often each occurs. The values are differentiable; vmap refuses, since
// how many there are depends on the values.
template <detail::ArrayLike X>
auto unique_all(const X& x, const UniqueAllOptions& options = {}) {
  return detail::unique_of("unique_all", Array<typename X::value_type>(detail::materialise(x)), options.axis,
                           options.equal_nan);
}
// The distinct elements, sorted. The result has shape (n,) for n distinct elements. Throws ValueError under
// vmap, since the length of the result depends on values.
template <detail::ArrayLike X>
auto unique_values(const X& x, const UniqueAllOptions& options = {}) {
  return detail::unique_values_of("unique_values", Array<typename X::value_type>(detail::materialise(x)),
                                  options.axis, options.equal_nan)
      .values;
}
// The distinct elements, sorted, and how often each occurs. Both have shape (n,) for n distinct elements.
// Throws ValueError under vmap, since the length of the result depends on values.
template <detail::ArrayLike X>
auto unique_counts(const X& x, const UniqueAllOptions& options = {}) {
  return detail::unique_values_of("unique_counts", Array<typename X::value_type>(detail::materialise(x)),
                                  options.axis, options.equal_nan);
}
// The distinct elements, sorted, and the place of each element among them. The values have shape (n,) for n
// distinct elements, the places the shape of x. Throws ValueError under vmap, since the length of the result
// depends on values.
template <detail::ArrayLike X>
auto unique_inverse(const X& x, const UniqueAllOptions& options = {}) {
  auto all = detail::unique_of("unique_inverse", Array<typename X::value_type>(detail::materialise(x)),
                               options.axis, options.equal_nan);
  return UniqueInverse<typename X::value_type>{all.values, all.inverse_indices};
}

// The different elements in ascending order, or the different slices of an axis. vmap needs a .size. The
// result has shape (n,) for n different elements; with `axis` the shape of x with n slices along it. Throws
// ValueError under vmap without `size`, if `size` is negative, or if it is given along with `axis`.
template <detail::ArrayLike X>
auto unique(const X& x, const UniqueOptions<typename X::value_type>& options = {}) {
  const Array<typename X::value_type> a = detail::materialise(x);
  if (options.size) return detail::unique_sized(a, options);
  return detail::unique_values_of("unique", a, options.axis, options.equal_nan).values;
}

NAX_END
