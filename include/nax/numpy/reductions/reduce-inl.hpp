#pragma once

#include "nax/numpy/reductions/reduce.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase reduce_array(loops::ReduceKind kind, const ArrayBase& x, DType to,
                                  const AxisMarks& marks, bool keep, double divisor) {
  const Layout& layout = layout_of(x);
  ArrayBase result = allocate(to, reduced_frame(layout, marks, keep), device_for("reduce", x));
  const ArrayBase* const operand = &x;
  {
    const profile::Span span(profile::Kind::operation, "reduce");
    if (span.event()) [[unlikely]]
      describe_operation(*span.event(), &operand, 1, layout, result);
    const std::int64_t n = layout.size();
    const DType from = x.dtype();
    // Directly where a run that no thread would share comes to one number: most sums of small programs.
    if (n > 0 && n <= cpu::detail::parallel_grain && lane_of(from) == from && layout_of(result).size() == 1 &&
        !on_accelerator(result) && layout.is_contiguous()) {
      const cpu::Reducer& reducer = cpu::reducer_for(kind, from, to);
      reducer.fill(raw_data(result), 1);
      reducer.combine(raw_data(x), raw_data(result), 0, n);
    } else {
      reduce_values(kind, x, layout, marks, result, divisor);
    }
  }
  if (watches_operations()) [[unlikely]]
    check_numbers("reduce", "", odd_numbers_in(&operand, 1), result, &operand, 1);
  return result;
}

NAX_ENGINE void check_not_empty(const char* function, const AxisMarks& marks, const Frame& frame) {
  if (marked_count(marks, frame) == 0)
    raise<ValueError>(
        {function, ": zero-size array to reduction operation ", function, " which has no identity"});
}

}  // namespace detail
NAX_END
