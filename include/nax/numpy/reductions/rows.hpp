#pragma once

#include <optional>

#include "nax/backend/cpu/lines/row_slots.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/copy.hpp"

// Functions of whole rows: softmax, normalisation, variances. What they work on is contiguous rows of float
// or double, on GPUs also of half types; an expression is computed a few rows at a time, so that it is never
// written to memory as a whole.
NAX_BEGIN
namespace detail {

// Are the marked axes the last ones? Then the rest counts the rows.
NAX_ENGINE bool marks_suffix(const AxisMarks& marks);

// How many elements a row has, and how many rows there are.
struct RowCount {
  std::int64_t rows, length;
  RowCount(const Frame& frame, const AxisMarks& visible) : rows(0), length(marked_count(visible, frame)) {
    if (length > 0) rows = frame.size() / length;
  }
};

// x in the type its kernels compute in, row-major.
template <class T>
Array<lane_t<T>> lane_rows(const Array<T>& x) {
  return typed<lane_t<T>>(as_dtype(contiguous(x, transforms_handled), dtype_of<lane_t<T>>));
}

// Whether rows of T may have functions, and whether they have on a device: half types on GPUs alone.
template <class T>
inline constexpr bool may_have_rows = simd::has_packet<T> || !std::is_same_v<lane_t<T>, T>;
template <class T>
bool has_rows(Device device) {
  return simd::has_packet<T> || (may_have_rows<T> && device.platform == Platform::cuda);
}
template <loops::RowFunction function, class T>
void provide_rows() {
  if constexpr (simd::has_packet<T>) cpu::provide<cpu::RowKernel<function>, T>();
}

// Whether blocks of X's rows can be computed where a kernel wants them.
template <class X>
inline constexpr bool has_row_blocks = false;
template <Expression X>
inline constexpr bool has_row_blocks<X> =
    simd::has_packet<typename X::value_type>&& std::is_same_v<tile_element_t<X>, typename X::value_type>;

// f(rows, first, count) for blocks of rows of an expression, in threads. `rows` points at the block's
// elements: in `out` (at the place of row `first`), or in room of their own where out is null.
template <class T, class X, class F>
void for_each_row_block(const X& x, const RowCount& count, T* out, const F& f) {
  if (count.rows == 0) return;
  const std::int64_t n = count.length, grain = ((std::int64_t{1} << 14) + n - 1) / n;
  constexpr int leaves = Tree<X>::leaves;
  loops::Operand operands[leaves];
  const Parts<X> parts(x);
  for (int l = 0; l < leaves; ++l)
    operands[l] = operand_over(*parts.leaves[l], x.frame(), leaf_table<X>.lanes[l]);
  Dims shape = x.frame().shape;
  loops::collapse(shape, operands, leaves);
  // A block stays in the first cache from its computation to its use.
  constexpr std::int64_t block_elements = (std::int64_t{1} << 14) / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t block = n < block_elements ? block_elements / n : 1;
  parallel_for(count.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::unique_ptr<T[]> room(new T[static_cast<std::size_t>(out ? 0 : block * n)]);
    for (std::int64_t first = begin; first < end; first += block) {
      const std::int64_t some = end - first < block ? end - first : block;
      T* const rows = out ? out + first * n : room.get();
      cpu::detail::compute_range(forward_kernel_of<X>(), parts.constants.slots, shape, operands, leaves,
                                 dtype_of<T>, first * n, (first + some) * n, rows);
      f(static_cast<const T*>(rows), first, some);
    }
  });
}

// Are the marked axes the last ones, so that they make rows of a row-major array?
NAX_ENGINE bool marks_suffix(const AxisMarks& marks);

// The function of rows of this length, by the operation of the results' device. Operands are row-major, and
// the first is all rows; where one of the others is null there is none. So are results, of which one is
// given.
NAX_ENGINE void run_rows(loops::RowFunction function, std::int64_t length, double number,
                         std::initializer_list<const ArrayBase*> from,
                         std::initializer_list<const ArrayBase*> to);

// A function of one operand, with a result of this frame.
NAX_ENGINE ArrayBase rows_value(loops::RowFunction function, const ArrayBase& x, std::int64_t length,
                                const Frame& frame, double number);
template <loops::RowFunction function, class T>
Array<T> rows_value(const Array<T>& x, std::int64_t length, const Frame& frame, double number = 0) {
  provide_rows<function, T>();
  return typed<T>(rows_value(function, handle_of(x), length, frame, number));
}

// A derivative from g and y, and perhaps other operands, by the operation of their device; nothing where that
// lacks it, something records it, or g and y do not lie alike, row after row.
NAX_ENGINE std::optional<ArrayBase> rows_gradient(loops::RowFunction function, const AxisMarks& visible,
                                                  std::initializer_list<const ArrayBase*> operands);
template <loops::RowFunction function, class T, class Otherwise, class... Other>
Array<T> gradient_of_rows(const AxisMarks& visible, const Otherwise& otherwise, const Array<T>& g,
                          const Array<T>& y, const Other&... other) {
  if constexpr (may_have_rows<T>) {
    provide_rows<function, T>();
    if (!has_rows<T>(y.device())) return otherwise();
    if (std::optional<ArrayBase> result = rows_gradient(function, visible, {&g, &y, &other...}))
      return typed<T>(*std::move(result));
  }
  return otherwise();
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/rows-inl.hpp"
#endif
