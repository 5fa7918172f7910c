#pragma once

#include <vector>

#include "nax/core/array.hpp"

// Arguments of pad: how wide the margins are, and what goes there.
NAX_BEGIN

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
  PadWidth() = default;  // none: of stat_length, the whole axis
  template <std::integral I>
  PadWidth(I all) : pairs_{Pair(all)} {}
  template <std::integral I, std::integral J>
  PadWidth(I before, J after) : pairs_{Pair(before, after)} {}
  PadWidth(std::initializer_list<std::initializer_list<Extent>> pairs);
  PadWidth(std::vector<Pair> pairs) : pairs_(std::move(pairs)) {}

  bool given() const { return !pairs_.empty(); }
  std::vector<Pair> over(int ndim) const;

 private:
  std::vector<Pair> pairs_;
};

// Values for the margins: one for all sides, {before, after} for all axes, or one pair an axis.
template <class T>
class PadValues {
 public:
  struct Pair {
    T before, after;
  };
  template <Scalar S>
  PadValues(S all) : pairs_{{detail::element_from<T>("pad", all), detail::element_from<T>("pad", all)}} {}
  PadValues(std::initializer_list<detail::Nested<T>> values) {
    Dims shape;
    std::vector<T> flat;
    detail::Nested<T>::collect_list(values.begin(), values.size(), 0, shape, flat);
    if (shape.empty() || shape.size() > 2 || shape[shape.size() - 1] < 1 || shape[shape.size() - 1] > 2)
      raise<ValueError>({"pad: values must be a number or pairs (before, after), not of shape ", shape});
    const std::size_t each = static_cast<std::size_t>(shape[shape.size() - 1]);
    for (std::size_t i = 0; i < flat.size(); i += each) pairs_.push_back({flat[i], flat[i + each - 1]});
  }

  std::vector<Pair> over(int ndim) const {
    if (pairs_.size() == 1) return std::vector<Pair>(static_cast<std::size_t>(ndim), pairs_[0]);
    if (static_cast<int>(pairs_.size()) != ndim)
      raise<ValueError>({"pad: ", pairs_.size(), " pairs of values for an array of dimension ", ndim});
    return pairs_;
  }
  // The one value for all sides, where there is one.
  bool uniform() const { return pairs_.size() == 1 && pairs_[0].before == pairs_[0].after; }

 private:
  std::vector<Pair> pairs_;
};

template <class T>
struct PadOptions {
  // or "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap", "empty"
  const char* mode = "constant";
  PadWidth stat_length = {};            // of the four statistics: so many elements at each end; all
  PadValues<T> constant_values = T(0);  // of "constant"
  PadValues<T> end_values = T(0);       // of "linear_ramp": at the outer ends
  const char* reflect_type = "even";    // of "reflect" and "symmetric": or "odd"
};

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN

NAX_ENGINE PadWidth::PadWidth(std::initializer_list<std::initializer_list<Extent>> pairs) {
  for (const auto& pair : pairs) {
    if (pair.size() != 1 && pair.size() != 2)
      throw ValueError("pad: pad_width must be pairs (before, after)");
    pairs_.push_back(Pair(pair.begin()->value, (pair.end() - 1)->value));
  }
}

NAX_ENGINE std::vector<PadWidth::Pair> PadWidth::over(int ndim) const {
  if (pairs_.size() == 1) return std::vector<Pair>(static_cast<std::size_t>(ndim), pairs_[0]);
  if (static_cast<int>(pairs_.size()) != ndim)
    raise<ValueError>({"pad: pad_width has ", pairs_.size(), " pairs for an array of dimension ", ndim});
  return pairs_;
}

NAX_END
#endif
