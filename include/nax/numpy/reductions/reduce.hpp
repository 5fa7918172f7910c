#pragma once

#include "nax/backend/cpu/reduce/reduce.hpp"
#include "nax/backend/cpu/reduce/reducer_slots.hpp"
#include "nax/expr/differentiation/program_steps.hpp"
#include "nax/expr/differentiation/wrt_operand.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/reductions/reduce_options.hpp"

// Shared by reductions: drives a reducer over an array or an expression of any layout.
NAX_BEGIN
namespace detail {

// The type in which the kernels see the values of the expression X.
template <Expression X>
using tile_element_t = typename kernel_lane_t<X>::template Stored<typename X::value_type>;

// The values that an array reduces to over the marked axes (of all, hidden ones included), in accumulators of
// type `to`. Not recorded. A divisor other than 1 divides sums of floating elements, on GPUs only.
NAX_ENGINE ArrayBase reduce_array(loops::ReduceKind kind, const ArrayBase& x, DType to,
                                  const AxisMarks& marks, bool keep, double divisor = 1);

// Reduces an expression on the host; its values are stored nowhere.
NAX_COMPILED_ONCE ArrayBase reduce_expression(const cpu::Reducer& reducer, cpu::ForwardKernel kernel,
                                              const void* constants, const ArrayBase* const* leaves,
                                              const DType* lanes, int count, const Frame& frame,
                                              const AxisMarks& marks, bool keep) {
  ArrayBase result =
      allocate(reducer.to, reduced_frame(frame, marks, keep), device_for("reduce", leaves, count));
  {
    const profile::Span span(profile::Kind::operation, "reduce");
    if (span.event()) [[unlikely]]
      describe_operation(*span.event(), leaves, count, frame, result);
    loops::Operand operands[max_leaves + 1];
    for (int l = 0; l < count; ++l) operands[l] = operand_over(*leaves[l], frame, lanes[l]);
    operands[count] = {raw_data(result), reduced_strides(frame, marks), reducer.to, reducer.to};
    cpu::reduce(kernel, constants, frame.shape, operands, count, layout_of(result).size(), reducer);
  }
  if (watches_operations()) [[unlikely]]
    check_numbers("reduce", "", odd_numbers_in(leaves, count), result, leaves, count);
  return result;
}

// The accumulated values of an array or an expression.
template <class Op, class X>
ArrayBase reduce_over(const X& x, const AxisMarks& marks, bool keep) {
  using From = lane_t<typename X::value_type>;
  constexpr DType to = dtype_of<typename Op::Acc>;
  cpu::provide_reducer<Op, From>();
  if constexpr (is_array_v<X>) {
    return reduce_array(Op::kind, x, to, marks, keep);
  } else {
    const Parts<X> parts(x);
    const KernelTable& table = kernel_table<X>;
    const Device device = device_for(table.name, parts.leaves, table.leaves);
    if (on_program(device)) {
      const Frame frame = frame_of(x);
      const cpu::Reducer& reducer = cpu::expression_reducer<Op, tile_element_t<X>, From>();
      ArrayBase result = allocate(reducer.to, reduced_frame(frame, marks, keep), device);
      record_reduce(reducer, table, parts.constants.slots, parts.leaves, frame, reduced_strides(frame, marks),
                    result);
      return result;
    }
    // Also where numbers are watched: the formula's values have a look of their own then.
    if ((watches_numbers() && table.result_lane == table.result) || on_accelerator(device))
      return reduce_array(Op::kind, compute_values(table, parts.constants.slots, parts.leaves, x.frame()), to,
                          marks, keep);
    return reduce_expression(cpu::expression_reducer<Op, tile_element_t<X>, From>(), forward_kernel_of<X>(),
                             parts.constants.slots, parts.leaves, leaf_table<X>.lanes, Tree<X>::leaves,
                             frame_of(x), marks, keep);
  }
}

// Accumulated values in the element type of the result.
template <class T>
Array<T> from_accumulator(ArrayBase values) {
  return typed<T>(as_dtype(std::move(values), dtype_of<T>));
}

template <class X>
void check_reducible(const char* function, const X& x) {
  if constexpr (is_array_v<X>) {
    check_operand(function, x);
  }
}

// Throws where an operation without identity meets no elements.
NAX_ENGINE void check_not_empty(const char* function, const AxisMarks& marks, const Frame& frame);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/reduce-inl.hpp"
#endif
