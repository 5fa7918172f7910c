#pragma once

#include "nax/numpy/views/copy.hpp"

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
