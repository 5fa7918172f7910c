#pragma once

#include <string>

#include "nax/core/transfer.hpp"
#include "nax/devices/nccl/runtime.hpp"

// Shared by collectives over NCCL: calls that are checked, and room for results.
NAX_BEGIN
namespace detail::nccl {

struct Failed {
  const char* call;
  ncclResult_t code;
  std::string text = {};
};
inline void call(const char* name, ncclResult_t code) {
  if (code != ncclSuccess && code != ncclInProgress) throw Failed{name, code};
}

inline ArrayBase allocate_like(const ArrayBase& x) { return allocate(x.dtype(), layout_of(x), x.device()); }
// Room for the arrays of `devices`, one after another.
inline ArrayBase allocate_blocks(const ArrayBase& x, int devices) {
  Frame frame;
  frame.shape = layout_of(x).shape;
  frame.shape.insert(0, devices);
  return allocate(x.dtype(), frame, x.device());
}
// One of the blocks, with the axes of `layout`.
inline ArrayBase part_of(const ArrayBase& blocks, int number, const Layout& layout) {
  return view(blocks, Layout::contiguous(layout), number * layout.size());
}
inline ArrayBase here(const ArrayBase& x) {
  return x.device() == current_device ? x : moved(x, current_device);
}

}  // namespace detail::nccl
NAX_END
