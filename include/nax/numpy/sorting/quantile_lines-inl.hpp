#pragma once

#include "nax/numpy/sorting/quantile_lines.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_fraction(const char* function, double q) {
  if (!(q >= 0 && q <= 1)) raise<ValueError>({function, ": quantiles must be in the range [0, 1]"});
}

NAX_ENGINE ArrayBase selected_of_lines(const ArrayBase& x, std::int64_t rank, bool places) {
  const ArrayBase rows = contiguous(x, transforms_handled);
  Frame frame = layout_of(rows);
  frame.shape.back() = 3;
  ArrayBase found = allocate(places ? DType::int32 : x.dtype(), frame, device_for("quantile", x));
  backend::run(found.device(),
               ops::Quantile{lines_of(layout_of(rows), x.ndim() - 1), rows.dtype(), rank, places},
               {device_data(rows), device_data(found)});
  return found;
}

NAX_ENGINE QuantilePlaces quantile_places(QuantileMethod method, double q, const Array<std::int32_t>& numbers,
                                          std::int64_t most) {
  const bool from_table = on_accelerator(numbers);
  Frame frame = layout_of(numbers);
  if (from_table) frame = Frame{Dims(std::size_t{1}, most + 1), {}};
  QuantilePlaces places{typed<std::int64_t>(allocate_on_host(DType::int64, frame)),
                        typed<std::int64_t>(allocate_on_host(DType::int64, frame)),
                        typed<double>(allocate_on_host(DType::float64, frame))};
  const std::int32_t* const n =
      from_table ? nullptr : elements<const std::int32_t>(numbers, transforms_handled);
  for (std::int64_t i = 0, size = frame.size(); i < size; ++i) {
    const QuantilePlace place = quantile_place(method, q, std::max<std::int64_t>(n ? n[i] : i, 1));
    elements<std::int64_t>(places.low, transforms_handled)[i] = place.low;
    elements<std::int64_t>(places.high, transforms_handled)[i] = place.high;
    elements<double>(places.weight, transforms_handled)[i] = place.weight;
  }
  if (!from_table) return places;
  const Array<std::int64_t> at = typed<std::int64_t>(as_dtype(numbers, DType::int64));
  const auto read = [&]<class T>(const Array<T>& table) {
    return take_positions(typed<T>(beside(numbers, table)), at, 0);
  };
  return {read(places.low), read(places.high), read(places.weight)};
}

NAX_ENGINE bool are_weights(const ArrayBase& weights) {
  const Dims& shape = layout_of(weights).shape;
  const Device device = weights.device();
  double extremes[2];
  for (const bool greatest : {false, true}) {
    const ArrayBase extreme = allocate(DType::float64, Frame{}, device);
    backend::run(device,
                 ops::Reduce{greatest ? loops::ReduceKind::max : loops::ReduceKind::min, shape,
                             Dims(shape.size(), 1), plain_operand(weights, layout_of(weights).strides),
                             plain_operand(extreme, Dims(shape.size(), 0))});
    copy_bytes(Device{}, &extremes[greatest], device, device_data(extreme), sizeof(double));
  }
  return extremes[0] >= 0 && extremes[1] <= std::numeric_limits<double>::max();
}

NAX_ENGINE void check_weights(const char* function, const Array<double>& weights) {
  if (layout_of(weights).size() == 0 || unknown_while_recording(function, weights.device()) ||
      are_weights(weights))
    return;
  const ArrayBase flat = on_host(contiguous(constant(weights), transforms_handled));
  const double* w = elements<const double>(flat, transforms_handled);
  for (std::int64_t i = 0, n = layout_of(flat).size(); i < n; ++i)
    if (!(w[i] >= 0 && w[i] <= std::numeric_limits<double>::max()))
      raise<ValueError>({function, ": the weights must be finite and not negative, got ", w[i]});
}

}  // namespace detail
NAX_END
