#pragma once

#include "nax/backend/cpu/rows.hpp"
#include "nax/expr/fused_node.hpp"

// Copies of views: the one place where elements move from one layout to another.
namespace nax {
namespace detail {

template <class T>
T* elements(const ArrayBase& a) {
  return reinterpret_cast<T*>(raw_data(a));
}

// Writes the elements of `from`, which broadcasts to the axes of `to`, where those of `to` lie. Same dtype.
inline void copy_into(const ArrayBase& from, const ArrayBase& to) {
  const Frame& frame = layout_of(to);
  Dims shape = frame.shape;
  cpu::Operand operands[2] = {
      {raw_data(from), strides_over(layout_of(from), frame), from.dtype(), to.dtype()},
      {raw_data(to), layout_of(to).strides, to.dtype(), to.dtype()}};
  const std::int64_t size = frame.size();
  if (size == 0) return;
  cpu::detail::collapse(shape, operands, 2);
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(to.dtype()));
  const cpu::ConvertFn copy = cpu::detail::copier(static_cast<std::size_t>(bytes));
  const std::int64_t fs = shape.empty() ? 1 : operands[0].strides[shape.size() - 1];
  const std::int64_t ts = shape.empty() ? 1 : operands[1].strides[shape.size() - 1];
  parallel_for(size, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
    cpu::for_each_row<2>(shape, operands, begin, end, [&](const std::int64_t* at, std::int64_t n) {
      copy(operands[0].data + at[0] * bytes, fs, operands[1].data + at[1] * bytes, ts, n);
    });
  });
}

// A row-major copy over `frame`, to which x broadcasts. Not recorded.
inline ArrayBase copy_over(const ArrayBase& x, const Frame& frame) {
  ArrayBase result = allocate(x.dtype(), frame);
  copy_into(x, result);
  return result;
}

// x itself where it is row-major, a copy otherwise. Not recorded.
inline ArrayBase contiguous(const ArrayBase& x) {
  return layout_of(x).is_contiguous() ? constant(x) : copy_over(x, layout_of(x));
}

}  // namespace detail

// A row-major copy of its own.
template <detail::ArrayLike X>
auto copy(const X& x) {
  using T = typename X::value_type;
  if constexpr (Expression<X>) {
    return detail::evaluate(x);
  } else {
    Array<T> result(detail::copy_over(x, detail::layout_of(x)));
    if constexpr (is_inexact_v<T>) {
      const auto same = [](const Array<T>& g) { return g; };
      return detail::record(std::move(result), detail::wrt(x, same, same));
    } else {
      return result;
    }
  }
}

}  // namespace nax
