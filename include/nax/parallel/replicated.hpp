#pragma once

#include "nax/core/devices.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/parallel/device_threads.hpp"
#include "nax/transform/sharded.hpp"
#include "nax/tree/map.hpp"

NAX_BEGIN
namespace detail {

template <class T>
Array<T> replicated(const Array<T>& x, const std::vector<Device>& devices) {
  const ArrayBase one = contiguous(constant(x));
  std::vector<ArrayBase> copies(devices.size());
  const auto copy_to = [&](std::size_t i) { copies[i] = moved(one, devices[i]); };
  // Made by the device's own thread, which may then write over it.
  if (on_device_thread)
    for (std::size_t i = 0; i < devices.size(); ++i) copy_to(i);
  else
    run_on_devices({devices, ""}, [&](int rank) { copy_to(static_cast<std::size_t>(rank)); });
  Array<T> result = typed<T>(assemble(copies, 0));
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
// not or that is named twice.
template <class X>
auto device_put_replicated(const X& x, const std::vector<Device>& devices) {
  if (devices.empty()) throw ValueError("device_put_replicated: devices is empty");
  detail::check_devices("device_put_replicated", devices);
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

NAX_END
