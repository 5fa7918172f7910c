#pragma once

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/rows/norm_gradient_kernels.hpp"
#include "nax/devices/cuda/rows/softmax_rows.hpp"

// Functions of rows that need sums of the whole row, each in one launch; in another one where rows are cut
// into parts, or where it has gradients of parameters as well.
NAX_BEGIN
namespace cuda {

template <loops::RowFunction what, class S, int per>
constexpr auto rule_of_rows() {
  using F = loops::RowFunction;
  if constexpr (what == F::softmax || what == F::log_softmax || what == F::logsumexp)
    return SoftmaxRule<what, S, per>();
  else if constexpr (what == F::softmax_gradient || what == F::log_softmax_gradient)
    return SoftmaxGradientRule<what, S, per>();
  else if constexpr (what == F::variance || what == F::standardize)
    return MomentsRule<what, S, per>();
  else if constexpr (what == F::standardize_gradient)
    return StandardizeGradientRule<S, per>();
  else if constexpr (what == F::rms_norm)
    return RmsNormRule<S, per>();
  else if constexpr (what == F::cross_entropy)
    return CrossEntropyRule<S, per>();
  else
    return CrossEntropyGradientRule<S, per>();
}

// Functions that nothing calls for 16 bits.
constexpr bool of_wide_types_alone(loops::RowFunction function) {
  return function == loops::RowFunction::variance || function == loops::RowFunction::standardize_gradient;
}

template <class S, loops::RowFunction function>
void launch_rows_in(Device device, const loops::Rows& what, const RowOperands<S>& operands) {
  const auto run = [&]<int per>(std::integral_constant<int, per>) {
    using Rule = decltype(rule_of_rows<function, S, per>());
    const RowCut cut = cut_of_rows(what.rows, what.n);
    if (cut.parts > 1) return launch_in_parts<Rule>(device, what.rows, cut, operands);
    const int threads = row_threads(what.n, per);
    if constexpr (sizeof(S) <= 4 && per > 1 && requires { Rule::fits_registers; })
      if (launch_in_registers<Rule>(device, what.rows, threads, operands)) return;
    launch_teams(device, what.rows, threads, WholeRows<S, Rule>{operands});
  };
  if (operands.in_pieces())
    run(std::integral_constant<int, piece_bytes / static_cast<int>(sizeof(S))>());
  else
    run(std::integral_constant<int, 1>());
}

template <class S>
void launch_rows_of(Device device, const loops::Rows& what, const char* const* from, char* const* to) {
  RowOperands<S> operands{what.n, static_cast<RowNumber<S>>(what.number), {}, {}};
  for (int i = 0; i < loops::Rows::most_operands; ++i) operands.from[i] = reinterpret_cast<const S*>(from[i]);
  for (int i = 0; i < loops::Rows::most_results; ++i) operands.to[i] = reinterpret_cast<S*>(to[i]);
  using loops::RowFunction;
  switch (what.function) {
#define NAX_ROWS(name)                                                      \
  case RowFunction::name:                                                   \
    if constexpr (sizeof(S) > 2 || !of_wide_types_alone(RowFunction::name)) \
      return launch_rows_in<S, RowFunction::name>(device, what, operands);  \
    break;
    NAX_ROWS(softmax)
    NAX_ROWS(log_softmax)
    NAX_ROWS(logsumexp)
    NAX_ROWS(variance)
    NAX_ROWS(standardize)
    NAX_ROWS(softmax_gradient)
    NAX_ROWS(log_softmax_gradient)
    NAX_ROWS(standardize_gradient)
    NAX_ROWS(rms_norm)
    NAX_ROWS(cross_entropy)
    NAX_ROWS(cross_entropy_gradient)
#undef NAX_ROWS
    case RowFunction::layer_norm_gradient:
      return launch_norm_gradient<S, true>(device, what, operands);
    case RowFunction::rms_norm_gradient:
      return launch_norm_gradient<S, false>(device, what, operands);
    case RowFunction::spread_extrema:  // of the host alone
    case RowFunction::mean_over_extrema:
      break;
  }
  raise<DeviceError>({"rows: function ", static_cast<int>(what.function), " has no kernel on ", device});
}

// Throws DeviceError for a function or a dtype without a kernel.
inline void launch_rows(Device device, const loops::Rows& what, DType dtype, const char* const* from,
                        char* const* to) {
  if (dtype == DType::float64) return launch_rows_of<double>(device, what, from, to);
  if (dtype == DType::float32) return launch_rows_of<float>(device, what, from, to);
  if (dtype == DType::float16) return launch_rows_of<half>(device, what, from, to);
  if (dtype == DType::bfloat16) return launch_rows_of<bfloat16>(device, what, from, to);
  raise<DeviceError>(
      {loops::name_of(what.function), ": rows of ", dtype_name(dtype), " have no kernel on ", device});
}

}  // namespace cuda
NAX_END
