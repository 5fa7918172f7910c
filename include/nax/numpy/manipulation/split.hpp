#pragma once

#include <vector>

#include "nax/numpy/indexing/select.hpp"

// Parts of an array, as views.
NAX_BEGIN

// How to split: into so many equal parts, or at these positions.
class Sections {
 public:
  template <std::integral I>
  Sections(I parts) : parts_(static_cast<std::int64_t>(parts)), by_count_(true) {}
  Sections(std::initializer_list<Extent> at) {
    for (Extent e : at) at_.push_back(e.value);
  }
  template <std::integral I>
  Sections(const std::vector<I>& at) : at_(at.begin(), at.end()) {}

  // Where the parts begin and end on an axis. `equal`: uneven parts are an error.
  std::vector<std::int64_t> bounds(const char* function, std::int64_t extent, bool equal) const;

 private:
  std::int64_t parts_ = 0;
  bool by_count_ = false;
  Dims at_;
};

struct SplitOptions {
  std::int64_t axis = 0;
};

namespace detail {

// The part [begin, end) of one axis.
NAX_ENGINE ArrayBase narrow(const ArrayBase& x, int axis, std::int64_t begin, std::int64_t end);
template <class T>
Array<T> narrow(const Array<T>& x, int axis, std::int64_t begin, std::int64_t end) {
  return typed<T>(narrow(handle_of(x), axis, begin, end));
}

template <class X>
auto split_on(const char* function, const X& x_, const Sections& sections, std::int64_t axis_, bool equal) {
  const auto x = as_array(x_);
  check_operand(function, x);
  const int axis = normalize_axis(function, axis_, x.ndim());
  const std::vector<std::int64_t> bounds = sections.bounds(function, x.shape(axis), equal);
  std::vector<Array<typename X::value_type>> parts;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
    parts.push_back(narrow(x, axis, bounds[i], bounds[i + 1]));
  return parts;
}

}  // namespace detail

// split(x, 3): three equal parts; split(x, {2, 5}): cut before 2 and before 5. The parts have the shape of x
// but for `axis`. Throws ValueError if the sections are not positive or do not divide the axis, and
// IndexError if `axis` is out of bounds.
template <detail::ArrayLike X>
auto split(const X& x, const Sections& indices_or_sections, const SplitOptions& options = {}) {
  return detail::split_on("split", x, indices_or_sections, options.axis, true);
}
// As split; a number of parts need not divide the axis, the first parts are then longer by one. The parts
// have the shape of x but for `axis`. Throws ValueError if the number of sections is not positive, and
// IndexError if `axis` is out of bounds.
template <detail::ArrayLike X>
auto array_split(const X& x, const Sections& indices_or_sections, const SplitOptions& options = {}) {
  return detail::split_on("array_split", x, indices_or_sections, options.axis, false);
}
// Splits along axis 0. As split. Throws ValueError for an array of less than 2 axes, or if the sections do
// not divide the axis.
template <detail::ArrayLike X>
auto vsplit(const X& x, const Sections& indices_or_sections) {
  if (x.ndim() < 2)
    raise<ValueError>({"vsplit: only works on arrays of 2 or more dimensions, shape ", x.shape()});
  return detail::split_on("vsplit", x, indices_or_sections, 0, true);
}
// Splits along axis 1 (along axis 0 for 1-d arrays). As split. Throws ValueError for a 0-d array, or if the
// sections do not divide the axis.
template <detail::ArrayLike X>
auto hsplit(const X& x, const Sections& indices_or_sections) {
  if (x.ndim() < 1) throw ValueError("hsplit: only works on arrays of 1 or more dimensions, shape ()");
  return detail::split_on("hsplit", x, indices_or_sections, x.ndim() > 1 ? 1 : 0, true);
}
// Splits along axis 2. As split. Throws ValueError for an array of less than 3 axes, or if the sections do
// not divide the axis.
template <detail::ArrayLike X>
auto dsplit(const X& x, const Sections& indices_or_sections) {
  if (x.ndim() < 3)
    raise<ValueError>({"dsplit: only works on arrays of 3 or more dimensions, shape ", x.shape()});
  return detail::split_on("dsplit", x, indices_or_sections, 2, true);
}
// The parts along an axis: n arrays of the shape of x without that axis, for its extent n. Throws IndexError
// if `axis` is out of bounds.
template <detail::ArrayLike X>
auto unstack(const X& x_, const SplitOptions& options = {}) {
  const auto x = detail::as_array(x_);
  const int axis = detail::normalize_axis("unstack", options.axis, x.ndim());
  std::vector<Array<typename X::value_type>> parts;
  for (std::int64_t i = 0; i < x.shape(axis); ++i) {
    detail::Selection s;
    for (int a = 0; a < x.ndim(); ++a) s.append(a == axis ? i : 0, 1, a == axis ? 1 : x.shape(a), a != axis);
    parts.push_back(detail::get(x, s));
  }
  return parts;
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/manipulation/split-inl.hpp"
#endif
