#pragma once

#include "nax/backend/cpu/tiles.hpp"
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
  if (shape.empty()) {
    copy(operands[0].data, 1, operands[1].data, 1, 1);
    return;
  }
  const std::size_t inner = shape.size() - 1;
  const std::int64_t fs = operands[0].strides[inner], ts = operands[1].strides[inner];
  // Both sides walk the same rows, so that one walk over the first gives the pieces and the second follows.
  parallel_for(size, std::int64_t{1} << 15, [&](std::int64_t begin, std::int64_t end) {
    Dims index(shape.size(), 0);
    std::int64_t rest = begin, f = 0, t = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
      f += index[axis] * operands[0].strides[axis];
      t += index[axis] * operands[1].strides[axis];
    }
    for (std::int64_t done = begin; done < end;) {
      const std::int64_t row = shape[inner] - index[inner];
      const std::int64_t n = row < end - done ? row : end - done;
      copy(operands[0].data + f * bytes, fs, operands[1].data + t * bytes, ts, n);
      done += n;
      f += n * fs;
      t += n * ts;
      index[inner] += n;
      for (std::size_t axis = inner; axis > 0 && index[axis] == shape[axis]; --axis) {
        f += operands[0].strides[axis - 1] - shape[axis] * operands[0].strides[axis];
        t += operands[1].strides[axis - 1] - shape[axis] * operands[1].strides[axis];
        index[axis] = 0;
        ++index[axis - 1];
      }
    }
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
