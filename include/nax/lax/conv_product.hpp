#pragma once

#include <memory>

#include "nax/backend/cpu/conv/conv.hpp"
#include "nax/expr/differentiation/primitive.hpp"
#include "nax/numpy/views/copy.hpp"

// The convolution as an operation on the tape, of x (N, spatial..., C) and w (spatial..., C / groups, O).
//
// forward, input and weights (see loops/convolution.hpp) are the three ways to pair two of x, w and y. Each
// is linear in both of its operands, and the derivative in either is another of the three: so they close
// under differentiation, to any order.
//
// Hidden axes: where the weights have none those of the other operand are more images. Where they have some,
// one convolution is computed for each.
NAX_BEGIN
namespace detail {

using loops::ConvPart;

struct ConvSpec {
  loops::ConvGeometry geometry;  // n is that of the visible axes
  int spatial;

  Dims visible(ConvPart part) const {
    Dims shape;
    const std::int64_t* of = part == ConvPart::forward ? geometry.out
                             : part == ConvPart::input ? geometry.in
                                                       : geometry.kernel;
    if (part != ConvPart::weights) shape.push_back(geometry.n);
    for (int axis = 3 - spatial; axis < 3; ++axis) shape.push_back(of[axis]);
    if (part == ConvPart::weights) shape.push_back(geometry.c / geometry.groups);
    shape.push_back(part == ConvPart::input ? geometry.c : geometry.o);
    return shape;
  }
};
using ConvRef = std::shared_ptr<const ConvSpec>;

NAX_ENGINE Levels levels_without(const Levels& all, const Levels& gone);

// The part of operands a and b, recorded. Weights are summed over the hidden axes that are not among `kept`.
NAX_ENGINE ArrayBase conv_part(ConvPart part, const ConvRef& spec, const ArrayBase& a, const ArrayBase& b,
                               const Levels& kept = {});
template <class T>
Array<T> conv_forward(const ConvRef& spec, const Array<T>& x, const Array<T>& w) {
  if constexpr (sizeof(T) > 2) cpu::provide<cpu::ConvKernel, T>();  // the host computes half types in float
  return typed<T>(conv_part(ConvPart::forward, spec, x, w));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/conv/conv_kernels.hpp"
#endif
#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/conv_product-inl.hpp"
#endif
