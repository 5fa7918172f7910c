#pragma once

#include <algorithm>
#include <cstdlib>

#include "nax/loops/element_bytes.hpp"
#include "nax/numpy/indexing/index_arrays.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::int64_t read_number(const ArrayBase& x, std::int64_t offset) {
  std::int64_t value;
  copy_bytes(Device{}, &value, x.device(), device_data(x) + offset * 8, sizeof value);
  return value;
}

NAX_ENGINE std::int64_t extreme_number(const ArrayBase& x, loops::ReduceKind kind) {
  const Dims& shape = layout_of(x).shape;
  const ArrayBase extreme = allocate(x.dtype(), Frame{}, x.device());
  backend::run(x.device(),
               ops::Reduce{kind, shape, Dims(shape.size(), 1), plain_operand(x, layout_of(x).strides),
                           plain_operand(extreme, Dims(shape.size(), 0))});
  loops::ElementBytes number;
  copy_bytes(Device{}, number.at, x.device(), device_data(extreme), dtype_size(x.dtype()));
  return loops::integer_at(number.at, 0, x.dtype());
}

NAX_ENGINE void check_integers(const char* function, const ArrayBase& x, std::int64_t extent,
                               FunctionRef<void(std::int64_t)> refuse) {
  if (layout_of(x).size() == 0 || unknown_while_recording(function, x.device())) return;
  const auto fits = [=](std::int64_t at) { return at >= 0 && at < extent; };
  if (fits(extreme_number(x, loops::ReduceKind::min)) && fits(extreme_number(x, loops::ReduceKind::max)))
    return;
  const ArrayBase here = on_host(contiguous(x, transforms_handled));
  std::int64_t at = 0, i = 0;
  do at = loops::integer_at(raw_data(here), i++, x.dtype());
  while (fits(at));
  refuse(at);
}

NAX_ENGINE std::optional<std::int64_t> dropped_place(const ArrayBase& index) {
  if (!on_accelerator(index)) {
    const std::int64_t* const at = elements<const std::int64_t>(index, transforms_handled);
    return std::find(at, at + layout_of(index).size(), loops::dropped_index) - at;
  }
  if (extreme_number(index, loops::ReduceKind::min) != loops::dropped_index) return std::nullopt;
  const Device device = index.device();
  const ArrayBase place = allocate(DType::int32, Frame{}, device);
  backend::run(device, ops::ArgReduce{false, {1, layout_of(index).size(), 1}, DType::int64},
               {device_data(index), device_data(place)});
  return read_number(as_dtype(place, DType::int64), 0);
}

// Whether a call need not wait for the verdict: a GPU's kernels note indices out of range, and the next wait
// throws. NAX_CHECK_INDICES=1 in the environment lets each call wait.
NAX_ENGINE bool checks_later(Device device, loops::IndexMode mode) {
  if (device.platform != Platform::cuda || mode != loops::IndexMode::drop || graph_recording) return false;
  const char* const choice = std::getenv("NAX_CHECK_INDICES");
  return !choice || *choice != '1';
}

NAX_ENGINE Array<std::int64_t> wrapped_index(const char* function, const ArrayBase& index, int axis,
                                             std::int64_t extent, loops::IndexMode mode,
                                             std::int64_t window) {
  check_operand(function, index);
  const Device device = index.device();
  const Frame& frame = layout_of(index);
  ArrayBase out = allocate(DType::int64, frame, device);
  if (frame.size() == 0) return typed<std::int64_t>(out);
  if (extent == 0 && mode != loops::IndexMode::drop) throw_index(function, 0, axis, 0);
  const ops::Verdict dropped = backend::run(
      device, ops::WrapIndices{mode, extent, frame.shape, plain_operand(index, layout_of(index).strides),
                               plain_operand(out, layout_of(out).strides), window,
                               checks_later(device, mode) ? function : nullptr, axis});
  // While a graph is recorded it is not known: indices out of range read as 0, and write nothing.
  if (dropped.value_or(!graph_recording))
    if (const auto place = dropped_place(out)) {
      const ArrayBase flat = contiguous(index, transforms_handled);
      loops::ElementBytes bad;
      const std::size_t bytes = dtype_size(index.dtype());
      copy_bytes(Device{}, bad.at, device, device_data(flat) + *place * static_cast<std::int64_t>(bytes),
                 bytes);
      throw_index(function, loops::integer_at(bad.at, 0, index.dtype()), axis, extent);
    }
  return typed<std::int64_t>(std::move(out));
}

}  // namespace detail
NAX_END
