#pragma once

#include "nax/loops/lines.hpp"

NAX_BEGIN
namespace cuda {

// Element i of a line, in the order of the scan.
struct LineOrder {
  std::int64_t n, inner;
  bool reverse;
  constexpr std::int64_t at(std::int64_t line, std::int64_t i) const {
    if (inner == 1) return line * n + (reverse ? n - 1 - i : i);  // division takes a GPU long
    return line / inner * n * inner + (reverse ? n - 1 - i : i) * inner + line % inner;
  }
};
inline LineOrder order_of(const loops::Lines& lines, bool reverse) { return {lines.n, lines.inner, reverse}; }

}  // namespace cuda
NAX_END
