#pragma once

#include <string>
#include <vector>

#include "nax/numpy/products/einsum.hpp"

// In what order einsum joins its operands, and what that costs.
NAX_BEGIN

struct EinsumPath {
  // For each step the places of the operands that are joined; they leave the list and their product comes
  // last.
  std::vector<std::vector<int>> path;
  double naive_flops = 0, flops = 0;      // of one loop over all labels, and of the steps
  std::int64_t largest_intermediate = 0;  // elements

  std::string text() const;
};

namespace detail {

// The labels of a subscript as they are for operands of these shapes, and every label's extent.
struct EinsumLabels {
  std::vector<Labels> terms;
  Labels output;
  std::vector<double> extents = std::vector<double>(256, 1);

  EinsumLabels(std::string_view subscripts, const std::vector<Shape>& shapes);
  double size_of(const Labels& labels) const {
    double n = 1;
    for (const std::int32_t l : labels) n *= extents[static_cast<std::size_t>(l)];
    return n;
  }
};

// A multiplication for each operand but one, and an addition where something is summed, for each element of
// the loop over all labels.
inline double einsum_flops(double loop, std::size_t operands, bool sums) {
  return loop * (static_cast<double>(std::max<std::size_t>(operands, 2) - 1) + (sums ? 1 : 0));
}

NAX_ENGINE EinsumPath einsum_path_of(std::string_view subscripts, const std::vector<Shape>& shapes);

}  // namespace detail

// The pairs that einsum joins, one after the other, in NumPy's form (the operands of a step leave the list,
// their product comes last), with the work of it. Only shapes are read. Throws ValueError for invalid
// subscripts or shapes that do not fit them.
template <detail::ArrayLike... X>
requires(sizeof...(X) > 0) EinsumPath einsum_path(std::string_view subscripts, const X&... x) {
  return detail::einsum_path_of(subscripts, {x.shape()...});
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/products/einsum_path-inl.hpp"
#endif
