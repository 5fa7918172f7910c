#pragma once

#include "nax/core/devices.hpp"
#include "nax/numpy/sum.hpp"
#include "nax/transform/sharded.hpp"
#include "nax/tree/map.hpp"

namespace nax {
namespace detail {

template <class T>
Array<T> replicated(const Array<T>& x, const std::vector<Device>& devices) {
  const ArrayBase one = contiguous(constant(x));
  std::vector<ArrayBase> copies;
  for (const Device device : devices) copies.push_back(moved(one, device));
  Array<T> result(assemble(copies, 0));
  if constexpr (is_inexact_v<T>)
    return record(std::move(result), wrt(
                                         x, [](const Array<T>& g) { return Array<T>(sum(g, {.axis = 0})); },
                                         [=](const Array<T>& t) { return replicated(t, devices); }));
  else
    return result;
}

}  // namespace detail

// A tree with a copy of each array on each of the devices: their leading axis counts the devices, and pmap
// takes each copy where it lies. Throws ValueError where there is no device, or one that this program has
// not.
template <class X>
auto device_put_replicated(const X& x, const std::vector<Device>& devices) {
  if (devices.empty()) throw ValueError("device_put_replicated: devices is empty");
  for (const Device device : devices)
    if (!detail::is_known(device))
      raise<ValueError>({"device_put_replicated: no device ", device, " in this program"});
  return tree::map(
      [&](const auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (detail::ArrayLike<Leaf>)
          return detail::replicated(Array<typename Leaf::value_type>(leaf), devices);
        else
          return leaf;
      },
      x);
}

}  // namespace nax
