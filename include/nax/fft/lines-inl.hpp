#pragma once

#include "nax/fft/lines.hpp"

NAX_BEGIN
namespace detail {

// The values. `half` counts for half transforms.
NAX_ENGINE ArrayBase transform_lines(loops::FftKind kind, bool inverse, const ArrayBase& x, int axis,
                                     std::int64_t n, double scale, const HalfLines& half) {
  using loops::FftKind;
  const Layout& layout = layout_of(x);
  const std::size_t at = static_cast<std::size_t>(layout.hidden() + axis);
  const DType dtype = x.dtype();
  const DType real = dtype == DType::float64 || dtype == DType::complex128 ? DType::float64 : DType::float32;
  const DType complex = real == DType::float64 ? DType::complex128 : DType::complex64;
  Frame frame = layout;
  frame.shape[at] = kind == FftKind::to_complex ? n / 2 + 1 : n;
  count_elements("fft", frame.shape);
  ArrayBase result = allocate(kind == FftKind::to_real ? real : complex, frame, device_for("fft", x));
  const Dims& strides = layout_of(result).strides;
  loops::FftLines lines;
  lines.kind = kind;
  lines.inverse = inverse;
  lines.n = n;
  lines.scale = scale;
  lines.middle = half.middle;
  lines.conjugate = half.conjugate;
  lines.from_axis = layout.strides[at];
  lines.to_axis = strides[at];
  for (std::size_t i = 0; i < frame.shape.size(); ++i) {
    if (i == at) continue;
    lines.others.push_back(frame.shape[i]);
    lines.from.push_back(layout.strides[i]);
    lines.to.push_back(strides[i]);
  }
  if (frame.size() > 0)
    backend::run(result.device(), ops::Fft{lines, real}, {device_data(x), device_data(result)});
  check_result("fft", result, {&x});
  return result;
}

NAX_ENGINE ArrayBase complex_lines(const ArrayBase& x, int axis, bool inverse, double scale) {
  const std::int64_t n = layout_of(x).shape[static_cast<std::size_t>(layout_of(x).hidden() + axis)];
  const auto again = [=](const ArrayBase& g) { return complex_lines(g, axis, inverse, scale); };
  return record(transform_lines(loops::FftKind::complex, inverse, x, axis, n, scale, {}),
                wrt(x, again, again));
}

NAX_ENGINE ArrayBase lines_from_real(const ArrayBase& x, int axis, double scale, const HalfLines& half) {
  const std::int64_t n = layout_of(x).shape[static_cast<std::size_t>(layout_of(x).hidden() + axis)];
  const HalfLines other{half.middle / 2, !half.conjugate};
  return record(transform_lines(loops::FftKind::to_complex, false, x, axis, n, scale, half),
                wrt(
                    x, [=](const ArrayBase& g) { return lines_to_real(g, axis, n, scale, other); },
                    [=](const ArrayBase& t) { return lines_from_real(t, axis, scale, half); }));
}

NAX_ENGINE ArrayBase lines_to_real(const ArrayBase& x, int axis, std::int64_t n, double scale,
                                   const HalfLines& half) {
  const HalfLines other{half.middle * 2, !half.conjugate};
  return record(transform_lines(loops::FftKind::to_real, true, x, axis, n, scale, half),
                wrt(
                    x, [=](const ArrayBase& g) { return lines_from_real(g, axis, scale, other); },
                    [=](const ArrayBase& t) { return lines_to_real(t, axis, n, scale, half); }));
}

NAX_ENGINE double norm_scale(const char* function, std::string_view norm, bool inverse, std::int64_t n) {
  const double all = static_cast<double>(n);
  if (norm == "ortho") return 1 / std::sqrt(all);
  if (norm != "backward" && norm != "forward")
    raise<ValueError>(
        {function, ": invalid norm value '", norm, "'; it should be 'backward', 'ortho' or 'forward'"});
  return (norm == "backward") == inverse ? 1 / all : 1;
}

NAX_ENGINE void check_length(const char* function, std::int64_t n) {
  if (n < 1) raise<ValueError>({function, ": invalid number of data points (", n, ") specified"});
  count_elements(function, Dims(1, n));
}

}  // namespace detail
NAX_END
