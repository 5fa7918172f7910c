#pragma once

#include <vector>

#include "nax/tape/sweep.hpp"

// A whole call as one node: checkpoint, the custom rules, grad of pmap. Its results are output nodes right
// behind it, which in a reverse sweep leave their cotangents with it, and in a forward sweep fetch their
// tangents from it. A slot that nothing reached holds no value (its buffer is null).
NAX_BEGIN
namespace detail {

struct CallNode : Node {
  std::vector<ArrayBase> slots;
  bool refuses_tangents = false;  // set by a sweep: reading the tangent of a result throws

  virtual void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) = 0;
  // Throws NoTangent where the call, or an operand, has no forward-mode derivative.
  virtual std::vector<ArrayBase> push_call(Forward& sweep) = 0;

  void pull(const ArrayBase&, Reverse& sweep) final { pull_call(std::exchange(slots, {}), sweep); }
  void push(Forward& sweep, std::size_t) final {
    slots.clear();
    refuses_tangents = false;
    try {
      slots = push_call(sweep);
    } catch (const NoTangent&) {
      refuses_tangents = true;  // the outputs refuse theirs, not this node
    }
  }
  void add(ArrayBase&, const ArrayBase&) const final {}
};

inline bool holds_value(const ArrayBase& a) { return static_cast<bool>(ArrayAccess::buffer(a)); }

}  // namespace detail
NAX_END
