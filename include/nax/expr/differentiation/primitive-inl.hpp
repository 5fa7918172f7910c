#pragma once

#include "nax/expr/differentiation/primitive.hpp"
#include "nax/expr/differentiation/sum_axes.hpp"
#include "nax/expr/evaluation/as_dtype.hpp"

NAX_BEGIN
namespace detail {

// Adds where one is on a GPU and the other one number everywhere, on the host; false where they are not.
NAX_ENGINE bool add_constant(ArrayBase& sum, const ArrayBase& term) {
  if (is_recorded(sum) || is_recorded(term)) return false;
  const auto moves = [](const ArrayBase& x, Device to) {
    return on_card(to) && goes_along(x, to) && is_constant(layout_of(x));
  };
  if (moves(term, sum.device())) {
    add_to(sum, moved_constant(term, sum.device()));
  } else if (moves(sum, term.device())) {
    sum = moved_constant(sum, term.device());
    add_to(sum, term);
  } else {
    return false;
  }
  return true;
}

NAX_ENGINE void add_to(ArrayBase& sum, const ArrayBase& term) {
  if (accelerators_present && add_constant(sum, term)) [[unlikely]]
    return;
  const bool one_frame = static_cast<const Frame&>(layout_of(sum)) == layout_of(term);
  const Frame wider = one_frame ? Frame() : broadcast("add", layout_of(sum), layout_of(term));
  const Frame& frame = one_frame ? static_cast<const Frame&>(layout_of(sum)) : wider;
  const Device device = device_for("add", sum, term);
  const profile::Span span(profile::Kind::operation, "add");
  const bool recorded = is_recorded(sum) || is_recorded(term);
  const bool in_place = !recorded && static_cast<const Frame&>(layout_of(sum)) == frame &&
                        is_exclusive(sum) && ArrayAccess::buffer(sum)->is_own() &&
                        share_memory(sum.device(), device);
  ArrayBase result = in_place ? sum : allocate(sum.dtype(), frame, device);
  // Directly where it is short: gradients of small programs are made of such sums.
  const std::int64_t n = frame.size();
  const DType dtype = sum.dtype();
  if (one_frame && n <= cpu::detail::parallel_grain && lane_of(dtype) == dtype && !on_accelerator(device) &&
      layout_of(sum).is_contiguous() && layout_of(term).is_contiguous()) {
    if (!in_place)
      std::memcpy(raw_data(result), raw_data(sum), static_cast<std::size_t>(n) * dtype_size(dtype));
    cpu::sum_reducer(dtype)->combine(raw_data(term), raw_data(result), 1, n);
  } else {
    backend::run(device, ops::Add{frame.shape, plain_operand(sum, strides_over(layout_of(sum), frame)),
                                  plain_operand(term, strides_over(layout_of(term), frame)),
                                  plain_operand(result, layout_of(result).strides)});
  }
  if (recorded) {
    const auto of = [&](const ArrayBase& x) {
      return wrt(
          x,
          [own = Frame(layout_of(x)), frame = Frame(frame)](const ArrayBase& g) {
            return sum_to(g, own, frame);
          },
          [frame = Frame(frame)](const ArrayBase& t) {
            return broadcast_frame(t, broadcast("add", frame, layout_of(t)));
          });
    };
    result = record(std::move(result), of(sum), of(term));
  }
  sum = std::move(result);
}

NAX_ENGINE bool takes_in_place(const ArrayBase& sum, Device device, DType dtype, const Frame& frame) {
  return !recording.tape && on_card(device) && sum.device() == device && sum.dtype() == dtype &&
         !is_recorded(sum) && static_cast<const Frame&>(layout_of(sum)) == frame && is_exclusive(sum) &&
         ArrayAccess::buffer(sum)->is_own();
}

NAX_ENGINE void PrimitiveNode::pull_number(Number g, Reverse& sweep) {
  InputBase* const in = first();
  if (recording.tape || count_ != 1 || !in->pull_number) return pull(g.array(sweep.device()), sweep);
  if (const std::size_t node = sweep.place(in->serial); node != Tape::npos)
    sweep.add_at(node, in->pull_number(*in, g, sweep.device_of_constant(node)));
}

NAX_ENGINE void PrimitiveNode::push(Forward& sweep, std::size_t self) {
  ArrayBase total;
  InputBase* in = first();
  for (int i = 0; i < count_; ++i, in = after(in)) {
    const ArrayBase* const tangent = sweep.find(in->serial);
    if (!tangent) continue;
    ArrayBase share = in->push_share(*in, *tangent, *this);
    if (ArrayAccess::buffer(total))
      add_to(total, share);
    else
      total = std::move(share);
  }
  if (ArrayAccess::buffer(total)) sweep.put(self, std::move(total));
}

}  // namespace detail
NAX_END
