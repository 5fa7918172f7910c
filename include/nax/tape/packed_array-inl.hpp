#pragma once

#include "nax/tape/packed_array.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase PackedArray::unpack(DType dtype) const {
  ArrayBase a;
  ArrayAccess::buffer(a) = buffer_;
  ArrayAccess::offset(a) = offset_;
  ArrayAccess::layout(a) = layout();
  ArrayAccess::serial(a) = serial_;
  ArrayAccess::dtype(a) = dtype;
  return a;
}

}  // namespace detail
NAX_END
