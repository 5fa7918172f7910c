#pragma once

#include <string_view>
#include <vector>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/padding/pad_options.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/sorting/quantile.hpp"

// Arrays with a margin. All axes are extended one after the other, so that corners are margins of margins.
NAX_BEGIN
namespace detail {

using PadPair = PadWidth::Pair;

// Where position i, which may lie outside, reads on an axis of n elements.
NAX_ENGINE std::int64_t padded_position(std::string_view mode, std::int64_t i, std::int64_t n);

template <class T>
Array<T> extent_of(const Array<T>& x, int axis, std::int64_t start, std::int64_t count) {
  return narrow(x, axis, start, start + count);
}

// Joins the margins before and behind x along an axis, where they are not empty.
template <class T>
Array<T> with_margins(const Array<T>& before, const Array<T>& x, const Array<T>& after, const PadPair& width,
                      int axis) {
  std::vector<Array<T>> parts;
  if (width.before > 0) parts.push_back(before);
  parts.push_back(x);
  if (width.after > 0) parts.push_back(after);
  return concatenate_on("pad", parts, axis);
}
template <class T>
Array<T> repeated_on(const Array<T>& x, int axis, std::int64_t count) {
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = count;
  return broadcast_visible("pad", x, shape);
}

// Elements from inside the axis.
template <class T>
Array<T> pad_by_position(const Array<T>& x, int axis, const PadPair& width, std::string_view mode) {
  const std::int64_t n = x.shape(axis);
  const auto positions = generated_on_host<std::int64_t>(
      "pad", width.before + n + width.after,
      [&](std::int64_t i) { return padded_position(mode, i - width.before, n); });
  return take_positions(x, positions, axis);
}

// The other half of a point reflection at the edge: 2 * edge - x, again and again where the margin is longer
// than the axis.
template <class T>
Array<T> pad_odd(const Array<T>& x_, int axis, const PadPair& width, bool repeats_edge) {
  const std::int64_t n = x_.shape(axis), skip = repeats_edge || n == 1 ? 0 : 1;
  const auto extended = [&](Array<T> x, std::int64_t margin) {  // in front
    while (margin > 0) {
      const std::int64_t count = std::min(margin, n - skip);
      const Array<T> edge = extent_of(x, axis, 0, 1);
      const Array<T> mirrored = flip_on("pad", extent_of(x, axis, skip, count), Dims(1, axis));
      x = concatenate_on("pad", std::vector{Array<T>(edge + edge - mirrored), x}, axis);
      margin -= count;
    }
    return x;
  };
  const Array<T> x = extended(x_, width.before);
  if (width.after == 0) return x;
  const Array<T> behind = extended(flip_on("pad", x_, Dims(1, axis)), width.after);
  return concatenate_on(
      "pad", std::vector{x, flip_on("pad", extent_of(behind, axis, 0, width.after), Dims(1, axis))}, axis);
}

// From an outer value towards the edge. Integers round down, as linspace does.
template <class T>
Array<T> pad_ramp(const Array<T>& x, int axis, const PadPair& width,
                  const typename PadValues<T>::Pair& ends) {
  using R = std::conditional_t<is_inexact_v<T>, T, double>;
  using StepT = real_t<R>;
  const auto ramp = [&](std::int64_t at, std::int64_t count, T end, bool back) {
    const auto steps = generated_on_host<StepT>("pad", count, [&](std::int64_t i) {
      return static_cast<StepT>(static_cast<double>(back ? count - 1 - i : i) / static_cast<double>(count));
    });
    Dims along(static_cast<std::size_t>(x.ndim()), 1);
    along[static_cast<std::size_t>(axis)] = count;
    const Array<StepT> t = reshape_to("pad", typed<StepT>(beside(x, steps)), along);
    const Array<R> edge = as_type<R>(extent_of(x, axis, at, 1));
    const Array<R> outer = typed<R>(beside(x, host_number(static_cast<R>(end))));
    const Array<R> part = (edge - outer) * t;  // rounded before the sum, whose floor may be asked for
    const Array<R> values = outer + part;
    if constexpr (is_integer_v<T>)
      return as_type<T>(Array<R>(floor(values)));
    else
      return as_type<T>(values);
  };
  return with_margins(ramp(0, width.before, ends.before, false), x,
                      ramp(x.shape(axis) - 1, width.after, ends.after, true), width, axis);
}

// A statistic of the elements next to each end.
template <class T>
Array<T> pad_statistic(const Array<T>& x, int axis, const PadPair& width, const PadPair& length,
                       std::string_view mode) {
  const std::int64_t n = x.shape(axis);
  const auto margin = [&](bool back, std::int64_t count, std::int64_t of) {
    of = std::min(of, n);
    if (of <= 0 && count > 0)
      raise<ValueError>({"pad: stat_length of 0 yields no value for padding with mode '", mode, "'"});
    if (count == 0) return extent_of(x, axis, 0, 0);
    const Array<T> part = extent_of(x, axis, back ? n - of : 0, of);
    const auto rounded = [](const auto& y) {
      if constexpr (is_inexact_v<T>)
        return as_type<T>(y);
      else
        return as_type<T>(materialise(rint(y)));
    };
    Array<T> y;
    if constexpr (is_complex_v<T>) {
      if (mode != "mean") raise<TypeError>({"pad: mode '", mode, "' is not for complex numbers"});
      y = mean(part, {.axis = axis, .keepdims = true});
    } else {
      y = mode == "maximum"   ? Array<T>(max(part, {.axis = axis, .keepdims = true}))
          : mode == "minimum" ? Array<T>(min(part, {.axis = axis, .keepdims = true}))
          : mode == "mean"    ? rounded(mean(part, {.axis = axis, .keepdims = true}))
                              : rounded(median(part, {.axis = axis, .keepdims = true}));
    }
    return repeated_on(y, axis, count);
  };
  return with_margins(margin(false, width.before, length.before), x, margin(true, width.after, length.after),
                      width, axis);
}

template <class T>
Array<T> pad_constant(const Array<T>& x, const std::vector<PadPair>& width, const Shape& shape,
                      const PadValues<T>& values) {
  const ComputeOn beside_x(x);
  if (values.uniform()) {
    Selection s;
    for (int axis = 0; axis < x.ndim(); ++axis)
      s.append(width[static_cast<std::size_t>(axis)].before, 1, x.shape(axis), true);
    const T value = x.ndim() > 0 ? values.over(x.ndim())[0].before : T(0);
    return update(full<T>(shape, value), s, x, Update::set);
  }
  const auto ends = values.over(x.ndim());
  Array<T> y = x;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::size_t a = static_cast<std::size_t>(axis);
    Shape before = y.shape(), after = y.shape();
    before[a] = width[a].before, after[a] = width[a].after;
    y = with_margins(full<T>(before, ends[a].before), y, full<T>(after, ends[a].after), width[a], axis);
  }
  return y;
}

inline constexpr std::string_view pad_statistics[] = {"maximum", "mean", "median", "minimum"};
NAX_ENGINE bool is_pad_statistic(std::string_view mode);
NAX_ENGINE void check_pad_mode(std::string_view mode, std::string_view reflect_type);

}  // namespace detail

// The array with a margin: constant, a ramp to a constant, a statistic of the elements next to it, or filled
// from inside, as NumPy's modes of these names. pad_width is one number for all sides, {before, after} for
// all axes, or {{before, after}, ...}. The result has the shape of x, longer along each axis by its two
// widths. Throws ValueError for negative widths, and where a mode that reads elements meets an empty axis.
template <detail::ArrayLike X>
auto pad(const X& x_, const PadWidth& pad_width, const PadOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  auto x = detail::as_array(x_);
  detail::check_operand("pad", x);
  const std::string_view mode = options.mode;
  const auto width = pad_width.over(x.ndim());
  for (const auto& w : width)
    if (w.before < 0 || w.after < 0) throw ValueError("pad: index can't contain negative values");
  Dims shape;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto& w = width[static_cast<std::size_t>(axis)];
    shape.push_back(detail::add_extents(detail::add_extents(w.before, x.shape(axis)), w.after));
  }
  detail::count_elements("pad", shape);
  if (mode == "constant") return detail::pad_constant<T>(x, width, shape, options.constant_values);
  if (mode == "empty") return detail::pad_constant<T>(x, width, shape, T(0));
  detail::check_pad_mode(mode, options.reflect_type);
  const bool odd = std::string_view(options.reflect_type) == "odd";
  const auto ends = options.end_values.over(x.ndim());
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::size_t a = static_cast<std::size_t>(axis);
    const auto& w = width[a];
    if (w.before == 0 && w.after == 0) continue;
    if (x.shape(axis) == 0)
      raise<ValueError>(
          {"pad: can't extend empty axis ", axis, " using modes other than 'constant' or 'empty'"});
    if (mode == "linear_ramp") {
      if constexpr (std::is_same_v<T, bool>)
        throw TypeError("pad: mode 'linear_ramp' is not for bool");
      else
        x = detail::pad_ramp(x, axis, w, ends[a]);
    } else if (detail::is_pad_statistic(mode)) {
      const auto length = options.stat_length.given() ? options.stat_length.over(x.ndim())[a]
                                                      : detail::PadPair(x.shape(axis));
      x = detail::pad_statistic(x, axis, w, length, mode);
    } else if (odd && (mode == "reflect" || mode == "symmetric")) {
      if constexpr (std::is_same_v<T, bool>)
        throw TypeError("pad: reflect_type 'odd' is not for bool");
      else
        x = detail::pad_odd(x, axis, w, mode == "symmetric");
    } else {
      x = detail::pad_by_position(x, axis, w, mode);
    }
  }
  return x;
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t padded_position(std::string_view mode, std::int64_t i, std::int64_t n) {
  if (mode == "edge") return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == "wrap") return (i % n + n) % n;
  const std::int64_t period = mode == "reflect" ? 2 * (n - 1) : 2 * n;
  if (period == 0) return 0;  // a single element reflects itself
  i = (i % period + period) % period;
  if (i < n) return i;
  return mode == "reflect" ? period - i : period - 1 - i;
}

NAX_ENGINE bool is_pad_statistic(std::string_view mode) {
  for (const std::string_view name : pad_statistics)
    if (mode == name) return true;
  return false;
}

NAX_ENGINE void check_pad_mode(std::string_view mode, std::string_view reflect_type) {
  const bool reflects = mode == "reflect" || mode == "symmetric";
  if (!reflects && mode != "edge" && mode != "wrap" && mode != "linear_ramp" && !is_pad_statistic(mode))
    raise<ValueError>({"pad: mode '", mode, "' is not supported"});
  if (reflects && reflect_type != "even" && reflect_type != "odd")
    raise<ValueError>({"pad: reflect_type must be 'even' or 'odd', not '", reflect_type, "'"});
}

}  // namespace detail
NAX_END
#endif
