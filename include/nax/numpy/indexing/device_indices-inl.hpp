#pragma once

#include "nax/numpy/indexing/device_indices.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t read_number(const ArrayBase& x, std::int64_t offset) {
  std::int64_t value;
  copy_bytes(Device{}, &value, x.device(), device_data(x) + offset * 8, sizeof value);
  return value;
}

NAX_ENGINE std::int64_t extreme_number(const ArrayBase& x, loops::ReduceKind kind) {
  const Dims& shape = layout_of(x).shape;
  const ArrayBase extreme = allocate(DType::int64, Frame{}, x.device());
  backend::accelerator_operations(x.device())
      .reduce(x.device(), kind, shape, Dims(shape.size(), 1), plain_operand(x, layout_of(x).strides),
              plain_operand(extreme, Dims(shape.size(), 0)));
  return read_number(extreme, 0);
}

NAX_ENGINE ArrayBase wrapped_on_device(const ArrayBase& index, std::int64_t extent, backend::IndexMode mode,
                                       std::optional<std::int64_t>& bad) {
  const Device device = index.device();
  const Frame& frame = layout_of(index);
  ArrayBase out = allocate(DType::int64, frame, device);
  if (frame.size() == 0) return out;
  backend::accelerator_operations(device).wrap_indices(device, mode, extent, frame.shape,
                                                       plain_operand(index, layout_of(index).strides),
                                                       plain_operand(out, layout_of(out).strides));
  if (graph_recording) return out;  // not known yet: those out of range read as 0, and write nothing
  if (mode != backend::IndexMode::drop || extreme_number(out, loops::ReduceKind::min) != loops::dropped_index)
    return out;
  const ArrayBase place = allocate(DType::int32, Frame{}, device);
  backend::operations(device).arg_reduce(device, false, {1, frame.size(), 1}, DType::int64, device_data(out),
                                         reinterpret_cast<std::int32_t*>(device_data(place)));
  const ArrayBase wide = as_dtype(contiguous(index), DType::int64);
  bad = read_number(wide, read_number(as_dtype(place, DType::int64), 0));
  return out;
}

NAX_ENGINE ArrayBase true_positions_on_device(const ArrayBase& mask) {
  const Device device = mask.device();
  const std::int64_t n = layout_of(mask).size();
  const auto numbers = [&](std::int64_t count) {
    return allocate(DType::int64, Frame{Dims(1, count), {}}, device);
  };
  if (n == 0) return numbers(0);
  const ArrayBase counts = numbers(n);
  backend::operations(device).scan(device, false, {1, n, 1}, false, DType::boolean, device_data(mask),
                                   DType::int64, device_data(counts));
  ArrayBase out = numbers(read_number(counts, n - 1));
  backend::accelerator_operations(device).true_positions(
      device, n, reinterpret_cast<const bool*>(device_data(mask)),
      reinterpret_cast<const std::int64_t*>(device_data(counts)),
      reinterpret_cast<std::int64_t*>(device_data(out)));
  return out;
}

}  // namespace detail
NAX_END
