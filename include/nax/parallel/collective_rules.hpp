#pragma once

#include <utility>
#include <vector>

#include "nax/backend/cpu/maps/accumulate.hpp"
#include "nax/expr/evaluation/zeros.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/parallel/axis_environment.hpp"
#include "nax/parallel/collective_blocks.hpp"
#include "nax/rules/extrema.hpp"
#include "nax/transform/axes.hpp"
#include "nax/transform/batching.hpp"
#include "nax/tree/map.hpp"

// The collectives of one array over one axis: values, and derivatives among themselves. On a vmap's axis a
// collective is a reduction or a move of a hidden axis; on pmap's it asks the communicator. Results that are
// equal for all keep the hidden axis, with a stride of 0, so that the transposes are the same on both: that
// of psum is psum, of all_gather psum_scatter, of a permutation its inverse.
NAX_BEGIN
namespace detail {

// x with the hidden axis of a vmap, repeated by stride 0 where it has none.
template <class T>
Array<T> with_level(const Array<T>& x, const MappedAxis& axis) {
  Frame one;
  one.levels.push_back(axis.level);
  one.shape.push_back(axis.size);
  return broadcast_frame(x, broadcast("collective", layout_of(x), one));
}

// Visible axis `from` moves to `to`. A view.
template <class T>
Array<T> move_axis(const Array<T>& x, int from, int to) {
  Layout layout = layout_of(x);
  const std::size_t h = layout.levels.size();
  layout.move_axis(h + static_cast<std::size_t>(from), h + static_cast<std::size_t>(to));
  return typed<T>(view(x, std::move(layout)));
}

// Visible axes `at` and `at + 1` become one, or one becomes two whose first has `outer` extents.
template <class T>
Array<T> merge_axes(const Array<T>& x, int at) {
  const Array<T> c = typed<T>(contiguous(x, transforms_handled));
  Frame frame = layout_of(c);
  const std::size_t i = frame.levels.size() + static_cast<std::size_t>(at);
  frame.shape[i] *= frame.shape[i + 1];
  frame.shape.erase(i + 1);
  return typed<T>(view(c, Layout::contiguous(std::move(frame))));
}
template <class T>
Array<T> divide_axis(const Array<T>& x, int at, std::int64_t outer) {
  const Array<T> c = typed<T>(contiguous(x, transforms_handled));
  Frame frame = layout_of(c);
  const std::size_t i = frame.levels.size() + static_cast<std::size_t>(at);
  const std::int64_t inner = frame.shape[i] / outer;
  frame.shape[i] = outer;
  frame.shape.insert(i + 1, inner);
  return typed<T>(view(c, Layout::contiguous(std::move(frame))));
}

NAX_ENGINE void check_divides(const char* function, const Shape& shape, int axis, std::int64_t size,
                              bool tiled);

NAX_ENGINE std::int64_t hidden_size(const Frame& frame);

using Permutation = std::vector<std::pair<int, int>>;

// The arguments that devices compare: ", along axis 0" and ", (0, 1), (1, 0)".
NAX_ENGINE std::string along(int axis);
NAX_ENGINE std::string from_to(const Permutation& permutation);

template <class T>
Array<T> constant_array(const Array<T>& x) {
  return typed<T>(constant(x));
}

// A layout without one of its axes, counted from the first hidden one.
NAX_ENGINE Layout row_of(Layout layout, std::size_t axis);

// ---- the values of all devices, as the leading visible axis

template <class T>
Array<T> gather_all(const Collective& call, const Array<T>& x, const MappedAxis& axis) {
  if (!axis.on_devices) return unbatch(x, 0, axis.level, axis.size);
  if (BlockCommunicator* sends = blocks_of(axis)) {
    const ArrayBase all = sends->gather_blocks(static_cast<int>(axis.index), call, as_block(x));
    return typed<T>(from_blocks(all, layout_of(x).levels));
  }
  const auto everyone =
      axis.communicator().all_gather(static_cast<int>(axis.index), call, contiguous(x, transforms_handled));
  Frame frame = layout_of(x);
  frame.shape.insert(frame.levels.size(), axis.size);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame, x.device()));
  // Hidden axes come first: each device's block is spread over them.
  const std::int64_t blocks = hidden_size(frame);
  const std::size_t bytes = static_cast<std::size_t>(x.size()) * sizeof(T);
  char* to = device_data(result);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (const ArrayBase& one : everyone) {
      copy_bytes(x.device(), to, one.device(), device_data(one) + static_cast<std::size_t>(b) * bytes, bytes);
      to += bytes;
    }
  // The others may free what was read here as soon as it is let go.
  synchronize(x.device());
  return result;
}

// Keeps row `index` of the leading visible axis: a vmap's example its own.
template <class T>
Array<T> keep_own(const Array<T>& all, int at, const MappedAxis& axis) {
  if (!axis.on_devices) return batch(all, at, axis.level);
  Layout layout = layout_of(all);
  const std::size_t i = layout.levels.size() + static_cast<std::size_t>(at);
  const std::int64_t offset = layout.take_axis(i) * axis.index;
  return typed<T>(contiguous(view(all, std::move(layout), offset)));
}

template <class T>
void sum_run_into(const void* from, void* to, std::int64_t stride, std::int64_t n) {
  if constexpr (is_floating_v<T> && sizeof(T) == 2) {
    for (std::int64_t i = 0; i < n; ++i) {
      T& x = static_cast<T*>(to)[i * stride];
      x = T(static_cast<float>(x) + static_cast<float>(static_cast<const T*>(from)[i]));
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<bool*>(to)[i * stride] |= static_cast<const bool*>(from)[i];
  } else {
    cpu::accumulate_run<T>(from, to, stride, n);
  }
}
template <class T>
void scale_run(void* x, double factor, std::int64_t n) {
  const auto by = static_cast<real_t<T>>(factor);
  for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(x)[i] = static_cast<T*>(x)[i] * by;
}
template <class T, bool greatest>
void extreme_run(const void* from_, void* to_, std::int64_t stride, std::int64_t n) {
  const T* from = static_cast<const T*>(from_);
  T* to = static_cast<T*>(to_);
  for (std::int64_t i = 0; i < n; ++i) {
    T& x = to[i * stride];
    if (from[i] != from[i] || (greatest ? x < from[i] : from[i] < x)) x = from[i];
  }
}

enum class Extreme { max, min };

template <class Rule, class T>
ArrayBase combine_arrays(const ArrayBase& a, const ArrayBase& b) {
  return evaluate(make_expr<Rule>(typed<T>(a), typed<T>(b)));
}
template <class T>
Combine combine_to_sum() {
  using Rule = std::conditional_t<std::is_same_v<T, bool>, rules::logical_or, rules::add>;
  return {sum_run_into<T>, combine_arrays<Rule, T>};
}
template <class T>
Combine combine_to_extreme(const char* function, Extreme extreme) {
  if constexpr (is_complex_v<T>)
    raise<TypeError>({function, ": complex numbers have no order"});
  else if (extreme == Extreme::max)
    return {
        .on_host = extreme_run<T, true>, .arrays = combine_arrays<rules::maximum, T>, .kind = Reduction::max};
  else
    return {.on_host = extreme_run<T, false>,
            .arrays = combine_arrays<rules::minimum, T>,
            .kind = Reduction::min};
}

// The values of a reduction over a mapped axis, which goes; not recorded.
template <class T>
Array<T> reduce_values(const Collective& call, const Combine& combine, const Array<T>& x,
                       const MappedAxis& axis) {
  if (axis.on_devices) {
    const std::vector<ArrayBase> mine(
        1, contiguous(x, transforms_handled));  // nvcc drops the braces of lists of one
    return typed<T>(axis.communicator().all_reduce(static_cast<int>(axis.index), call, mine,
                                                   std::vector<Combine>(1, combine))[0]);
  }
  const Array<T> all = typed<T>(contiguous(gather_all(call, x, axis), transforms_handled));
  const Frame& frame = layout_of(all);
  Frame reduced = frame;
  reduced.shape.erase(reduced.levels.size());
  if (on_accelerator(all)) {
    const auto row = [&](std::int64_t i) {
      return view(all, row_of(layout_of(all), frame.levels.size()),
                  i * layout_of(all).strides[frame.levels.size()]);
    };
    ArrayBase sum = contiguous(row(0));
    for (std::int64_t i = 1; i < axis.size; ++i) sum = combine.arrays(sum, row(i));
    return typed<T>(std::move(sum));
  }
  Array<T> result = typed<T>(allocate(dtype_of<T>, reduced));
  const std::int64_t n = x.size();
  const std::int64_t blocks = hidden_size(frame);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const T* from = reinterpret_cast<const T*>(raw_data(all)) + b * n * axis.size;
    T* to = reinterpret_cast<T*>(raw_data(result)) + b * n;
    std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(n) * sizeof(T));
    for (std::int64_t i = 1; i < axis.size; ++i) combine.on_host(from + i * n, to, 1, n);
  }
  return result;
}

// Reduces, and returns the result as each participant sees it.
template <class T>
Array<T> reduce_for_all(const char* function, const Combine& combine, const Array<T>& x,
                        const MappedAxis& axis) {
  const Array<T> result = reduce_values(function, combine, constant_array(x), axis);
  return axis.on_devices ? result : with_level(result, axis);
}

template <class T>
Array<T> psum_one(const Array<T>& x, const MappedAxis& axis) {
  Array<T> result;
  {
    const RecordOn off(nullptr);
    result = reduce_for_all("psum", combine_to_sum<T>(), x, axis);
  }
  if constexpr (is_inexact_v<T>) {
    const auto again = [axis](const Array<T>& g) { return psum_one(g, axis); };
    return record(std::move(result), wrt(x, again, again));
  } else {
    return result;
  }
}

// The greatest (least) over the axis; its gradient goes to those who have it, in equal parts.
template <class T>
Array<T> extreme_one(const char* function, Extreme extreme, const Array<T>& x, const MappedAxis& axis) {
  Array<T> result;
  {
    const RecordOn off(nullptr);
    result = reduce_for_all(function, combine_to_extreme<T>(function, extreme), x, axis);
  }
  if constexpr (is_floating_v<T>) {
    const Array<T> value = constant_array(x), best = result;
    const auto share = [axis, value, best](const Array<T>& g) {
      const Array<T> mine = evaluate(apply_selection<rules::where>(make_expr<rules::equal>(value, best),
                                                                   Array<T>(T(1)), Array<T>(T(0))));
      const Array<T> count = psum_one(mine, axis);
      return Array<T>(evaluate(psum_one(g, axis) * mine / count));
    };
    const auto forward = [axis, value, best](const Array<T>& t) {
      const Array<T> mine = evaluate(apply_selection<rules::where>(make_expr<rules::equal>(value, best),
                                                                   Array<T>(T(1)), Array<T>(T(0))));
      return Array<T>(evaluate(psum_one(evaluate(t * mine), axis) / psum_one(mine, axis)));
    };
    return record(std::move(result), wrt(x, share, forward));
  } else {
    return result;
  }
}

template <class T>
Array<T> psum_scatter_one(const Array<T>& x, const MappedAxis& axis, int dimension, bool tiled);

template <class T>
Array<T> all_gather_one(const Array<T>& x, const MappedAxis& axis, int at, bool tiled) {
  Array<T> result;
  {
    const RecordOn off(nullptr);
    result = move_axis(gather_all({"all_gather", along(at)}, constant_array(x), axis), 0, at);
    if (tiled) result = merge_axes(result, at);
    if (!axis.on_devices) result = with_level(result, axis);
  }
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return psum_scatter_one(g, axis, at, tiled); },
                      [=](const Array<T>& t) { return all_gather_one(t, axis, at, tiled); }));
  else
    return result;
}

template <class T>
Array<T> psum_scatter_one(const Array<T>& x, const MappedAxis& axis, int dimension, bool tiled) {
  check_divides("psum_scatter", x.shape(), dimension, axis.size, tiled);
  Array<T> result;
  {
    const RecordOn off(nullptr);
    if (BlockCommunicator* sends = blocks_of(axis)) {
      const Array<T> all = constant_array(x), parts = tiled ? divide_axis(all, dimension, axis.size) : all;
      result = typed<T>(
          from_block(sends->reduce_scatter(static_cast<int>(axis.index), {"psum_scatter", along(dimension)},
                                           as_blocks(parts, dimension), combine_to_sum<T>()),
                     layout_of(parts).levels));
    } else {
      Array<T> sum =
          reduce_values({"psum_scatter", along(dimension)}, combine_to_sum<T>(), constant_array(x), axis);
      if (tiled) sum = divide_axis(sum, dimension, axis.size);
      result = keep_own(sum, dimension, axis);
    }
  }
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return all_gather_one(g, axis, dimension, tiled); },
                      [=](const Array<T>& t) { return psum_scatter_one(t, axis, dimension, tiled); }));
  else
    return result;
}

template <class T>
Array<T> all_to_all_one(const Array<T>& x, const MappedAxis& axis, int split, int concat, bool tiled) {
  check_divides("all_to_all", x.shape(), split, axis.size, tiled);
  Array<T> result;
  {
    const RecordOn off(nullptr);
    Array<T> parts = constant_array(x);
    if (tiled) parts = divide_axis(parts, split, axis.size);
    // (source, ..., split, ...): each keeps its own entry of split; the sources become concat.
    const Collective call("all_to_all", along(split) + along(concat));
    BlockCommunicator* const sends = blocks_of(axis);
    const Array<T> mine = sends ? typed<T>(from_blocks(sends->all_to_all(static_cast<int>(axis.index), call,
                                                                         as_blocks(parts, split)),
                                                       layout_of(parts).levels))
                                : keep_own(gather_all(call, parts, axis), split + 1, axis);
    result = move_axis(mine, 0, concat);
    if (tiled) result = merge_axes(result, concat);
  }
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return all_to_all_one(g, axis, concat, split, tiled); },
                      [=](const Array<T>& t) { return all_to_all_one(t, axis, split, concat, tiled); }));
  else
    return result;
}

template <class T>
Array<T> ppermute_one(const Array<T>& x, const MappedAxis& axis, const Permutation& permutation) {
  Array<T> result;
  {
    const RecordOn off(nullptr);
    const Collective call = axis.on_devices ? Collective("ppermute", from_to(permutation)) : "ppermute";
    if (BlockCommunicator* sends = blocks_of(axis)) {
      result = typed<T>(from_block(
          sends->permute(static_cast<int>(axis.index), call, as_block(constant_array(x)), permutation),
          layout_of(x).levels));
    } else {
      const Array<T> all = typed<T>(contiguous(gather_all(call, constant_array(x), axis)));
      const Frame& frame = layout_of(all);
      const ArrayBase moved = allocate(dtype_of<T>, frame, all.device());
      clear_elements(moved);
      const std::size_t bytes = static_cast<std::size_t>(x.size()) * sizeof(T);
      const std::int64_t blocks = hidden_size(frame);
      for (std::int64_t b = 0; b < blocks; ++b)
        for (const auto& move : permutation)
          copy_bytes(all.device(),
                     device_data(moved) + static_cast<std::size_t>(b * axis.size + move.second) * bytes,
                     all.device(),
                     device_data(all) + static_cast<std::size_t>(b * axis.size + move.first) * bytes, bytes);
      result = keep_own(typed<T>(moved), 0, axis);
    }
  }
  if constexpr (is_inexact_v<T>) {
    Permutation inverse;
    for (const auto& move : permutation) inverse.emplace_back(move.second, move.first);
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return ppermute_one(g, axis, inverse); },
                      [=](const Array<T>& t) { return ppermute_one(t, axis, permutation); }));
  } else {
    return result;
  }
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void check_divides(const char* function, const Shape& shape, int axis, std::int64_t size,
                              bool tiled) {
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  if (tiled ? extent % size != 0 : extent != size)
    raise<ShapeError>({function, ": axis ", axis, " of shape ", shape,
                       (tiled ? " must be a multiple of" : " must equal"), " the mapped axis' size ", size});
}

NAX_ENGINE std::int64_t hidden_size(const Frame& frame) {
  std::int64_t n = 1;
  for (int h = 0; h < frame.hidden(); ++h) n *= frame.shape[h];
  return n;
}

NAX_ENGINE std::string along(int axis) { return ", along axis " + std::to_string(axis); }

NAX_ENGINE std::string from_to(const Permutation& permutation) {
  std::string text;
  for (const auto& [from, to] : permutation)
    text += ", (" + std::to_string(from) + ", " + std::to_string(to) + ")";
  return text;
}

NAX_ENGINE Layout row_of(Layout layout, std::size_t axis) {
  layout.take_axis(axis);
  return layout;
}

}  // namespace detail
NAX_END
#endif
