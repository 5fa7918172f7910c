#pragma once

#include <concepts>
#include <limits>

#include "nax/core/abi.hpp"

NAX_BEGIN

// A float as an integer: truncated toward zero, NaN as 0, and beyond the type's range its least or greatest
// number. Free of branches, so that loops over it run in packets.
template <std::integral To, std::floating_point From>
constexpr To to_integer(From x) {
  using Limits = std::numeric_limits<To>;
  constexpr From low = static_cast<From>(Limits::min()),
                 above = static_cast<From>(Limits::max() / 2 + 1) * From(2);
  // Not every greatest integer is a float: then the next float below.
  constexpr bool exact = Limits::digits <= std::numeric_limits<From>::digits;
  constexpr From high = exact ? static_cast<From>(Limits::max())
                              : above * (From(1) - std::numeric_limits<From>::epsilon() / From(2));
  From within = x > low ? x : low;  // NaN, too
  within = within < high ? within : high;
  To result = static_cast<To>(within);
  if constexpr (!exact) result = x >= above ? Limits::max() : result;
  if constexpr (Limits::is_signed) result = x == x ? result : To(0);
  return result;
}

NAX_END
