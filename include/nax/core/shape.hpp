#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <ostream>
#include <string>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/core/small_vector.hpp"

namespace nax {

using Dims = SmallVector<std::int64_t, 5>;

// An integer of any type inside braces: `{v.size(), 3}` is a shape, not a narrowing error.
struct Extent {
  std::int64_t value;
  template <std::integral I>
  constexpr Extent(I i) : value(static_cast<std::int64_t>(i)) {}
};

// The extents of an array's axes: a value that prints and compares as a Python tuple.
class Shape : public Dims {
 public:
  Shape() = default;
  Shape(std::initializer_list<Extent> extents) {
    for (Extent e : extents) push_back(e.value);
  }
  template <std::integral I>
  Shape(I n) : Shape{Extent(n)} {}
  template <std::integral I>
  Shape(const std::vector<I>& v) : Dims(v.begin(), v.end()) {}
  Shape(const Dims& dims) : Dims(dims) {}
  Shape(Dims&& dims) : Dims(std::move(dims)) {}
  template <class It>
  requires(!std::is_integral_v<It>) Shape(It first, It last) : Dims(first, last) {}

  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int64_t d : *this) n *= d;
    return n;
  }
};

inline std::string shape_text(const std::int64_t* dims, std::size_t n) {
  std::string text = "(";
  for (std::size_t i = 0; i < n; ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + (n == 1 ? ",)" : ")");
}
inline std::string to_string(const Dims& dims) { return shape_text(dims.data(), dims.size()); }
inline std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

namespace detail {

// A visible axis, counted from the end when negative, checked: NumPy's normalize_axis_index.
inline int normalize_axis(const char* function, std::int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    raise<IndexError>({function, ": axis ", axis, " is out of bounds for array of dimension ", ndim});
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace detail
}  // namespace nax
