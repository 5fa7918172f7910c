#pragma once

#include "nax/tape/recomputed_call.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void RecomputedCall::pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) {
  Tape& tape = sweep.tape();
  const std::size_t mark = tape.size();
  {
    const std::vector<ArrayBase> results = recompute_on(tape);
    for (std::size_t slot = 0; slot < results.size(); ++slot)
      if (holds_value(cotangents[slot])) sweep.add(serial_of(results[slot]), std::move(cotangents[slot]));
  }
  sweep.run_nested(mark);
  if (!recording.tape) tape.pop(mark);
}

NAX_ENGINE std::vector<ArrayBase> RecomputedCall::push_call(Forward& sweep) {
  Tape& tape = sweep.tape();
  const std::size_t mark = tape.size();
  std::vector<ArrayBase> results = recompute_on(tape);
  const std::size_t end = tape.size();
  sweep.run(mark, end);
  for (ArrayBase& result : results) {
    const ArrayBase* const tangent = sweep.find(serial_of(result));
    result = tangent ? *tangent : ArrayBase();
  }
  sweep.forget(mark, end);
  if (!recording.tape) tape.pop(mark);
  return results;
}

}  // namespace detail
NAX_END
