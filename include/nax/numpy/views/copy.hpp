#pragma once

#include "nax/backend/cpu/maps/transpose.hpp"
#include "nax/backend/operations.hpp"
#include "nax/expr/differentiation/scalar_node.hpp"
#include "nax/numpy/views/elements.hpp"

// Copies of views: the one place where elements move from one layout to another.
NAX_BEGIN
namespace detail {

// A number on the host, wherever this thread computes.
template <class T>
Array<T> host_number(T value) {
  Array<T> x = typed<T>(allocate_on_host(dtype_of<T>, Frame{}));
  *elements<T>(x) = value;
  return x;
}

// Writes the elements of `from`, which broadcasts to the axes of `to`, where those of `to` lie. Same dtype.
NAX_ENGINE void copy_into(const ArrayBase& from, const ArrayBase& to);

// A row-major copy over `frame`, to which x broadcasts. Not recorded.
NAX_ENGINE ArrayBase copy_over(const ArrayBase& x, const Frame& frame);

// x itself where it is row-major, a copy otherwise; not recorded. So the caller records, or x is not
// recorded.
inline ArrayBase contiguous(const ArrayBase& x, TransformsHandled) {
  return layout_of(x).is_contiguous() ? constant(x) : copy_over(x, layout_of(x));
}
NAX_ENGINE ArrayBase contiguous(const ArrayBase& x);

// The elements as the host can read them: x itself there, a row-major copy of others. Not recorded.
inline ArrayBase readable(const ArrayBase& x, TransformsHandled) {
  return is_readable(x) ? constant(x) : on_host(contiguous(x, transforms_handled));
}

// Moves an array that the library made on the host to a device, or that of x. Not recorded.
inline ArrayBase beside(Device device, const ArrayBase& made) {
  return goes_along(made, device) ? moved(contiguous(made, transforms_handled), device) : made;
}
inline ArrayBase beside(const ArrayBase& x, const ArrayBase& made) { return beside(x.device(), made); }

}  // namespace detail

// A row-major copy of its own, of the shape of x. Throws ValueError if the array is too big.
template <detail::ArrayLike X>
auto copy(const X& x) {
  using T = typename X::value_type;
  if constexpr (Expression<X>) {
    return detail::evaluate(x);
  } else {
    Array<T> result = detail::typed<T>(detail::copy_over(x, detail::layout_of(x)));
    if constexpr (is_inexact_v<T>) {
      const auto same = [](const Array<T>& g) { return g; };
      return detail::record(std::move(result), detail::wrt(x, same, same));
    } else {
      return result;
    }
  }
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void copy_into(const ArrayBase& from, const ArrayBase& to) {
  const Layout& layout = layout_of(to);
  if (layout.size() == 0) return;
  const Dims strides = strides_over(layout_of(from), layout);
  if (on_accelerator(to) && from.device() == to.device()) {
    backend::run(to.device(),
                 ops::Copy{layout.shape, plain_operand(from, strides), plain_operand(to, layout.strides)});
    return;
  }
  cpu::strided_copy(dtype_size(to.dtype()), static_cast<int>(layout.shape.size()), layout.shape.data(),
                    raw_data(to), layout.strides.data(), raw_data(from), strides.data());
}

NAX_ENGINE ArrayBase copy_over(const ArrayBase& x, const Frame& frame) {
  ArrayBase result = allocate(x.dtype(), frame, device_for("copy", x));
  copy_into(x, result);
  return result;
}

NAX_ENGINE ArrayBase contiguous(const ArrayBase& x) {
  if (serial_of(x) != 0 && is_recorded(x)) [[unlikely]]
    throw_past_transform();
  return contiguous(x, transforms_handled);
}

}  // namespace detail
NAX_END
#endif
