#pragma once

#include "nax/core/format.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<std::string> float_cells(const std::vector<double>& values, const FloatSpec& spec,
                                                const PrintOptions& options) {
  const FloatFormat format(values, spec, options, false);
  std::vector<std::string> cells;
  cells.reserve(values.size());
  for (const double x : values) cells.push_back(format(x));
  return cells;
}

NAX_ENGINE std::vector<std::string> complex_cells(const std::vector<double>& real,
                                                  const std::vector<double>& imag, const FloatSpec& spec,
                                                  const PrintOptions& options) {
  const FloatFormat real_format(real, spec, options, false), imag_format(imag, spec, options, true);
  std::vector<std::string> cells;
  cells.reserve(real.size());
  for (std::size_t i = 0; i < real.size(); ++i) {
    std::string imaginary = imag_format(imag[i]);
    imaginary.insert(imaginary.find_last_not_of(' ') + 1, 1, 'j');
    cells.push_back(real_format(real[i]) + imaginary);
  }
  return cells;
}

NAX_ENGINE void align_right(std::vector<std::string>& cells) {
  std::size_t width = 0;
  for (const auto& cell : cells) {
    if (cell.size() > width) width = cell.size();
  }
  for (auto& cell : cells) cell.insert(0, width - cell.size(), ' ');
}

NAX_ENGINE void CellLayout::open(int axis) {
  text_ += '[';
  if (axis == ndim_ - 1) {
    row(axis);
  } else {
    block(axis);
  }
  text_ += ']';
}

NAX_ENGINE void CellLayout::block(int axis) {
  const std::string between(static_cast<std::size_t>(ndim_ - axis - 1), '\n');
  const std::string indent(static_cast<std::size_t>(axis + 1), ' ');
  for (std::int64_t i = 0; i < shape_[axis]; ++i) {
    if (i > 0) text_ += between + indent;
    if (summary_.cuts(shape_[axis]) && i == summary_.edge) {
      text_ += "..." + between + indent;
      i = shape_[axis] - summary_.tail();
    }
    open(axis + 1);
  }
}

NAX_ENGINE void CellLayout::row(int axis) {
  const auto indent = static_cast<std::size_t>(axis + 1);
  // Room for the closing brackets, the innermost included.
  const std::int64_t width = linewidth_ - axis - 1;
  std::size_t line = indent;
  const auto put = [&](const std::string& word) {
    if (line > indent && static_cast<std::int64_t>(line + word.size()) > width) {
      while (text_.back() == ' ') text_.pop_back();
      text_ += '\n';
      text_.append(indent, ' ');
      line = indent;
    }
    text_ += word;
    line += word.size();
  };
  for (std::int64_t i = 0; i < shape_[axis]; ++i) {
    if (i > 0) {
      text_ += ' ';
      ++line;
    }
    if (summary_.cuts(shape_[axis]) && i == summary_.edge) {
      put("...");
      text_ += ' ';
      ++line;
      i = shape_[axis] - summary_.tail();
    }
    put(*cell_++);
  }
}

}  // namespace detail
NAX_END
