#pragma once

#include "nax/devices/cuda/launch/loop.hpp"
#include "nax/loops/lines.hpp"

NAX_BEGIN
namespace cuda {

// Element i of a line, in the order of the scan.
struct LineOrder {
  std::int64_t n, inner;
  bool reverse;
  AnyDivisor by_n, by_inner;

  LineOrder(const loops::Lines& lines, bool reversed)
      : n(lines.n), inner(lines.inner), reverse(reversed), by_n(n), by_inner(inner) {}
  constexpr std::int64_t at(std::int64_t line, std::int64_t i) const {
    const std::int64_t place = reverse ? n - 1 - i : i;
    if (inner == 1) return line * n + place;
    const std::int64_t outer = by_inner.quotient(line);
    return (outer * n + place) * inner + line - outer * inner;
  }
  // Element i of all lines, one after another.
  constexpr std::int64_t at(std::int64_t i) const {
    if (inner == 1 && !reverse) return i;
    const std::int64_t line = by_n.quotient(i);
    return at(line, i - line * n);
  }
};
inline LineOrder order_of(const loops::Lines& lines, bool reverse) { return {lines, reverse}; }

}  // namespace cuda
NAX_END
