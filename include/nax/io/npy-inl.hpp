#pragma once

#include "nax/io/npy.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::uint64_t npy_bytes(const Member& member, DType dtype, const Shape& shape) {
  std::uint64_t bytes = dtype_size(dtype);
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (bytes > (std::uint64_t{1} << 55) / static_cast<std::uint64_t>(extent))
      member.fail("has an impossible shape " + to_string(shape));
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return empty ? 0 : bytes;
}

NAX_ENGINE void swap_bytes(char* elements, std::size_t bytes, DType dtype) {
  const std::size_t item = dtype_size(dtype), part = dtype_kind(dtype) == Kind::complex ? item / 2 : item;
  for (std::size_t i = 0; i < bytes; i += part)
    for (std::size_t k = 0; k < part / 2; ++k) std::swap(elements[i + k], elements[i + part - 1 - k]);
}

NAX_ENGINE ArrayBase out_of_fortran_order(const ArrayBase& a) {
  Layout layout = nax::detail::layout_of(a);
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    layout.strides[axis] = stride;
    stride *= layout.shape[axis];
  }
  return nax::detail::contiguous(nax::detail::view(a, std::move(layout)));
}

NAX_ENGINE ArrayBase read_npy(Member& member, DType dtype, const Shape* expected) {
  const NpyHeader header = read_npy_header(member);
  bool swapped;
  if (header.descr == structured_descr) member.fail("has a structured dtype, which nax does not hold");
  if (!same_descr(header.descr, dtype, swapped))
    member.fail("has dtype '" + header.descr + "', the tree " + std::string(dtype_name(dtype)) + " ('" +
                npy_descr(dtype) + "')");
  if (expected && header.shape != *expected)
    member.fail("has shape " + to_string(header.shape) + ", the tree " + to_string(*expected));
  const std::uint64_t bytes = npy_bytes(member, dtype, header.shape), there = member.left();
  if (there != bytes)
    member.fail((there < bytes ? "is truncated: " : "is too long: ") + std::to_string(there) +
                " bytes of elements instead of " + std::to_string(bytes));
  ArrayBase a = nax::detail::allocate_on_host(dtype, Frame{header.shape, {}});
  if (bytes == 0) {
    member.finish();
    return a;
  }
  char* const elements = nax::detail::raw_data(a);
  member.read(elements, bytes);
  member.finish();
  if (swapped) swap_bytes(elements, bytes, dtype);
  if (dtype == DType::boolean) nax::detail::normalize_bools(elements, bytes);
  return header.fortran_order && header.shape.size() > 1 ? out_of_fortran_order(a) : a;
}

}  // namespace io::detail
NAX_END
