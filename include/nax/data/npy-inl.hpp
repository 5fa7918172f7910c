#pragma once

#include "nax/data/npy.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE ArrayBase map_npy(const std::string& path, DType dtype) {
  const io::detail::Source source("from_npy", path);
  io::detail::Member member(source, "arr_0");
  const io::detail::NpyHeader header = io::detail::read_npy_header(member);
  bool swapped;
  const bool same = io::detail::same_descr(header.descr, dtype, swapped);
  const std::uint64_t bytes = same ? io::detail::npy_bytes(member, dtype, header.shape) : 0;
  const std::uint64_t offset = source.size() - member.left();
  const bool plain = same && !swapped && dtype != DType::boolean && bytes > 0 && member.left() == bytes &&
                     source.can_be_mapped() && offset % dtype_size(dtype) == 0 &&
                     (!header.fortran_order || header.shape.size() < 2);
  if (!plain) {
    io::detail::Member again(source, "arr_0");
    return io::detail::read_npy(again, dtype, nullptr);
  }
  return io::detail::mapped_array(std::make_shared<const io::detail::MappedFile>(source), offset, dtype,
                                  header.shape);
}

}  // namespace data::detail
NAX_END
