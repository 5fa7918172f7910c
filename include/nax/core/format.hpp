#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "nax/core/dtype.hpp"
#include "nax/core/format_float.hpp"
#include "nax/core/print_options.hpp"

// The text of an array, exactly as NumPy's str() has it.
//
// Two steps: format_cells gives the text of each element that will be shown (all, or the corners of a
// summarised array), in row-major order and in one common form; CellLayout sets the cells into brackets and
// lines. Only the gathering of elements depends on the element type.
NAX_BEGIN
namespace detail {

// A summarised axis shows `edge` items, dots, and `edge` items, but at least one after the dots.
struct Summary {
  bool on;
  std::int64_t edge;
  std::int64_t tail() const { return edge > 0 ? edge : 1; }
  bool cuts(std::int64_t length) const { return on && length > 2 * edge; }
};

// Appends the elements that will be shown, in row-major order.
template <class T>
void gather_shown(std::vector<T>& out, const T* data, const std::int64_t* shape, const std::int64_t* strides,
                  int ndim, const Summary& summary) {
  if (ndim == 0) {
    out.push_back(*data);
    return;
  }
  for (std::int64_t i = 0; i < *shape; ++i) {
    if (summary.cuts(*shape) && i == summary.edge) i = *shape - summary.tail();
    gather_shown(out, data + i * *strides, shape + 1, strides + 1, ndim - 1, summary);
  }
}

NAX_ENGINE std::vector<std::string> float_cells(const std::vector<double>& values, const FloatSpec& spec,
                                                const PrintOptions& options);

NAX_ENGINE std::vector<std::string> complex_cells(const std::vector<double>& real,
                                                  const std::vector<double>& imag, const FloatSpec& spec,
                                                  const PrintOptions& options);

NAX_ENGINE void align_right(std::vector<std::string>& cells);

template <class T>
std::vector<std::string> format_cells(const std::vector<T>& values, const PrintOptions& options) {
  if constexpr (is_complex_v<T>) {
    std::vector<double> real, imag;
    for (const T& x : values) {
      real.push_back(x.real());
      imag.push_back(x.imag());
    }
    return complex_cells(real, imag, float_spec<real_t<T>>, options);
  } else if constexpr (is_floating_v<T> && !std::is_same_v<T, bfloat16>) {
    return float_cells(std::vector<double>(values.begin(), values.end()), float_spec<T>, options);
  } else {
    std::vector<std::string> cells;
    cells.reserve(values.size());
    for (const T x : values) {
      if constexpr (std::is_same_v<T, bool>) {
        cells.push_back(x ? " True" : "False");
      } else if constexpr (std::is_same_v<T, bfloat16>) {
        cells.push_back(bfloat16_text(x));
      } else {
        cells.push_back(std::to_string(x));
      }
    }
    if constexpr (is_integer_v<T>) align_right(cells);
    return cells;
  }
}

// str() of a 0-d array.
template <class T>
std::string format_scalar(const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "True" : "False";
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return bfloat16_text(x);
  } else if constexpr (is_complex_v<T>) {
    const FloatSpec& spec = float_spec<real_t<T>>;
    if (x.real() == 0 && !std::signbit(x.real())) return scalar_text(x.imag(), spec, false) + 'j';
    return '(' + scalar_text(x.real(), spec, false) + scalar_text(x.imag(), spec, false, true) + "j)";
  } else if constexpr (is_floating_v<T>) {
    return scalar_text(x, float_spec<T>);
  } else {
    return std::to_string(x);
  }
}

// Sets cells into nested brackets. `axis` opens brackets; a row wraps where it would pass the line's width.
class CellLayout {
 public:
  CellLayout(const std::vector<std::string>& cells, const std::int64_t* shape, int ndim, Summary summary,
             int linewidth)
      : cell_(cells.data()), shape_(shape), ndim_(ndim), summary_(summary), linewidth_(linewidth) {}

  std::string text() {
    open(0);
    return std::move(text_);
  }

 private:
  void open(int axis);

  void block(int axis);

  void row(int axis);

  const std::string* cell_;
  const std::int64_t* shape_;
  int ndim_;
  Summary summary_;
  std::int64_t linewidth_;
  std::string text_;
};

}  // namespace detail

// Strides are in elements; data is not read where a dimension is 0.
template <Dtype T>
std::string format_array(const T* data, const std::int64_t* shape, const std::int64_t* strides, int ndim,
                         const PrintOptions& options = get_printoptions()) {
  if (ndim == 0) return detail::format_scalar(*data);
  std::int64_t size = 1;
  for (int i = 0; i < ndim; ++i) size *= shape[i];
  if (size == 0) return "[]";
  const detail::Summary summary{size > options.threshold, options.edgeitems};
  std::vector<T> shown;
  detail::gather_shown(shown, data, shape, strides, ndim, summary);
  return detail::CellLayout(detail::format_cells(shown, options), shape, ndim, summary, options.linewidth)
      .text();
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/format-inl.hpp"
#endif
