#pragma once

#include <memory>
#include <utility>

#include "nax/core/array_base.hpp"

NAX_BEGIN
namespace detail {

// A saved array in little room: 32 bytes, and the layout apart unless the array is 0-d. Long chains of small
// operations live on the tape in this form.
class PackedArray {
 public:
  PackedArray() = default;
  // `with_value`: false keeps the axes and the serial only, where no derivative reads the elements.
  // `with_serial`: false where no gradient flows into the array: it is a constant.
  PackedArray(const ArrayBase& a, bool with_value, bool with_serial)
      : offset_(ArrayAccess::offset(a)), serial_(with_serial ? serial_of(a) : 0) {
    if (with_value) buffer_ = ArrayAccess::buffer(a);
    if (!layout_of(a).shape.empty()) layout_ = std::make_unique<Layout>(layout_of(a));
  }
  std::uint64_t serial() const { return serial_; }
  const Layout& layout() const {
    static const Layout scalar{};
    return layout_ ? *layout_ : scalar;
  }
  const BufferRef& buffer() const { return buffer_; }
  char* data(DType dtype) const {
    return static_cast<char*>(buffer_->data()) + offset_ * static_cast<std::int64_t>(dtype_size(dtype));
  }
  ArrayBase unpack(DType dtype) const;

 private:
  BufferRef buffer_;
  std::int64_t offset_ = 0;
  std::uint64_t serial_ = 0;
  std::unique_ptr<Layout> layout_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
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
#endif
