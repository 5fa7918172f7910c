#pragma once

#include "nax/loops/row_function.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/copy.hpp"

// Functions of whole rows: softmax, normalisation, variances. What they work on is contiguous rows of float
// or double; an expression is computed a few rows at a time, so that it is never written to memory as a
// whole.
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

// Whether a GPU has these rows' functions as one kernel each: values on it of a type that they compute in.
NAX_ENGINE bool has_row_kernels(const ArrayBase& x, const AxisMarks& visible);
// A function of rows of the values of x, whose results have `frame`. Precondition: has_row_kernels.
NAX_ENGINE ArrayBase row_function(loops::RowFunction what, const ArrayBase& x, const AxisMarks& visible,
                                  const Frame& frame);
// A gradient of rows, of the cotangent g and the result y, where the GPU has it and nothing records it; else
// an array without a buffer.
NAX_ENGINE ArrayBase row_gradient(loops::RowFunction what, const ArrayBase& g, const ArrayBase& y,
                                  const AxisMarks& visible);

// x in the type its kernels compute in, row-major.
template <class T>
Array<lane_t<T>> lane_rows(const Array<T>& x) {
  return typed<lane_t<T>>(as_dtype(contiguous(x, transforms_handled), dtype_of<lane_t<T>>));
}

// Whether blocks of X's rows can be computed where a kernel wants them.
template <class X>
inline constexpr bool has_row_blocks = false;
template <Expression X>
inline constexpr bool has_row_blocks<X> =
    simd::has_packet<typename X::value_type>&& std::is_same_v<tile_element_t<X>, typename X::value_type>;

// f(rows, first, count) for blocks of rows, in threads. `rows` points at the block's elements: where they
// lie, for an array; in `out` (at the place of row `first`), for an expression, or in room of their own where
// out is null.
template <class T, class X, class F>
void for_each_row_block(const X& x, const RowCount& count, T* out, const F& f) {
  if (count.rows == 0) return;
  const std::int64_t n = count.length, grain = ((std::int64_t{1} << 14) + n - 1) / n;
  if constexpr (is_array_v<X>) {
    const ArrayBase all = contiguous(x, transforms_handled);
    const T* from = elements<const T>(all, transforms_handled);
    parallel_for(count.rows, grain,
                 [&](std::int64_t begin, std::int64_t end) { f(from + begin * n, begin, end - begin); });
  } else {
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
}

// A derivative of rows, kernel(first, g, y, out, rows, length) from row `first` on, where nothing records it
// and g and y lie alike, row after row; otherwise `otherwise()`.
template <class T, class Kernel, class Otherwise>
Array<T> gradient_of_rows(const Array<T>& g, const Array<T>& y, const AxisMarks& visible, Kernel kernel,
                          const Otherwise& otherwise) {
  if constexpr (simd::has_packet<T>) {
    const Layout& layout = layout_of(y);
    if (marks_suffix(visible) && !on_accelerator(g) && layout.size() > 0 && !is_recorded(g) &&
        !is_recorded(y) && static_cast<const Frame&>(layout) == static_cast<const Frame&>(layout_of(g)) &&
        layout.is_contiguous() && layout_of(g).is_contiguous()) {
      Array<T> result = typed<T>(allocate(dtype_of<T>, layout));
      T* out = elements<T>(result);
      const T* other = elements<const T>(y, transforms_handled);
      const RowCount count(layout, visible);
      for_each_row_block(g, count, out, [=](const T* rows, std::int64_t first, std::int64_t some) {
        kernel(first, rows, other + first * count.length, out + first * count.length, some, count.length);
      });
      return result;
    }
  }
  return otherwise();
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/rows-inl.hpp"
#endif
