#pragma once

#include "nax/numpy/indexing/put.hpp"

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
