#pragma once

#include "nax/backend/cpu/reduce.hpp"
#include "nax/expr/wrt_operand.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/reductions/reduce_options.hpp"

// Shared by reductions: drives a reducer over an array or an expression of any layout.
NAX_BEGIN
namespace detail {

// The type in which the kernels see the elements of X.
template <class X>
struct TileElement {
  using type = lane_t<typename X::value_type>;
};
template <Expression X>
struct TileElement<X> {
  using type = typename kernel_lane_t<X>::template Stored<typename X::value_type>;
};
template <class X>
using tile_element_t = typename TileElement<X>::type;

// Reduces `count` operands over the axes of `frame` to accumulators. `kernel`: the expression's, null for an
// array as it is.
NAX_COMPILED_ONCE ArrayBase reduce_unwatched(const cpu::Reducer& reducer, cpu::ForwardKernel kernel,
                                             const void* constants, const ArrayBase* const* leaves,
                                             const DType* lanes, int count, const Frame& frame,
                                             const AxisMarks& marks, bool keep) {
  ArrayBase result =
      allocate(reducer.to, reduced_frame(frame, marks, keep), device_for("reduce", leaves, count));
  const profile::Span span(profile::Kind::operation, "reduce");
  if (span.event()) [[unlikely]]
    describe_operation(*span.event(), leaves, count, frame, result);
  if (on_accelerator(result)) {  // an array: see reduce_over
    reduce_on_device(reducer.kind, *leaves[0], frame, marks, result);
    return result;
  }
  const std::int64_t n = frame.size(), size = layout_of(result).size();
  // One number out of a run that no thread would share: most reductions of small programs.
  if (!kernel && size == 1 && n > 0 && n <= cpu::detail::parallel_grain && leaves[0]->dtype() == lanes[0] &&
      layout_of(*leaves[0]).is_contiguous()) {
    reducer.fill(raw_data(result), 1);
    reducer.combine(raw_data(*leaves[0]), raw_data(result), 0, n);
    return result;
  }
  loops::Operand operands[max_leaves + 1];
  for (int l = 0; l < count; ++l) operands[l] = operand_over(*leaves[l], frame, lanes[l]);
  operands[count] = {raw_data(result), reduced_strides(frame, marks), reducer.to, reducer.to};
  cpu::reduce(kernel, constants, frame.shape, operands, count, size, reducer);
  return result;
}

NAX_COMPILED_ONCE ArrayBase reduce_operands(const cpu::Reducer& reducer, cpu::ForwardKernel kernel,
                                            const void* constants, const ArrayBase* const* leaves,
                                            const DType* lanes, int count, const Frame& frame,
                                            const AxisMarks& marks, bool keep) {
  ArrayBase result = reduce_unwatched(reducer, kernel, constants, leaves, lanes, count, frame, marks, keep);
  if (watches_operations()) [[unlikely]]
    check_numbers("reduce", "", odd_numbers_in(leaves, count), result, leaves, count);
  return result;
}

// The accumulated values, in the accumulator's type. `marks` are over all axes of x, hidden ones included.
template <class Op, class X>
ArrayBase reduce_over(const X& x, const AxisMarks& marks, bool keep) {
  const cpu::Reducer& reducer = cpu::reducer<Op, tile_element_t<X>>;
  if constexpr (is_array_v<X>) {
    const ArrayBase* const leaf = &x;
    return reduce_operands(reducer, nullptr, nullptr, &leaf, &reducer.from, 1, frame_of(x), marks, keep);
  } else {
    const Parts<X> parts(x);
    const KernelTable& table = kernel_table<X>;
    // Also where numbers are watched: the formula's values have a look of their own then.
    if ((watches_numbers() && table.result_lane == table.result) ||
        on_accelerator(device_for(table.name, parts.leaves, table.leaves))) {
      const ArrayBase values = compute_values(table, parts.constants.slots, parts.leaves, x.frame());
      const ArrayBase* const leaf = &values;
      return reduce_operands(reducer, nullptr, nullptr, &leaf, &reducer.from, 1, x.frame(), marks, keep);
    }
    return reduce_operands(reducer, forward_kernel<X>, parts.constants.slots, parts.leaves,
                           leaf_table<X>.lanes, Tree<X>::leaves, frame_of(x), marks, keep);
  }
}

// Accumulated values in the element type of the result.
template <class T, class Acc>
Array<T> from_accumulator(ArrayBase values) {
  if constexpr (std::is_same_v<T, Acc>) {
    return typed<T>(std::move(values));
  } else {
    if (on_accelerator(values)) return typed<T>(as_dtype(values, dtype_of<T>));
    Array<T> result = typed<T>(allocate(dtype_of<T>, layout_of(values)));
    cpu::convert_run<Acc, T>(raw_data(values), 1, raw_data(result), 1, layout_of(result).size());
    return result;
  }
}

template <class X>
void check_reducible(const char* function, const X& x) {
  if constexpr (is_array_v<X>) {
    check_operand(function, x);
  }
}

// Throws where an operation without identity meets no elements.
NAX_ENGINE void check_not_empty(const char* function, const AxisMarks& marks, const Frame& frame);

// An operand as an array of element type R.
template <class R, ArrayLike X>
Array<R> as_type(const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, R>)
    return materialise(x);
  else
    return x.template astype<R>();
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/reduce-inl.hpp"
#endif
