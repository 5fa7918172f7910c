#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <ostream>
#include <string>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/core/overflow.hpp"
#include "nax/core/small_vector.hpp"

NAX_BEGIN

using Dims = SmallVector<std::int64_t, 5>;

namespace detail {

// The most elements of an array: the number of bytes cannot overflow for any dtype.
inline constexpr std::int64_t most_elements = PTRDIFF_MAX / 16;

[[noreturn, gnu::cold]] void throw_extents(const char* function, const Dims& shape);

// Returns the number of elements of a shape. Every shape made from a caller's numbers is checked here, and
// nowhere else. Throws ValueError for a negative extent and for more than most_elements. An extent of 0 does
// not excuse the others, as in NumPy, so no product of some of the extents overflows either.
NAX_ENGINE std::int64_t count_elements(const char* function, const Dims& shape);

// Adds and multiplies extents. Saturates to an extent that shape checks reject.
inline std::int64_t add_extents(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return add_overflows(a, b, sum) ? INT64_MAX : sum;
}
inline std::int64_t multiply_extents(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return multiply_overflows(a, b, product) ? INT64_MAX : product;
}

}  // namespace detail

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

  // The number of elements. Throws ValueError where no array may have so many.
  std::int64_t count() const { return detail::count_elements("shape", *this); }
};

NAX_ENGINE std::string shape_text(const std::int64_t* dims, std::size_t n);
inline std::string to_string(const Dims& dims) { return shape_text(dims.data(), dims.size()); }
inline std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

namespace detail {

[[noreturn, gnu::cold]] NAX_ENGINE void throw_extents(const char* function, const Dims& shape);

// A visible axis, counted from the end when negative, checked: NumPy's normalize_axis_index.
NAX_ENGINE int normalize_axis(const char* function, std::int64_t axis, int ndim);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/shape-inl.hpp"
#endif
