#pragma once

#include "nax/backend/cpu/reduce.hpp"
#include "nax/expr/record_result.hpp"
#include "nax/numpy/cast.hpp"
#include "nax/numpy/reduce_options.hpp"

// What reductions share: driving a reducer over an array or an expression of any layout.
namespace nax::detail {

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

// The accumulated values, in the accumulator's type. `marks` are over all axes of x, hidden ones included.
template <class Op, class X>
ArrayBase reduce_over(const X& x, const std::vector<bool>& marks, bool keep) {
  using Acc = typename Op::Acc;
  const Frame& frame = frame_of(x);
  ArrayBase result = allocate(dtype_of<Acc>, reduced_frame(frame, marks, keep));
  if constexpr (is_array_v<X> && std::is_same_v<lane_t<typename X::value_type>, typename X::value_type>) {
    // One number out of a run that no thread would share: most reductions of small programs.
    const std::int64_t n = frame.size();
    if (layout_of(result).size() == 1 && n > 0 && n <= cpu::detail::parallel_grain &&
        layout_of(x).is_contiguous()) {
      const cpu::Reducer& run = cpu::reducer<Op, typename X::value_type>;
      run.fill(raw_data(result), 1);
      run.combine(raw_data(x), raw_data(result), 0, n);
      return result;
    }
  }
  constexpr int count = is_array_v<X> ? 1 : Tree<X>::leaves;
  cpu::Operand operands[count + 1];
  operands[count] = {raw_data(result), reduced_strides(frame, marks), dtype_of<Acc>, dtype_of<Acc>};
  const cpu::Reducer& reducer = cpu::reducer<Op, tile_element_t<X>>;
  const std::int64_t size = layout_of(result).size();
  if constexpr (is_array_v<X>) {
    operands[0] = operand_over(x, frame, dtype_of<tile_element_t<X>>);
    cpu::reduce(nullptr, nullptr, frame.shape, operands, 1, size, reducer);
  } else {
    const auto constants = constants_of(x);
    int l = 0;
    for_each_leaf(x, [&](const ArrayBase& leaf) {
      operands[l] = operand_over(leaf, frame, leaf_table<X>.lanes[l]);
      ++l;
    });
    cpu::reduce(forward_kernel<X>, constants.slots, frame.shape, operands, count, size, reducer);
  }
  return result;
}

// Accumulated values in the element type of the result.
template <class T, class Acc>
Array<T> from_accumulator(ArrayBase values) {
  if constexpr (std::is_same_v<T, Acc>) {
    return Array<T>(std::move(values));
  } else {
    Array<T> result(allocate(dtype_of<T>, layout_of(values)));
    cpu::convert_run<Acc, T>(raw_data(values), 1, raw_data(result), 1, layout_of(result).size());
    return result;
  }
}

template <class X>
void check_reducible(const char* function, const X& x) {
  if constexpr (is_array_v<X>) {
    if (is_batched(x)) check_alive(function, x);
  }
}

// Throws where an operation without identity meets no elements.
inline void check_not_empty(const char* function, const std::vector<bool>& marks, const Frame& frame) {
  if (marked_count(marks, frame) == 0)
    throw ValueError(std::string(function) + ": zero-size array to reduction operation " + function +
                     " which has no identity");
}

// An operand as an array of element type R.
template <class R, ArrayLike X>
Array<R> as_type(const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, R>)
    return materialise(x);
  else
    return x.template astype<R>();
}

}  // namespace nax::detail
