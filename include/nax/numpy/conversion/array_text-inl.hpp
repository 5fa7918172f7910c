#pragma once

#include "nax/numpy/conversion/array_text.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::string SeparatedCells::text(std::size_t axis, const std::string& indent, std::int64_t width) {
  if (axis == shape_.size()) return *cell_++;
  const std::size_t left = shape_.size() - axis;
  const std::int64_t n = shape_[axis];
  const bool cut = summary_.cuts(n);
  const std::string between = left == 1 ? separator_ : bare_ + std::string(left - 1, '\n');
  const std::int64_t room = width - static_cast<std::int64_t>(std::max<std::size_t>(bare_.size(), 1));
  std::string out, line = indent;
  const auto put = [&](const std::string& word, bool last) {
    if (left > 1) {
      out += indent + word + (last ? "" : between);
      return;
    }
    if (line.size() > indent.size() && static_cast<std::int64_t>(line.size() + word.size()) > room) {
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
      line = indent;
    }
    line += word + (last ? "" : between);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    if (cut && i == summary_.edge) {
      put("...", false);
      i = n - summary_.tail();
    }
    put(text(axis + 1, indent + ' ', width - 1), i + 1 == n);
  }
  if (left == 1) out += line;
  return '[' + out.substr(indent.size()) + ']';
}

NAX_ENGINE std::string repr_of(const std::string& elements, DType dtype, const Shape& shape,
                               const PrintOptions& options) {
  const std::int64_t size = shape.count();
  std::string extras;
  if ((size == 0 && !(shape == Shape{0})) || size > options.threshold) extras = "shape=" + to_string(shape);
  const bool implied = dtype == DType::boolean || dtype == DType::int64 || dtype == DType::float64 ||
                       dtype == DType::complex128;
  if (!implied || size == 0)
    extras += (extras.empty() ? "dtype=" : ", dtype=") + std::string(dtype_name(dtype));
  if (extras.empty()) return "array(" + elements + ")";
  const std::string text = "array(" + elements + ",";
  const std::size_t last = text.size() - (text.rfind('\n') + 1);  // npos + 1 is 0
  const bool fits = static_cast<std::int64_t>(last + extras.size() + 2) <= options.linewidth;
  return text + (fits ? " " : "\n      ") + extras + ")";
}

}  // namespace detail
NAX_END
