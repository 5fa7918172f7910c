#pragma once

#include "nax/backend/expression_slots.hpp"
#include "nax/devices/cuda/text/text_kernel.hpp"
#include "nax/expr/evaluation/formula_kernels.hpp"
#include "nax/expr/evaluation/text_nodes.hpp"

// Kernels of expressions for a GPU in files that no CUDA compiler sees (NAX_CUDA_FORMULAS): the expression's
// formula becomes a text, which cuda::text_compiler compiles at the first call, for each way in which
// operands lie. Kernels are kept as long as the program runs.
//
// An expression that has no formula, since integers are in it, is written down operation by operation
// (text_nodes.hpp); it has values alone.
NAX_BEGIN
namespace detail {

// As cuda::ExpressionKernels::forward and pull, of the expression that `symbols` describes. `name`: of its
// root. Throw DeviceError where the program has no compiler of texts, or the formula has no text.
NAX_ENGINE void launch_text_forward(const char* name, const ExpressionSymbols& symbols, Device device,
                                    const void* constants, const Dims& shape, const loops::Operand* operands);
NAX_ENGINE void launch_text_pull(const char* name, const ExpressionSymbols& symbols, Device device,
                                 const void* constants, const Dims& shape, const loops::Operand* operands,
                                 unsigned added);

// As `forward`, of an expression that has no formula.
NAX_ENGINE void launch_text_nodes(const char* name, const TextNodeList& nodes, Device device,
                                  const void* constants, const Dims& shape, const loops::Operand* operands);

template <class E>
void text_forward(Device device, const void* constants, const Dims& shape, const loops::Operand* operands) {
  if constexpr (has_formula<E>)
    launch_text_forward(E::rule::name, expression_symbols<E>, device, constants, shape, operands);
  else
    launch_text_nodes(E::rule::name, text_nodes<E>, device, constants, shape, operands);
}
template <class E>
void text_pull(Device device, const void* constants, const Dims& shape, const loops::Operand* operands,
               unsigned added) {
  launch_text_pull(E::rule::name, expression_symbols<E>, device, constants, shape, operands, added);
}

// Kernels that a CUDA file of the program has come first.
template <class E>
struct FillTextSlot {
  FillTextSlot() {
    cuda::ExpressionKernels& kernels = cuda::expression_kernels<E>;
    if (!kernels.forward) kernels.forward = text_forward<E>;
    if constexpr (Carries<E>::value && has_formula<E>)
      if (!kernels.pull) kernels.pull = text_pull<E>;
  }
  void needed() const {}
};
template <class E>
inline const FillTextSlot<E> fill_text_slot{};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/devices/cuda/expressions/device_formulas-inl.hpp"
#endif
