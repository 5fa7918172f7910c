#pragma once

#include <functional>
#include <numeric>

#include "nax/modules/data/npy.hpp"

NAX_BEGIN
namespace data::detail {

// The view that has Fortran's strides.
inline ArrayBase in_fortran_order(const ArrayBase& a) {
  Layout layout = layout_of(a);
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    layout.strides[axis] = stride;
    stride *= layout.shape[axis];
  }
  return view(a, std::move(layout));
}

NAX_ENGINE NpyRows::NpyRows(const std::string& path, DType dtype) {
  const io::detail::Source source("from_npy", path);
  io::detail::Member member(source, "arr_0");
  const io::detail::NpyHeader header = io::detail::read_npy_header(member);
  const bool same = io::detail::same_descr(header.descr, dtype, swapped_);
  const std::uint64_t bytes = same ? io::detail::npy_bytes(member, dtype, header.shape) : 0;
  offset_ = source.size() - member.left();
  shape_ = header.shape;
  if (!same || bytes == 0 || member.left() != bytes || !source.can_be_mapped()) {
    io::detail::Member again(source, "arr_0");
    forward_ = random_ = io::detail::read_npy(again, dtype, nullptr);  // which says what is wrong
    swapped_ = false;
  } else {
    using io::detail::MappedFile;
    random_file_ = std::make_shared<const MappedFile>(source, ReadOrder::random);
    random_ = io::detail::mapped_array(random_file_, offset_, dtype, shape_);
    forward_ = io::detail::mapped_array(std::make_shared<const MappedFile>(source), offset_, dtype, shape_);
    fortran_ = header.fortran_order && shape_.size() > 1;
    if (fortran_) forward_ = in_fortran_order(forward_), random_ = in_fortran_order(random_);
    needs_copy_ = swapped_ || dtype == DType::boolean || offset_ % dtype_size(dtype) != 0;
  }
  if (shape_.empty()) throw ValueError("from_npy: an array without axes has no rows");
  row_bytes_ = shape_[0] == 0 ? 0 : bytes_of(forward_) / static_cast<std::size_t>(shape_[0]);
}

NAX_ENGINE ArrayBase NpyRows::row(std::int64_t i, ReadOrder order) const {
  if (needs_copy_) return row_of(gather({&i, 1}, order), 0);
  if (order == ReadOrder::random) begin_reading({&i, 1});
  return row_of(array(order), i);
}

// Rows of several pages, which would otherwise wait for one after another.
NAX_ENGINE void NpyRows::begin_reading(std::span<const std::int64_t> rows) const {
  constexpr std::size_t worth_a_call = 8192;
  if (!random_file_ || fortran_ || row_bytes_ < worth_a_call) return;
  for (const std::int64_t i : rows)
    random_file_->begin_reading(offset_ + static_cast<std::uint64_t>(i) * row_bytes_, row_bytes_);
}

NAX_ENGINE ArrayBase NpyRows::gather(std::span<const std::int64_t> rows, ReadOrder order) const {
  if (order == ReadOrder::random) begin_reading(rows);
  const ArrayBase result = fortran_ ? gather_columns(rows, order) : gather_rows(array(order), rows);
  const std::size_t bytes = bytes_of(result);
  if (bytes == 0) return result;
  if (swapped_) io::detail::swap_bytes(raw_data(result), bytes, result.dtype());
  if (result.dtype() == DType::boolean) normalize_bools(raw_data(result), bytes);
  return result;
}

// Column by column, as the file has them.
template <std::size_t item>
void gather_fortran(const char* from, const Shape& shape, std::span<const std::int64_t> rows, char* to) {
  const auto height = static_cast<std::size_t>(shape[0]);
  const std::int64_t columns =
      std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  parallel_for(columns, 1 + (1 << 16) / static_cast<std::int64_t>(rows.size()),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t column = begin; column < end; ++column) {
                   // Its place in a row-major row: the first axis changes fastest in the file.
                   std::int64_t place = 0, left = column, stride = columns;
                   for (std::size_t axis = 1; axis < shape.size(); ++axis) {
                     stride /= shape[axis];
                     place += left % shape[axis] * stride;
                     left /= shape[axis];
                   }
                   const char* const in = from + static_cast<std::size_t>(column) * height * item;
                   char* out = to + static_cast<std::size_t>(place) * item;
                   for (const std::int64_t row : rows) {
                     std::memcpy(out, in + static_cast<std::size_t>(row) * item, item);
                     out += static_cast<std::size_t>(columns) * item;
                   }
                 }
               });
}

NAX_ENGINE ArrayBase NpyRows::gather_columns(std::span<const std::int64_t> rows, ReadOrder order) const {
  Frame frame{shape_, {}};
  frame.shape[0] = static_cast<std::int64_t>(rows.size());
  ArrayBase result = allocate_on_host(forward_.dtype(), frame);
  if (rows.empty()) return result;
  const char* const from = raw_data(array(order));
  char* const to = raw_data(result);
  switch (dtype_size(result.dtype())) {
    case 1:
      gather_fortran<1>(from, shape_, rows, to);
      break;
    case 2:
      gather_fortran<2>(from, shape_, rows, to);
      break;
    case 4:
      gather_fortran<4>(from, shape_, rows, to);
      break;
    case 8:
      gather_fortran<8>(from, shape_, rows, to);
      break;
    default:
      gather_fortran<16>(from, shape_, rows, to);
  }
  return result;
}

}  // namespace data::detail
NAX_END
