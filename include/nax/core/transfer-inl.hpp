#pragma once

#include "nax/core/transfer.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void copy_bytes(Device to_device, void* to, Device from_device, const void* from,
                           std::size_t bytes) {
  if (bytes == 0) return;
  const bool up = on_accelerator(to_device), down = on_accelerator(from_device);
  if (up && down) {
    accelerator_of(to_device).copy_between(to_device, to, from_device, from, bytes);
  } else if (up) {
    accelerator_of(to_device).copy_to_device(to_device, to, from, bytes);
  } else if (down) {
    accelerator_of(from_device).copy_to_host(from_device, to, from, bytes);
    accelerator_of(from_device).throw_late_errors(from_device);
  } else {
    std::memcpy(to, from, bytes);
  }
}

NAX_ENGINE void clear_elements(const ArrayBase& a) {
  if (on_accelerator(a)) [[unlikely]]
    accelerator_of(a.device()).clear(a.device(), device_data(a), bytes_of(a));
  else
    std::memset(raw_data(a), 0, bytes_of(a));
}

NAX_ENGINE ArrayBase moved(const ArrayBase& a, Device to) {
  ArrayBase result = allocate(a.dtype(), layout_of(a), to);
  copy_bytes(to, device_data(result), a.device(), device_data(a), bytes_of(a));
  return result;
}

// Memory of the view's elements, each once, and the view as one of that. All of the base's memory where that
// is less, as for windows that overlap.
NAX_ENGINE BufferRef elements_once(ArrayBase& a) {
  const BufferRef base = ArrayAccess::buffer(a);
  Layout& layout = ArrayAccess::layout(a);
  Dims strides = layout.strides;
  std::int64_t count = 1;
  for (std::size_t axis = strides.size(); axis-- > 0;)
    if (strides[axis] != 0) strides[axis] = count, count *= layout.shape[axis];
  const std::size_t size = dtype_size(a.dtype()), bytes = static_cast<std::size_t>(count) * size;
  if (bytes >= base->bytes) return base;
  const BufferRef once(Buffer::allocate(bytes, host_device()));
  char* const to = static_cast<char*>(once->host_data());
  const char* const from = raw_data(a);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t axis = strides.size(); axis-- > 0;)
      if (strides[axis] != 0)
        at += rest % layout.shape[axis] * layout.strides[axis], rest /= layout.shape[axis];
    std::memcpy(to + static_cast<std::size_t>(i) * size, from + at * static_cast<std::int64_t>(size), size);
  }
  layout.strides = std::move(strides);
  ArrayAccess::offset(a) = 0;
  return once;
}

NAX_ENGINE void copy_into_program(ArrayBase& a) {
  const Device to = graph_recording->device;
  if (!on_program(to) || on_accelerator(a)) return;
  if (layout_of(a).is_contiguous()) {
    ArrayBase copy = moved(a, to);
    ArrayAccess::buffer(a) = std::move(ArrayAccess::buffer(copy));
    ArrayAccess::offset(a) = 0;
  } else {
    const BufferRef from = elements_once(a);
    ArrayAccess::buffer(a) = BufferRef(Buffer::allocate(from->bytes, to));
    copy_bytes(to, ArrayAccess::buffer(a)->data(), Device{}, from->data(), from->bytes);
  }
}

}  // namespace detail
NAX_END
