#pragma once

#include <cstring>

#include "nax/core/array_base.hpp"

// Elements between devices. Where one of them is an accelerator, its driver moves them; nothing else does.
NAX_BEGIN
namespace detail {

inline std::size_t bytes_of(const ArrayBase& a) {
  return static_cast<std::size_t>(layout_of(a).size()) * dtype_size(a.dtype());
}

// Bytes from one device's memory to another's (or the same).
NAX_ENGINE void copy_bytes(Device to_device, void* to, Device from_device, const void* from,
                           std::size_t bytes);

// A row-major array's elements from host memory, and to it.
inline void write_elements(const ArrayBase& to, const void* from) {
  copy_bytes(to.device(), device_data(to), Device{}, from, bytes_of(to));
}
inline void read_elements(const ArrayBase& from, void* to) {
  copy_bytes(Device{}, to, from.device(), device_data(from), bytes_of(from));
}

// Zero bytes for the elements of a row-major array.
NAX_ENGINE void clear_elements(const ArrayBase& a);

// A row-major array on another device. Not recorded.
NAX_ENGINE ArrayBase moved(const ArrayBase& a, Device to);

// True for an array of the host beside arrays of an accelerator: it goes along, as C++ numbers do.
inline bool goes_along(const ArrayBase& a, Device to) { return on_accelerator(to) && !on_accelerator(a); }
// A row-major array, on `to` if it goes along. Not recorded.
inline ArrayBase placed_on(Device to, ArrayBase a) { return goes_along(a, to) ? moved(a, to) : a; }

// Allocates an array on the host that a function fills; `placed` copies it to the device on which
// this thread computes.
inline ArrayBase allocate_on_host(DType dtype, const Frame& frame) {
  return allocate(dtype, frame, host_device());
}
inline ArrayBase placed(ArrayBase a) { return placed_on(current_device, std::move(a)); }

// A row-major array as the host can read it.
inline ArrayBase on_host(ArrayBase a) { return on_accelerator(a) ? moved(a, Device{}) : a; }

// Copies an array of the host into the program that this thread records, if it records one. Inputs of tapes,
// cotangents and tangents pass through here, so all that a sweep meets lies on one device.
[[gnu::cold]] NAX_ENGINE void copy_into_program(ArrayBase& a);
inline void put_into_program(ArrayBase& a) {
  if (graph_recording) [[unlikely]]
    copy_into_program(a);
}

// The host's copy of an array on an accelerator, kept with its buffer: the pointer that data() gives
// lives as long as the array does.
class HostCopy final : public BufferSource {
 public:
  explicit HostCopy(ArrayBase copy) : copy_(std::move(copy)) {}
  void* gather() override { return raw_data(copy_); }

 private:
  ArrayBase copy_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/transfer-inl.hpp"
#endif
