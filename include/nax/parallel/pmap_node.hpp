#pragma once

#include "nax/core/transfer.hpp"
#include "nax/transform/flat.hpp"
#include "nax/transform/sharded.hpp"

// The engine of pmap, without types: lists of arrays in, lists of arrays out, whose leading axis is the
// device axis.
//
// When an input is being differentiated the call is one node on the caller's tape. Each device keeps the tape
// of its own run, and the sweep sends the cotangents there. A sweep that an outer transform watches maps the
// derivative of the function instead, a pmap like any other; so does forward mode.
NAX_BEGIN
namespace detail {

struct MappedLeaf {
  int axis = 0;  // -1: the same for all devices
  bool donated = false;
};

template <class T>
Array<T> move_axis_recorded(const Array<T>& x, int from, int to) {
  if (from == to) return x;
  Layout layout = layout_of(x);
  const std::size_t h = layout.levels.size();
  layout.move_axis(h + static_cast<std::size_t>(from), h + static_cast<std::size_t>(to));
  Array<T> result = typed<T>(view(x, std::move(layout)));
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return move_axis_recorded(g, to, from); },
                      [=](const Array<T>& t2) { return move_axis_recorded(t2, from, to); }));
  else
    return result;
}

struct FlatPmap {
  FlatRef f;
  std::vector<Device> devices;
  std::string axis_name;
  std::vector<MappedLeaf> places;  // one for each input
  bool everywhere = false;         // along with other processes' devices

  std::size_t size() const { return devices.size(); }
  Arrays operator()(Arrays inputs) const;

  // Splits the inputs into those of each device.
  std::vector<Arrays> split(Arrays inputs) const;
  // On a device's thread: its arrays come to it.
  static void bring(Arrays& arrays) {
    for (ArrayBase& x : arrays)
      if (holds_value(x)) x = brought(x, current_device);
  }
  // The devices' results must be equal in structure and shapes.
  static void check_alike(const std::vector<Arrays>& results);
  static Arrays assemble_all(const std::vector<Arrays>& results);
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/parallel/pmap_node-inl.hpp"
#endif
