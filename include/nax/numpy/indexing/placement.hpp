#pragma once

#include "nax/core/devices.hpp"
#include "nax/numpy/indexing/put.hpp"
#include "nax/tree/for_each.hpp"
#include "nax/tree/map.hpp"

// Where arrays live, and when they are computed.
NAX_BEGIN

// The values of an expression as an array: computed once, here. Arrays come back as they are. The result has
// the shape of x.
template <detail::ArrayLike X>
auto eval(const X& x) {
  return Array<typename X::value_type>(x);
}

// A tree whose arrays live on `device`: those that are there already are shared, others copied. Throws
// ValueError for a device that this program has not.
template <class X>
auto device_put(const X& x, Device device) {
  if (!detail::is_known(device)) raise<ValueError>({"device_put: no device ", device, " in this program"});
  return tree::map(
      [&](const auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (detail::ArrayLike<Leaf>) {
          const Array<typename Leaf::value_type> array(leaf);
          return array.device() == device ? array : detail::put(array, device);
        } else {
          return leaf;
        }
      },
      x);
}

// Returns the tree with its arrays, of the same shapes, in the host's memory.
template <class X>
auto device_get(const X& x) {
  return device_put(x, Device());
}

// Waits until the arrays of a tree are computed, and gives it back. On CPU devices they always are.
template <class X>
const X& block_until_ready(const X& x) {
  if (detail::accelerators_present)
    tree::for_each(
        [](const auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) detail::wait_for(leaf);
        },
        x);
  return x;
}

NAX_END
