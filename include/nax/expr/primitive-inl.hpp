#pragma once

#include "nax/expr/primitive.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void PrimitiveNode::push(Forward& sweep, std::size_t self) {
  ArrayBase total;
  InputBase* in = first();
  for (int i = 0; i < count_; ++i, in = after(in)) {
    const ArrayBase* const tangent = sweep.find(in->serial);
    if (!tangent) continue;
    ArrayBase share = in->push_share(*in, *tangent, *this);
    if (ArrayAccess::buffer(total))
      add_(total, share);
    else
      total = std::move(share);
  }
  if (ArrayAccess::buffer(total)) sweep.put(self, std::move(total));
}

}  // namespace detail
NAX_END
