#pragma once

#include <string_view>
#include <vector>

#include "nax/numpy/indexing/take.hpp"

namespace nax::inline NAX_ABI {

// pad_width: one number for all sides, {before, after} for all axes, or one pair an axis.
class PadWidth {
 public:
  struct Pair {
    std::int64_t before, after;
    template <std::integral I>
    Pair(I both) : before(static_cast<std::int64_t>(both)), after(before) {}
    template <std::integral I, std::integral J>
    Pair(I b, J a) : before(static_cast<std::int64_t>(b)), after(static_cast<std::int64_t>(a)) {}
  };
  template <std::integral I>
  PadWidth(I all) : pairs_{Pair(all)} {}
  template <std::integral I, std::integral J>
  PadWidth(I before, J after) : pairs_{Pair(before, after)} {}
  PadWidth(std::initializer_list<std::initializer_list<Extent>> pairs) {
    for (const auto& pair : pairs) {
      if (pair.size() != 1 && pair.size() != 2)
        throw ValueError("pad: pad_width must be pairs (before, after)");
      pairs_.push_back(Pair(pair.begin()->value, (pair.end() - 1)->value));
    }
  }
  PadWidth(std::vector<Pair> pairs) : pairs_(std::move(pairs)) {}

  std::vector<Pair> over(int ndim) const {
    if (pairs_.size() == 1) return std::vector<Pair>(static_cast<std::size_t>(ndim), pairs_[0]);
    if (static_cast<int>(pairs_.size()) != ndim)
      raise<ValueError>({"pad: pad_width has ", pairs_.size(), " pairs for an array of dimension ", ndim});
    return pairs_;
  }

 private:
  std::vector<Pair> pairs_;
};

template <class T>
struct PadOptions {
  const char* mode = "constant";  // or "edge", "reflect", "symmetric", "wrap", "empty"
  T constant_values = T(0);
};

namespace detail {

// Where position i, which may lie outside, reads on an axis of n elements.
NAX_ENGINE std::int64_t padded_position(std::string_view mode, std::int64_t i, std::int64_t n) {
  if (mode == "edge") return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == "wrap") return (i % n + n) % n;
  const std::int64_t period = mode == "reflect" ? 2 * (n - 1) : 2 * n;
  if (period == 0) return 0;  // a single element reflects itself
  i = (i % period + period) % period;
  if (i < n) return i;
  return mode == "reflect" ? period - i : period - 1 - i;
}

}  // namespace detail

// The array with a margin: constant, or filled from inside by `mode`, as NumPy's modes of these names.
template <detail::ArrayLike X>
auto pad(const X& x_, const PadWidth& pad_width, const PadOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  auto x = detail::as_array(x_);
  detail::check_operand("pad", x);
  const detail::ComputeOn beside_x(x);
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
  if (mode == "constant" || mode == "empty") {
    detail::Selection s;
    for (int axis = 0; axis < x.ndim(); ++axis)
      s.append(width[static_cast<std::size_t>(axis)].before, 1, x.shape(axis), true);
    return detail::update(full<T>(shape, options.constant_values), s, x, detail::Update::set);
  }
  if (mode != "edge" && mode != "reflect" && mode != "symmetric" && mode != "wrap")
    raise<ValueError>({"pad: mode '", mode, "' is not supported"});
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto& w = width[static_cast<std::size_t>(axis)];
    if (w.before == 0 && w.after == 0) continue;
    const std::int64_t n = x.shape(axis);
    if (n == 0)
      raise<ValueError>(
          {"pad: can't extend empty axis ", axis, " using modes other than 'constant' or 'empty'"});
    const auto positions = detail::generated_on_host<std::int64_t>(
        "pad", w.before + n + w.after,
        [&](std::int64_t i) { return detail::padded_position(mode, i - w.before, n); });
    x = detail::take_positions(x, positions, axis);
  }
  return x;
}

}  // namespace nax::inline NAX_ABI
