#pragma once

#include "nax/numpy/logsumexp.hpp"

namespace nax {

struct SoftmaxOptions {
  Axis axis = -1;
};

namespace detail {

template <cpu::Softmax what, class T>
Array<T> softmax_value(const Array<T>& x, const std::vector<bool>& visible) {
  using Lane = lane_t<T>;
  if constexpr (!std::is_same_v<Lane, T>) {
    return from_accumulator<T, Lane>(contiguous(softmax_value<what>(lane_rows(x), visible)));
  } else {
    if constexpr (simd::has_packet<T>) {
      if (marks_suffix(visible)) {
        const ArrayBase rows = contiguous(x);
        Array<T> result(allocate(dtype_of<T>, layout_of(rows)));
        const std::int64_t n = marked_count(visible, layout_of(x));
        cpu::softmax_rows(what, elements<const T>(rows), elements<T>(result),
                          n == 0 ? 0 : layout_of(x).size() / n, n);
        return result;
      }
    }
    const std::vector<bool> marks = over_frame(visible, layout_of(x));
    const Array<T> m(reduce_over<cpu::reduce_op::Max<T>>(x, marks, true));
    const auto shifted = make_expr<rules::subtract>(x, m);
    if constexpr (what == cpu::Softmax::softmax) {
      const Array<T> e = evaluate(make_expr<rules::exp>(shifted));
      return evaluate(
          make_expr<rules::divide>(e, Array<T>(reduce_over<cpu::reduce_op::Sum<T>>(e, marks, true))));
    } else {
      const Array<T> total(reduce_over<cpu::reduce_op::Sum<T>>(make_expr<rules::exp>(shifted), marks, true));
      return evaluate(make_expr<rules::subtract>(shifted, make_expr<rules::log>(total)));
    }
  }
}

template <class T>
Array<T> softmax_over(const Array<T>& x, const std::vector<bool>& visible) {
  const auto tangent = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
    const Array<T> mean = sum_over<T>(make_expr<rules::multiply>(t, y), visible, true, 1);
    return evaluate(make_expr<rules::multiply>(y, make_expr<rules::subtract>(t, mean)));
  };
  return record_with_result(softmax_value<cpu::Softmax::softmax>(Array<T>(constant(x)), visible),
                            wrt(x, tangent, tangent));
}

template <class T>
Array<T> log_softmax_over(const Array<T>& x, const std::vector<bool>& visible) {
  const auto pull = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
    const Array<T> total = sum_over<T>(g, visible, true, 1);
    return evaluate(
        make_expr<rules::subtract>(g, make_expr<rules::multiply>(make_expr<rules::exp>(y), total)));
  };
  const auto push = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
    const auto weighted = make_expr<rules::multiply>(make_expr<rules::exp>(y), t);
    return evaluate(make_expr<rules::subtract>(t, sum_over<T>(weighted, visible, true, 1)));
  };
  return record_with_result(softmax_value<cpu::Softmax::log_softmax>(Array<T>(constant(x)), visible),
                            wrt(x, pull, push));
}

}  // namespace detail

// exp(x) / sum(exp(x)) over `axis` (one, or several in braces), without overflow.
namespace nn {
template <detail::ArrayLike X>
auto softmax(const X& x_, const SoftmaxOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("softmax", x);
  return detail::softmax_over(x, detail::marked_axes("softmax", options.axis, x.ndim()));
}
// log(softmax(x)), accurate where softmax is small.
template <detail::ArrayLike X>
auto log_softmax(const X& x_, const SoftmaxOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("log_softmax", x);
  return detail::log_softmax_over(x, detail::marked_axes("log_softmax", options.axis, x.ndim()));
}
}  // namespace nn

namespace special {
using nn::log_softmax;
using nn::softmax;
}  // namespace special

}  // namespace nax
