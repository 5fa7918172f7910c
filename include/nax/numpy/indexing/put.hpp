#pragma once

#include "nax/numpy/views/copy.hpp"

NAX_BEGIN
namespace detail {

// x copied to another device, recorded: its gradient comes back.
template <class T>
Array<T> put(const Array<T>& x, Device device) {
  Array<T> result = typed<T>(moved(contiguous(x, transforms_handled), device));
  if constexpr (is_inexact_v<T>) {
    const Device from = x.device();
    return record(std::move(result), wrt(
                                         x, [=](const Array<T>& g) { return put(g, from); },
                                         [=](const Array<T>& t) { return put(t, device); }));
  } else {
    return result;
  }
}

// An array that goes along to a GPU, as C++ numbers do.
template <class T>
Array<T> brought_to(Device device, const Array<T>& x) {
  return on_accelerator(device) && !on_accelerator(x) ? put(x, device) : x;
}

}  // namespace detail
NAX_END
