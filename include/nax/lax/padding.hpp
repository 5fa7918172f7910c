#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nax/core/shape.hpp"

// Strides, dilations and paddings of convolutions and windows.
NAX_BEGIN
namespace lax {

// "SAME" (as many outputs as the strides leave of the inputs), "SAME_LOWER" (the odd element before), "VALID"
// (none), or {low, high} for each spatial axis; negative ones cut elements off.
class Padding {
 public:
  using Pair = std::pair<std::int64_t, std::int64_t>;
  Padding(const char* name) : name_(name) {}
  Padding(std::string name) : name_(std::move(name)) {}
  Padding(std::initializer_list<Pair> pairs) : pairs_(pairs) {}
  Padding(std::vector<Pair> pairs) : pairs_(std::move(pairs)) {}

  bool named() const { return !name_.empty(); }
  const std::string& name() const { return name_; }
  friend bool operator==(const Padding&, const Padding&) = default;
  // One pair for each of these axes.
  std::vector<Pair> over(const char* function, const Dims& in, const Dims& window, const Dims& strides) const;

 private:
  std::string name_;
  std::vector<Pair> pairs_;
};

}  // namespace lax

namespace detail {

// An option with one number an axis: ones where nothing is given. Throws ValueError for another count and
// below 1.
NAX_ENGINE Dims each_axis(const char* function, const char* option, const Dims& given, std::size_t axes);
inline std::int64_t dilated(std::int64_t n, std::int64_t by) { return n == 0 ? 0 : (n - 1) * by + 1; }

// How many windows of `window` (dilated) elements fit on a padded axis.
NAX_ENGINE std::int64_t window_count(const char* function, std::int64_t in, std::int64_t window,
                                     std::int64_t stride, const lax::Padding::Pair& pad);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/padding-inl.hpp"
#endif
