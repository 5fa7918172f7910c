#pragma once

#include "nax/core/overflow.hpp"
#include "nax/modules/data/stored.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE void ByteWriter::put(const void* data, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

NAX_ENGINE void ByteWriter::array(const ArrayBase& a) {
  need_plain("cache", "an element", a);
  need_host("cache", a);
  check_operand("cache", a);
  const ArrayBase whole = contiguous(a, transforms_handled);
  const Layout& layout = layout_of(whole);
  number(layout.shape.size());
  for (const std::int64_t extent : layout.shape) number(static_cast<std::uint64_t>(extent));
  if (layout.size() > 0) put(raw_data(whole), bytes_of(whole));
}

NAX_ENGINE void ByteReader::get(void* to, std::size_t size) {
  if (size > bytes_.size() - at_) throw IoError("cache: a stored element is too short");
  if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
  at_ += size;
}

NAX_ENGINE ArrayBase ByteReader::array(DType dtype) {
  Frame frame;
  const std::uint64_t axes = number();
  if (axes > 64) throw IoError("cache: a stored array has too many axes");
  std::uint64_t size = dtype_size(dtype);
  for (std::uint64_t axis = 0; axis < axes; ++axis) {
    const std::uint64_t extent = number();
    if (extent > INT64_MAX || nax::detail::multiply_overflows(size, extent, size))
      throw IoError("cache: a stored array is too big");
    frame.shape.push_back(static_cast<std::int64_t>(extent));
  }
  if (size > bytes_.size() - at_) throw IoError("cache: a stored element is too short");
  ArrayBase a = allocate_on_host(dtype, frame);
  if (size > 0) get(raw_data(a), size);
  return a;
}

}  // namespace data::detail
NAX_END
