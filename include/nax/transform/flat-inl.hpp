#pragma once

#include "nax/transform/flat.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE auto FlatRecord::make(const FlatFunction& f, const Arrays& at, const TapeScope& scope)
    -> FlatRecord {
  FlatRecord r;
  r.tape = scope.tape();
  r.mark = scope.mark();
  for (const ArrayBase& x : at) {
    ArrayBase input = x;
    if (is_inexact(x.dtype())) {
      input = operations_of(x).make_input(x, *scope.tape());
      ++r.count;
    }
    r.inputs.push_back(std::move(input));
  }
  r.outputs = f.call(r.inputs);
  r.end = scope.tape()->size();
  return r;
}

NAX_ENGINE Arrays FlatRecord::pull(const Arrays& cotangents) const {
  const Sweeping sweeping;
  Reverse sweep(*tape, mark, false);
  std::size_t i = 0;
  for (const ArrayBase& out : outputs) {
    if (!is_inexact(out.dtype())) continue;
    const ArrayBase& g = cotangents[i++];
    if (serial_of(out) && holds_value(g)) sweep.add(serial_of(out), operations_of(g).seed(g, layout_of(out)));
  }
  sweep.run(mark + count);
  Arrays shares;
  for (const ArrayBase& x : inputs) {
    if (!is_inexact(x.dtype())) continue;
    const ArrayBase* g = sweep.find(serial_of(x));
    shares.push_back(g ? *g : zeros_like_leaf(x));
  }
  return shares;
}

NAX_ENGINE Arrays FlatRecord::push(const Arrays& tangents) const {
  const Sweeping sweeping;
  Forward sweep(*tape, mark);
  std::size_t i = 0;
  for (const ArrayBase& x : inputs)
    if (is_inexact(x.dtype()))
      sweep.put(tape->find(serial_of(x)), operations_of(x).seed(tangents[i++], layout_of(x)));
  sweep.run(mark + count, end);
  Arrays result;
  for (const ArrayBase& out : outputs) {
    if (!is_inexact(out.dtype())) continue;
    const ArrayBase* t = sweep.find(serial_of(out));
    result.push_back(t ? *t : zeros_like_leaf(out));
  }
  return result;
}

}  // namespace detail
NAX_END
