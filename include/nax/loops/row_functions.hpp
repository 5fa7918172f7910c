#pragma once

#include <cstdint>
#include <iterator>

#include "nax/core/abi.hpp"

// Describes functions of row-major rows of float or double, on GPUs also of 16 bits, which are computed in
// float: means, deviations, roots, greatest elements and logarithms are float then. Operands and results, in
// order; each has the elements of all rows, `n` ones (of one row), or one a row:
//
//   softmax, log_softmax   x -> y
//   logsumexp, variance    x -> one a row; of a variance `number` is the divisor
//   standardize            x, scale (n) and bias (n), or neither -> y, means and inverse deviations, both
//                          one a row or null; `number` is added to variances
//   softmax_gradient       g, y -> that of x
//   log_softmax_gradient   g, y -> that of x
//   standardize_gradient   g, y, inverse deviations -> that of x
//   layer_norm_gradient    g, x, means, inverse deviations, scale (n) -> that of x, those of scale and bias
//                          (n), each or null; where `number` is 1, on GPUs but for double, that of x is added
//                          to the result
//   rms_norm               x, scale (n) -> y, inverse roots of the mean square, one a row or null; `number`
//                          is added to mean squares
//   rms_norm_gradient      g, x, inverse roots, scale (n) -> that of x, that of scale (n), each or null;
//                          `number` as above
//   cross_entropy          x, labels -> one a row, the greatest x and the logarithm of the sum of
//                          exp(x - greatest), both one a row or null
//   cross_entropy_gradient x, labels, greatest, logarithms, g (one a row, or null: it is `number`) -> that of
//                          x
//   spread_extrema         x, its extremum y, g (both one a row) -> g, shared out evenly among the elements
//                          that reach y; 0 for the others
//   mean_over_extrema      x, its extremum y (one a row), t -> the mean of t over those elements, one a row
NAX_BEGIN
namespace loops {

// All of them, for lists that are made of each.
#define NAX_ROW_FUNCTIONS(X) \
  X(softmax)                 \
  X(log_softmax)             \
  X(logsumexp)               \
  X(variance)                \
  X(standardize)             \
  X(softmax_gradient)        \
  X(log_softmax_gradient)    \
  X(standardize_gradient)    \
  X(layer_norm_gradient)     \
  X(rms_norm)                \
  X(rms_norm_gradient)       \
  X(cross_entropy)           \
  X(cross_entropy_gradient)  \
  X(spread_extrema)          \
  X(mean_over_extrema)

#define NAX_ROW_FUNCTION(name) name,
enum class RowFunction : std::uint8_t { NAX_ROW_FUNCTIONS(NAX_ROW_FUNCTION) };
#undef NAX_ROW_FUNCTION

constexpr const char* name_of(RowFunction function) {
#define NAX_ROW_FUNCTION(name) #name,
  constexpr const char* names[] = {NAX_ROW_FUNCTIONS(NAX_ROW_FUNCTION)};
#undef NAX_ROW_FUNCTION
  const auto number = static_cast<std::size_t>(function);
  return number < std::size(names) ? names[number] : "rows";
}

struct Rows {
  static constexpr int most_operands = 5, most_results = 3;
  RowFunction function;
  std::int64_t rows = 0, n = 0;
  double number = 0;

  // Whether operand or result `i` has numbers that were found on the way, one a row.
  bool is_number(int i) const {
    if (function == RowFunction::layer_norm_gradient || function == RowFunction::cross_entropy_gradient)
      return i == 2 || i == 3;
    return i == 2 &&
           (function == RowFunction::standardize_gradient || function == RowFunction::rms_norm_gradient);
  }
  bool gives_number(int i) const {
    return i > 0 && (function == RowFunction::standardize || function == RowFunction::rms_norm ||
                     function == RowFunction::cross_entropy);
  }
  // How many elements operand or result `i` has.
  std::int64_t operand_size(int i) const {
    switch (function) {
      case RowFunction::standardize:
      case RowFunction::rms_norm:
        return i == 0 ? rows * n : n;
      case RowFunction::standardize_gradient:
      case RowFunction::cross_entropy_gradient:
        return i < 2 ? rows * n : rows;
      case RowFunction::spread_extrema:
        return i == 0 ? rows * n : rows;
      case RowFunction::mean_over_extrema:
        return i == 1 ? rows : rows * n;
      case RowFunction::layer_norm_gradient:
        return i < 2 ? rows * n : i < 4 ? rows : n;
      case RowFunction::rms_norm_gradient:
        return i < 2 ? rows * n : i < 3 ? rows : n;
      case RowFunction::softmax:
      case RowFunction::log_softmax:
      case RowFunction::logsumexp:
      case RowFunction::variance:
      case RowFunction::softmax_gradient:
      case RowFunction::log_softmax_gradient:
      case RowFunction::cross_entropy:
        break;
    }
    return rows * n;
  }
  std::int64_t result_size(int i) const {
    switch (function) {
      case RowFunction::logsumexp:
      case RowFunction::variance:
      case RowFunction::cross_entropy:
      case RowFunction::mean_over_extrema:
        return rows;
      case RowFunction::layer_norm_gradient:
      case RowFunction::rms_norm_gradient:
        return i == 0 ? rows * n : n;
      case RowFunction::softmax:
      case RowFunction::log_softmax:
      case RowFunction::standardize:
      case RowFunction::softmax_gradient:
      case RowFunction::log_softmax_gradient:
      case RowFunction::standardize_gradient:
      case RowFunction::rms_norm:
      case RowFunction::cross_entropy_gradient:
      case RowFunction::spread_extrema:
        break;
    }
    return i == 0 ? rows * n : rows;
  }
};

}  // namespace loops
NAX_END
