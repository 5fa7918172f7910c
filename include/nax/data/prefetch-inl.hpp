#pragma once

#include "nax/data/prefetch.hpp"

NAX_BEGIN
namespace data::detail {

// Who computes with an array waits for its own upload, and not for those that come after it.
inline ArrayBase noted(ArrayBase a) {
  nax::detail::note_moment(a);
  return a;
}

NAX_ENGINE ArrayBase place_array(const ArrayBase& a, const std::vector<Device>& devices, bool sharded) {
  need_plain("prefetch_to", "an element", a);
  check_operand("prefetch_to", a);
  if (!sharded)
    return share_memory(a.device(), devices[0]) ? a
                                                : noted(moved(contiguous(a, transforms_handled), devices[0]));
  const auto n = static_cast<std::int64_t>(devices.size());
  if (a.ndim() == 0 || a.shape(0) != n)
    raise<ShapeError>({"prefetch_to: the leading axis must count the ", n, " devices, shape ", a.shape()});
  std::vector<ArrayBase> shards;
  for (std::int64_t i = 0; i < n; ++i)
    shards.push_back(noted(brought(row_of(a, i), devices[static_cast<std::size_t>(i)])));
  return assemble(shards, 0);
}

}  // namespace data::detail
NAX_END
