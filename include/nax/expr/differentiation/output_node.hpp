#pragma once

#include <utility>

#include "nax/expr/differentiation/primitive.hpp"
#include "nax/tape/call_node.hpp"

NAX_BEGIN
namespace detail {

// A result of a call (see tape/call_node.hpp).
struct OutputNode final : ResultNode {
  CallNode* call;
  std::uint64_t call_serial;
  std::size_t slot, count;
  OutputNode(CallNode* c, std::uint64_t serial, std::size_t s, std::size_t n)
      : call(c), call_serial(serial), slot(s), count(n) {}
  void pull(const ArrayBase& g, Reverse& sweep) override {
    call->slots.resize(count);
    call->slots[slot] = g;
    sweep.visit(sweep.tape().find(call_serial));
  }
  void push(Forward& sweep, std::size_t self) override {
    if (call->refuses_tangents)
      sweep.refuse(self);
    else if (slot < call->slots.size() && holds_value(call->slots[slot]))
      sweep.put(self, std::exchange(call->slots[slot], ArrayBase()));
  }
  Watchers watchers(const Tape& tape) const override { return tape.watchers(call_serial); }
};

}  // namespace detail
NAX_END
