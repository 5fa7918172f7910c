#pragma once

#include "nax/numpy/sorting/search.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase places_of(const char* function, const ArrayBase& a_, const ArrayBase& v_, bool right) {
  check_operand(function, a_);
  check_operand(function, v_);
  if (a_.ndim() != 1) raise<ValueError>({function, ": the sorted array must be 1-d, shape ", a_.shape()});
  check_places(function, a_.size());
  const Device device = device_for(function, a_, v_);
  const ArrayBase a = sortable_rows(beside(v_, a_)), v = sortable_rows(beside(a_, v_));
  const std::int64_t n = a_.size(), each = v_.size();
  // The batches of both sides, aligned by level.
  Frame of_a = layout_of(a), of_v = layout_of(v);
  of_a.shape.pop_back();
  of_v.shape.resize_for_overwrite(static_cast<std::size_t>(of_v.hidden()));
  const Frame batches = broadcast(function, of_a, of_v);
  const auto index_of = [&](const Frame& own, std::int64_t unit) {
    Layout layout = Layout::contiguous(own);
    for (std::int64_t& s : layout.strides) s *= unit;
    return strides_over(layout, batches);
  };
  const Dims step_a = index_of(of_a, n), step_v = index_of(of_v, each);
  Frame frame = batches;
  const Shape shape = v_.shape();
  frame.shape.append(shape.begin(), shape.end());
  ArrayBase result = allocate(DType::int32, frame, device);
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(a.dtype()));
  std::int32_t* const out = reinterpret_cast<std::int32_t*>(device_data(result));
  const char *const sorted = device_data(a), *const sought = device_data(v);
  for (std::int64_t b = 0, count = batches.size(); b < count; ++b) {
    const std::int64_t at = offset_at(b, batches.shape, step_a), from = offset_at(b, batches.shape, step_v);
    backend::run(device, ops::Search{a.dtype(), right, n, each},
                 {sorted + at * bytes, sought + from * bytes, out + b * each});
  }
  return result;
}

NAX_ENGINE std::int64_t bincount_length_on_device(const ArrayBase& x, std::optional<std::int64_t> length,
                                                  std::int64_t minlength) {
  if (length && is_yet_unknown(x)) return *length;
  unknown_while_recording("bincount", x.device());
  const ArrayBase whole = as_dtype(contiguous(x, transforms_handled), DType::int64);
  if (layout_of(whole).size() == 0) return length.value_or(minlength);
  if (const std::int64_t least = extreme_number(whole, loops::ReduceKind::min); least < 0)
    raise<ValueError>({"bincount: the elements must not be negative, got ", least});
  return length ? *length : std::max(minlength, extreme_number(whole, loops::ReduceKind::max) + 1);
}

NAX_ENGINE ArrayBase binned(const ArrayBase& x, const ArrayBase* weights, std::int64_t length) {
  Frame rows = layout_of(x);
  if (weights) rows = broadcast("bincount", rows, layout_of(*weights));
  const auto over_rows = [&](const ArrayBase& a) {
    return static_cast<const Frame&>(layout_of(a)) == rows ? contiguous(a, transforms_handled)
                                                           : copy_over(a, rows);
  };
  const ArrayBase bins = over_rows(x), added = weights ? over_rows(*weights) : ArrayBase();
  const DType sums = weights ? lane_of(added.dtype()) : DType::int32;
  const Device device = weights ? device_for("bincount", x, *weights) : device_for("bincount", x);
  ArrayBase result = allocate(sums, with_visible(rows, Dims(std::size_t{1}, length)), device);
  const std::int64_t n = x.size(), size = layout_of(result).size();
  if (size > 0)
    backend::run(device,
                 ops::Bincount{size / length, n, length, bins.dtype(), weights ? added.dtype() : sums},
                 {device_data(bins), weights ? device_data(added) : nullptr, device_data(result)});
  return result;
}

NAX_ENGINE bool is_right(const char* function, std::string_view side) {
  if (side != "left" && side != "right")
    raise<ValueError>({function, ": side must be 'left' or 'right', got '", side, "'"});
  return side == "right";
}

}  // namespace detail
NAX_END
