#pragma once

#include "nax/core/profile.hpp"
#include "nax/devices.hpp"
#include "nax/expr/evaluation/device_compute.hpp"
#include "nax/expr/evaluation/scalar_kernels.hpp"
#include "nax/tape/tape.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/expr/expressions/formula.hpp"
#endif

// Turns an expression into an array: one loop, and one node on the tape when a differentiated input is among
// its leaves.
NAX_BEGIN
namespace detail {

struct FusedType;          // what the tape must know of an expression type; see fused_node.hpp
struct ExpressionSymbols;  // in formula.hpp
struct FormulaSlot;        // in formula_kernels.hpp

// Puts the node of an expression with this result on the tape; its serial.
std::uint64_t record_fused(const FusedType& type, const ArrayBase* const* leaves, const void* constants,
                           const ArrayBase& result);
template <class E>
const FusedType& fused_type_of();

// Appends an expression to the program that is being recorded; see program_steps.hpp.
struct KernelTable;
void record_map(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                const Frame& frame, const ArrayBase& result);

// ---- the part that does not depend on the type of the expression

// The facts about an expression type that the engine needs.
struct KernelTable {
  const char* name;  // of the root's rule
  cpu::ForwardKernel forward, scalar_forward;
  const cuda::ExpressionKernels* device;
  const DType* lanes;   // leaf by leaf: as the kernels read it
  const DType* stored;  // leaf by leaf: as it is
  int leaves;
  unsigned inexact;                  // bit l: leaf l is of a floating type
  bool plain;                        // leaves and result are stored as the kernels take them
  DType result_lane, result;         // as the kernels write it, and as it is
  const FusedType& (*fused_type)();  // none where no gradient flows through
  const FormulaPart* formula;        // its parts, for messages
  int constants;                     // how many C++ numbers it has
  const ExpressionSymbols* symbols;  // none where it has no formula, or programs are headers only
  FormulaSlot* slot;                 // of kernels that are formulas; none of compiled ones
};

// The value of an expression of numbers (arrays of no axes, on the host) in `result`, which holds nothing
// yet.
void evaluate_scalar(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                     ArrayBase& result);

inline loops::Operand operand_over(const ArrayBase& a, const Frame& frame, DType lane) {
  return {raw_data(a), strides_over(layout_of(a), frame), a.dtype(), lane};
}

// The usual small case: every leaf is an unbroken run over the whole frame, of the kernel's own type.
NAX_ENGINE bool compute_flat(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                             const Frame& frame, const ArrayBase& result);

[[gnu::cold]] NAX_ENGINE void compute_on_device(const KernelTable& table, const void* constants,
                                                const ArrayBase* const* leaves, const Frame& frame,
                                                const ArrayBase& result);

// Describes it for a profile: the result's shape, bytes read and written.
[[gnu::cold]] NAX_ENGINE void describe_operation(profile::Event& event, const ArrayBase* const* leaves,
                                                 int count, const Frame& frame, const ArrayBase& result);

// compute(), with a look at the numbers that come and go.
[[gnu::cold]] NAX_ENGINE void compute_watched(const KernelTable& table, const void* constants,
                                              const ArrayBase* const* leaves, const Frame& frame,
                                              const ArrayBase& result);

NAX_COMPILED_ONCE void compute_unwatched(const KernelTable& table, const void* constants,
                                         const ArrayBase* const* leaves, const Frame& frame,
                                         const ArrayBase& result) {
  const profile::Span span(profile::Kind::operation, table.name, result.device());
  if (span.event()) [[unlikely]]
    describe_operation(*span.event(), leaves, table.leaves, frame, result);
  if (on_accelerator(result)) return compute_on_device(table, constants, leaves, frame, result);
  if (compute_flat(table, constants, leaves, frame, result)) return;
#if defined(NAX_USES_FORMULAS)
  if (table.slot && run_broadcast(*table.slot, constants, leaves, frame, result)) return;
#endif
  loops::Operand operands[max_leaves + 1];
  for (int l = 0; l < table.leaves; ++l) operands[l] = operand_over(*leaves[l], frame, table.lanes[l]);
  operands[table.leaves] = operand_over(result, frame, table.result_lane);
  cpu::map(table.forward, constants, frame.shape, operands, table.leaves);
}

// Writes the values of an expression over `frame` to `result`.
NAX_COMPILED_ONCE void compute(const KernelTable& table, const void* constants,
                               const ArrayBase* const* leaves, const Frame& frame, const ArrayBase& result) {
  if (watches_operations()) [[unlikely]]
    return compute_watched(table, constants, leaves, frame, result);
  compute_unwatched(table, constants, leaves, frame, result);
}

NAX_ENGINE bool any_on_tape(const KernelTable& table, const ArrayBase* const* leaves);
[[gnu::flatten]] NAX_COMPILED_ONCE bool any_recorded(const KernelTable& table,
                                                     const ArrayBase* const* leaves) {
  return (recording.tape || recording.caller) && any_on_tape(table, leaves);
}

NAX_ENGINE void compute_into(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                             const Frame& frame, ArrayBase& result);

NAX_COMPILED_ONCE void evaluate_array(const KernelTable& table, const void* constants,
                                      const ArrayBase* const* leaves, const Frame& frame, ArrayBase& result) {
  const Device device = device_for(table.name, leaves, table.leaves);
  if (frame.shape.empty() && table.plain && !on_accelerator(device))
    return evaluate_scalar(table, constants, leaves, result);
  allocate_in(result, table.result, frame, device);
  compute_into(table, constants, leaves, frame, result);
}

// Computes an expression into `result`, which holds nothing yet.
NAX_COMPILED_ONCE void evaluate(const KernelTable& table, const void* constants,
                                const ArrayBase* const* leaves, const Frame& frame, ArrayBase& result) {
  if (frame.shape.empty() && table.plain && !accelerators_present)
    evaluate_scalar(table, constants, leaves, result);
  else
    evaluate_array(table, constants, leaves, frame, result);
}

// The values alone, also of a recorded expression.
NAX_COMPILED_ONCE ArrayBase compute_values(const KernelTable& table, const void* constants,
                                           const ArrayBase* const* leaves, const Frame& frame) {
  ArrayBase result = allocate(table.result, frame, device_for(table.name, leaves, table.leaves));
  compute(table, constants, leaves, frame, result);
  return result;
}

// May the assignment write over the target? Where that cannot be seen: nothing records, no other handle
// shares the target's buffer, and each leaf that lies in it is the target itself, element for element.
NAX_ENGINE bool is_in_place(const KernelTable& table, const ArrayBase* const* leaves, const Frame& frame,
                            const ArrayBase& target);

NAX_COMPILED_ONCE void assign(const KernelTable& table, const void* constants, const ArrayBase* const* leaves,
                              const Frame& frame, ArrayBase& target) {
  if (is_in_place(table, leaves, frame, target)) {
    ArrayAccess::serial(target) = 0;
    compute_into(table, constants, leaves, frame, target);
  } else {
    ArrayBase result = ArrayAccess::unset();
    evaluate(table, constants, leaves, frame, result);
    target = std::move(result);
  }
}

// ---- the part that does

// The formula of what programs record.
template <class E>
constexpr const ExpressionSymbols* symbols_if_used() {
#if defined(NAX_USES_FORMULAS)
  if constexpr (has_program_formula<E>) return &expression_symbols<E>;
#endif
  return nullptr;
}
template <class E>
constexpr FormulaSlot* slot_if_used() {
#if defined(NAX_RUNS_FORMULAS)
  if constexpr (runs_formula<E>) return &FormulaKernels<E>::slot;
#endif
  return nullptr;
}
template <class E>
constexpr KernelTable table_of() {
  KernelTable table{E::rule::name,
                    forward_kernel_of<E>(),
                    scalar_forward_kernel_of<E>(),
                    &cuda::expression_kernels<E>,
                    leaf_table<E>.lanes,
                    leaf_table<E>.stored,
                    Tree<E>::leaves,
                    leaf_table<E>.inexact(),
                    leaf_table<E>.plain() && result_lane_of<E> == dtype_of<typename E::value_type>,
                    result_lane_of<E>,
                    dtype_of<typename E::value_type>,
                    nullptr,
                    expression_parts<E>.parts,
                    Tree<E>::constants,
                    symbols_if_used<E>(),
                    slot_if_used<E>()};
  if constexpr (Carries<E>::value) table.fused_type = fused_type_of<E>;
  return table;
}
template <class E>
inline constexpr KernelTable kernel_table = table_of<E>();

template <class E>
bool any_recorded(const E& e) {
  if constexpr (Carries<E>::value)
    return any_recorded(kernel_table<E>, Parts<E>(e).leaves);
  else
    return false;
}

// Where an array lies, or an expression is computed.
template <class X>
Device device_of_values(const X& x) {
  if constexpr (is_array_v<X>) {
    return x.device();
  } else {
    if (!accelerators_present) return current_device;
    const Parts<X> parts(x);
    return common_device(kernel_table<X>.name, parts.leaves, kernel_table<X>.leaves);
  }
}
template <class X>
bool computed_on_accelerator(const X& x) {
  return on_accelerator(device_of_values(x));
}

template <Expression E>
Array<typename E::value_type> evaluate(const E& e) {
  if constexpr (is_weak_v<E>) {
    return evaluate(as_strong_beside<bool>(e));
  } else {
    const Parts<E> parts(e);
    Array<typename E::value_type> result{Unset()};
    evaluate(kernel_table<E>, parts.constants.slots, parts.leaves, e.frame(), result);
    return result;
  }
}
// The value of an expression in elements of type T, which its numbers may first have to become.
template <class T, Expression E>
Array<T> evaluate_as(const E& e) {
  if constexpr (is_weak_v<E>)
    return evaluate(as_strong<T>(e));
  else
    return evaluate(e);
}

template <Expression E>
void assign(Array<typename E::value_type>& target, const E& e) {
  const Parts<E> parts(e);
  assign(kernel_table<E>, parts.constants.slots, parts.leaves, e.frame(), target);
}
template <class T, Expression E>
void assign_as(Array<T>& target, const E& e) {
  if constexpr (is_weak_v<E>)
    assign(target, as_strong<T>(e));
  else
    assign(target, e);
}

// A value as an Array: expressions are computed, anything else stays what it is.
template <class X>
decltype(auto) materialise(X&& x) {
  if constexpr (Expression<std::remove_cvref_t<X>>)
    return evaluate(x);
  else
    return std::forward<X>(x);
}
template <class X>
using materialised_t = std::remove_cvref_t<decltype(materialise(std::declval<X>()))>;

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/evaluation/evaluate-inl.hpp"
#endif
