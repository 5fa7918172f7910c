#pragma once

#include "nax/numpy/views/copy.hpp"

NAX_BEGIN
namespace detail {

// x copied to another device, recorded: its gradient comes back.
NAX_ENGINE ArrayBase put(const ArrayBase& x, Device device);
template <class T>
Array<T> put(const Array<T>& x, Device device) {
  return typed<T>(put(handle_of(x), device));
}

// An array that goes along to a GPU, as C++ numbers do.
inline ArrayBase brought_to(Device device, const ArrayBase& x) {
  return goes_along(x, device) ? put(x, device) : x;
}
template <class T>
Array<T> brought_to(Device device, const Array<T>& x) {
  return typed<T>(brought_to(device, handle_of(x)));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase put(const ArrayBase& x, Device device) {
  ArrayBase result = moved(contiguous(x, transforms_handled), device);
  if (serial_of(x) == 0) return result;
  const Device from = x.device();
  return record(std::move(result), wrt(
                                       x, [=](const ArrayBase& g) { return put(g, from); },
                                       [=](const ArrayBase& t) { return put(t, device); }));
}

}  // namespace detail
NAX_END
#endif
