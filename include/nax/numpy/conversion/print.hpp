#pragma once

#include <ostream>
#include <string>

#include "nax/core/format.hpp"
#include "nax/numpy/views/copy.hpp"

NAX_BEGIN

// The text of NumPy's str(). An array batched by vmap has no single text: what stands for it says its type
// and shape. While jit records a program it throws DeviceError.
template <class T>
std::string to_string(const Array<T>& a) {
  if (detail::is_batched(a))
    return "Array(batched by vmap, shape=" + to_string(a.shape()) +
           ", dtype=" + std::string(dtype_name(a.dtype())) + ")";
  detail::unknown_while_recording("to_string", a.device());
  const ArrayBase here = detail::readable(a, detail::transforms_handled);
  const Layout& layout = detail::layout_of(here);
  return format_array(reinterpret_cast<const T*>(detail::raw_data(here)), layout.shape.data(),
                      layout.strides.data(), layout.ndim());
}

template <class X>
requires detail::ArrayLike<X> std::ostream& operator<<(std::ostream& out, const X& x) {
  return out << to_string(detail::materialise(x));
}

NAX_END
