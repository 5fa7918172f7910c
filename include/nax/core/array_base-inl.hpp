#pragma once

#include "nax/core/array_base.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase view(ArrayBase a, Layout layout, std::int64_t extra_offset) {
  ArrayAccess::offset(a) += extra_offset;
  ArrayAccess::layout(a) = std::move(layout);
  ArrayAccess::serial(a) = 0;
  return a;
}

}  // namespace detail
NAX_END
