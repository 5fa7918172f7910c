#pragma once

#include "nax/numpy/reductions/sum.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void finish_sum(ArrayBase& sums, DType dtype, double divisor) {
  if (divisor != 1 && is_inexact(dtype)) divide_by(sums, divisor);
  if (sums.dtype() != dtype) sums = as_dtype(std::move(sums), dtype);
}

struct PullSum {
  Frame frame;
  AxisMarks visible;
  bool keep;
  double divisor;

  ArrayBase operator()(const ArrayBase& g) const { return spread(divisor == 1 ? g : scaled(g, 1 / divisor)); }
  ArrayBase of_number(Number g, Device device) const {
    return g.dtype == DType::float32 ? of_number_as<float>(g, device) : of_number_as<double>(g, device);
  }

 private:
  template <class T>
  ArrayBase of_number_as(Number g, Device device) const {
    const T share = *static_cast<const T*>(g.value) * static_cast<T>(1 / divisor);
    return spread(Number{&share, g.dtype}.array(device));
  }
  ArrayBase spread(const ArrayBase& g) const { return unreduce(g, frame, over_frame(visible, frame), keep); }
};

NAX_ENGINE ArrayBase record_sum(ArrayBase result, const OperandRef& input, const Frame& frame,
                                const AxisMarks& visible, bool keep, double divisor) {
  return record(std::move(result),
                wrt_operand(input, PullSum{frame, visible, keep, divisor}, [=](const ArrayBase& t) {
                  return sum_array(t, t.dtype(), visible, keep, divisor);
                }));
}

NAX_ENGINE ArrayBase sum_array(const ArrayBase& x, DType dtype, const AxisMarks& visible, bool keep,
                               double divisor) {
  const Layout& layout = layout_of(x);
  const bool divided = divisor != 1 && divides_sums(x.device(), dtype);
  ArrayBase result = reduce_array(loops::ReduceKind::sum, x, lane_of(dtype), over_frame(visible, layout),
                                  keep, divided ? divisor : 1);
  finish_sum(result, dtype, divided ? 1 : divisor);
  if (x.dtype() == dtype && is_inexact(dtype) && may_be_recorded(x))
    result = record_sum(std::move(result), operand_ref(x), layout, visible, keep, divisor);
  return result;
}

}  // namespace detail
NAX_END
