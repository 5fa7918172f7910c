#pragma once

#include "nax/expr/differentiation/fused_node.hpp"
#include "nax/loops/linear.hpp"
#include "nax/numpy/products/contract.hpp"

// The activation of x w + b on a GPU as one launch, by the device's operation `linear`.
//
// Two nodes are recorded: one from x, w and b to z = x w + b, which computes the gradients of w and b in one
// launch, and one from z to the activation, that of the expression. The latter reads z, which is stored for
// gelu alone: relu has one derivative at z and at relu(z), so its node takes the result in the place of z.
NAX_BEGIN
namespace detail {

// The result, and what the activation's node reads; both have no buffer where the device has no kernel.
struct LinearProduct {
  ArrayBase result, before;
};

// Of x (hidden..., m, k), w (k, n) and b (n,) that lie on one GPU, of one floating type; any others give no
// buffers. Not recorded. `keeps`: z is wanted.
NAX_ENGINE LinearProduct linear_product(const ArrayBase& x, const ArrayBase& w, const ArrayBase& b,
                                        loops::Activation activation, bool keeps);
// Records z as made of x, w and b.
NAX_ENGINE void record_linear(ArrayBase& z, const ArrayBase& x, const ArrayBase& w, const ArrayBase& b);

// Records `result` as the rule's value at z.
template <class Rule, class T>
void record_activation(ArrayBase& result, const ArrayBase& z) {
  const ArrayBase* const leaves[] = {&z};
  ArrayAccess::serial(result) = record_fused(fused_type_of<Expr<Rule, Array<T>>>(), leaves, nullptr);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/nn/linear_product-inl.hpp"
#endif
