#pragma once

#include "nax/numpy/reductions/sum.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void finish_sum(ArrayBase& sums, DType dtype, double divisor) {
  if (divisor != 1 && is_inexact(dtype)) divide_by(sums, divisor);
  if (sums.dtype() != dtype) sums = as_dtype(std::move(sums), dtype);
}

NAX_ENGINE ArrayBase record_sum(ArrayBase result, const OperandRef& input, const Frame& frame,
                                const AxisMarks& visible, bool keep, double divisor) {
  return record(std::move(result),
                wrt_operand(
                    input,
                    [=](const ArrayBase& g) {
                      return unreduce(divisor == 1 ? g : scaled(g, 1 / divisor), frame,
                                      over_frame(visible, frame), keep);
                    },
                    [=](const ArrayBase& t) { return sum_array(t, t.dtype(), visible, keep, divisor); }));
}

NAX_ENGINE ArrayBase sum_array(const ArrayBase& x, DType dtype, const AxisMarks& visible, bool keep,
                               double divisor) {
  const Layout& layout = layout_of(x);
  ArrayBase result =
      reduce_array(loops::ReduceKind::sum, x, lane_of(dtype), over_frame(visible, layout), keep);
  finish_sum(result, dtype, divisor);
  if (x.dtype() == dtype && is_inexact(dtype) && may_be_recorded(x))
    result = record_sum(std::move(result), operand_ref(x), layout, visible, keep, divisor);
  return result;
}

}  // namespace detail
NAX_END
