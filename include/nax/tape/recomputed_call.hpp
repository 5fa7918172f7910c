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
#include "nax/tape/recomputed_call-inl.hpp"
#endif
