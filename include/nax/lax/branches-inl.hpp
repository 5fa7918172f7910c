#pragma once

#include "nax/lax/branches.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool any_true(const Array<bool>& p) {
  if (!is_batched(p)) return p.item();
  const ArrayBase flat = on_host(contiguous(p, transforms_handled));
  const bool* values = elements<const bool>(flat, transforms_handled);
  return std::find(values, values + layout_of(flat).size(), true) != values + layout_of(flat).size();
}

}  // namespace detail
NAX_END
