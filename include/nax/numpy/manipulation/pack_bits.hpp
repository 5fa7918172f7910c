#pragma once

#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/bitwise.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/split.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/transpose.hpp"

// Eight truth values in a byte, and back.
NAX_BEGIN

struct PackbitsOptions {
  Axis axis = {};                     // of the flattened array when not given
  std::string_view bitorder = "big";  // the first value is the highest bit; or "little": the lowest
};
struct UnpackbitsOptions {
  Axis axis = {};
  std::optional<std::int64_t> count =
      {};  // so many bits; of a negative count so many less; missing ones are 0
  std::string_view bitorder = "big";
};

namespace detail {

// The place of each of eight values in the byte.
NAX_ENGINE Array<std::uint8_t> bit_places(const char* function, std::string_view bitorder);
template <class T>
Array<T> zeros_behind(const char* function, const Array<T>& x, std::int64_t more) {  // on the last axis
  if (more == 0) return x;
  Shape shape = x.shape();
  shape[shape.size() - 1] = more;
  const ComputeOn beside_x(x);
  return concatenate_on(function, std::vector{x, zeros<T>(shape)}, -1);
}

}  // namespace detail

// Truth values, or integers that are 0 or not, eight in a byte; zeros fill the last one. The result has the
// shape of x with extent (n + 7) / 8 for n along `axis`; without `axis`, of the flattened x. Throws
// ValueError for an unknown bitorder, and IndexError if `axis` is out of bounds.
template <detail::ArrayLike X>
Array<std::uint8_t> packbits(const X& x_, const PackbitsOptions& options = {}) {
  using T = typename X::value_type;
  static_assert(std::is_integral_v<T>, "packbits: an array of truth values or integers");
  auto x = detail::as_array(x_);
  detail::check_operand("packbits", x);
  const Array<std::uint8_t> places =
      detail::typed<std::uint8_t>(detail::beside(x, detail::bit_places("packbits", options.bitorder)));
  if (!options.axis.given()) x = detail::reshape_to("packbits", x, Shape{x.size()});
  const int axis =
      detail::normalize_axis("packbits", options.axis.given() ? options.axis.list()[0] : 0, x.ndim());
  auto bits = detail::as_type<std::uint8_t>(detail::evaluate(moveaxis(x, axis, -1) != T(0)));
  const std::int64_t n = bits.shape(-1), bytes = (n + 7) / 8;
  bits = detail::zeros_behind("packbits", bits, bytes * 8 - n);
  Dims shape = bits.shape();
  shape[shape.size() - 1] = bytes;
  shape.push_back(8);
  const auto sums = sum(left_shift(detail::reshape_to("packbits", bits, shape), places), {.axis = -1});
  return moveaxis(sums.template astype<std::uint8_t>(), -1, axis);
}

// The bits of bytes, eight uint8 of 0 or 1 for each. The result has the shape of x with extent 8 n for n
// along `axis`, or `count`; without `axis`, of the flattened x. Throws ValueError for an unknown bitorder or
// a `count` below the negative number of bits, and IndexError if `axis` is out of bounds.
template <detail::ArrayLike X>
Array<std::uint8_t> unpackbits(const X& x_, const UnpackbitsOptions& options = {}) {
  static_assert(std::is_same_v<typename X::value_type, std::uint8_t>, "unpackbits: an array of uint8");
  using Bytes = detail::where_used_t<Array<std::uint8_t>, X>;
  Bytes x = detail::as_array(x_);
  detail::check_operand("unpackbits", x);
  const Bytes places =
      detail::typed<std::uint8_t>(detail::beside(x, detail::bit_places("unpackbits", options.bitorder)));
  if (!options.axis.given()) x = detail::reshape_to("unpackbits", x, Shape{x.size()});
  const int axis =
      detail::normalize_axis("unpackbits", options.axis.given() ? options.axis.list()[0] : 0, x.ndim());
  x = moveaxis(x, axis, -1);
  Bytes bits = right_shift(expand_dims(x, -1), places) & std::uint8_t{1};
  Dims shape = x.shape();
  const std::int64_t n = detail::multiply_extents(shape[shape.size() - 1], 8);
  shape[shape.size() - 1] = n;
  bits = detail::reshape_to("unpackbits", bits, shape);
  const std::int64_t count = options.count ? *options.count < 0 ? n + *options.count : *options.count : n;
  if (count < 0)
    raise<ValueError>({"unpackbits: -count larger than number of elements: ", *options.count, " of ", n});
  if (count < n) bits = detail::narrow(bits, bits.ndim() - 1, 0, count);
  return moveaxis(detail::zeros_behind("unpackbits", bits, std::max<std::int64_t>(count - n, 0)), -1, axis);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE Array<std::uint8_t> bit_places(const char* function, std::string_view bitorder) {
  if (bitorder != "big" && bitorder != "little")
    raise<ValueError>({function, ": 'bitorder' must be either 'big' or 'little', not '", bitorder, "'"});
  const bool big = bitorder == "big";
  return generated_on_host<std::uint8_t>(
      function, 8, [big](std::int64_t i) { return static_cast<std::uint8_t>(big ? 7 - i : i); });
}

}  // namespace detail
NAX_END
#endif
