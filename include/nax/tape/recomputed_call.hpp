#pragma once

#include "nax/tape/call_node.hpp"

// A call whose insides are not kept: a sweep that comes by computes it anew, at the tape's end, sweeps that
// part, and pops it. Arrays that the call reads without having been given them get their gradients too, since
// the new nodes refer to them.
NAX_BEGIN
namespace detail {

class RecomputedCall : public CallNode {
 public:
  RecomputedCall() : scopes_(recording.tape->scopes) {}

  NAX_ENGINE_VIRTUAL void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override;
  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> push_call(Forward& sweep) override;

 protected:
  // The results, slot by slot, recorded.
  virtual std::vector<ArrayBase> recompute() const = 0;

 private:
  // As it was computed then: watched by the same transforms.
  std::vector<ArrayBase> recompute_on(Tape& tape) const {
    const RecordOn on(&tape);
    const ScopesOf watching(tape, scopes_);
    return recompute();
  }

  Tape::Scopes scopes_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

// While it lives, a program that is being recorded computes anew, and not before these arrays are there.
class RecordedAnew {
 public:
  explicit RecordedAnew(const std::vector<ArrayBase>& after) {
    if (graph_recording && graph_recording->recompute) graph_recording->recompute(*graph_recording, &after);
  }
  ~RecordedAnew() {
    if (graph_recording && graph_recording->recompute) graph_recording->recompute(*graph_recording, nullptr);
  }
  RecordedAnew(const RecordedAnew&) = delete;
  RecordedAnew& operator=(const RecordedAnew&) = delete;
};

NAX_ENGINE_KEY void RecomputedCall::pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) {
  const RecordedAnew anew(cotangents);
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
#endif
