#pragma once

#include "nax/expr/differentiation/fused_node.hpp"
#include "nax/loops/linear.hpp"
#include "nax/numpy/products/contract.hpp"

// The activation of x w + b, or x w + b + added, on a GPU as one launch, by the device's operation `linear`.
//
// Two nodes are recorded: one from x, w, b and what is added to z = x w + b + added, which computes the
// gradients of w and b in one launch, and one from z to the activation, that of the expression. The latter
// reads z, which is stored for gelus alone: relu has one derivative at z and at relu(z), so its node takes
// the result in the place of z.
NAX_BEGIN
namespace detail {

// The result, and what the activation's node reads; both have no buffer where the device has no kernel.
struct LinearProduct {
  ArrayBase result, before;
};

// The parts of a linear layer, on one GPU, of one floating type: x (m, k), w (k, n), b (n,), and `added`
// (m, n), which may be null.
struct LinearParts {
  const ArrayBase &x, &w, &b;
  const ArrayBase* added;
};
// No buffers where the parts are others. Not recorded. `keeps`: z is wanted.
NAX_ENGINE LinearProduct linear_product(const LinearParts& parts, loops::Activation activation, bool keeps);
// Records z as made of the parts.
NAX_ENGINE void record_linear(ArrayBase& z, const LinearParts& parts);

// Records `result` as the rule's value at z.
template <class Rule, class T>
void record_activation(ArrayBase& result, const ArrayBase& z) {
  const ArrayBase* const leaves[] = {&z};
  ArrayAccess::serial(result) = record_fused(fused_type_of<Expr<Rule, Array<T>>>(), leaves, nullptr, result);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/nn/linear_product-inl.hpp"
#endif
