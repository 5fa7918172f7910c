#pragma once

#include <memory>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/program/record/loop.hpp"
#include "nax/tape/call_node.hpp"
#include "nax/tree/for_each.hpp"

// Loops while jit records a program: the body is recorded once, and the loop becomes one step.
//
// The body's nodes stay on the tape, behind a node that sweeps pass by (BodyBegin), and the loop is one node
// behind them (LoopNode). A sweep that reaches it records the body's derivative, a sweep over the body's
// nodes, as the body of another loop: in the other direction for cotangents, in the same for tangents. Such a
// body may use all values and tangents of the bodies before it, which their loops then keep turn by turn, as
// a tape would keep them (program/record/loop.hpp). Arrays from outside that the body uses are found on the
// tape, and their cotangents added up. Where the sweep is itself recorded, its loop is a node of the same
// kind, so that derivatives of any order are loops.
NAX_BEGIN
namespace detail {

using LoopArrays = std::vector<ArrayBase>;
using LoopBody = FunctionRef<LoopArrays(LoopArrays& inputs)>;

// Shorter loops are recorded turn by turn: their steps can be joined with others.
inline constexpr std::int64_t least_recorded_turns = 32;

// Does a loop of n turns become a step?
inline bool records_loop(std::int64_t n) {
  return graph_recording && program::is_recording() && n >= least_recorded_turns;
}

struct LoopNode;

// Loops over the same turns: one, and those that differentiate it.
struct LoopKin {
  std::shared_ptr<program::LoopFamily> loops = std::make_shared<program::LoopFamily>();
  std::vector<LoopNode*> nodes;
};

struct LoopNode final : CallNode {
  // An input that is watched: in the body, and by its serial outside.
  struct Input {
    ArrayBase inside;
    std::uint64_t outside;
  };
  // Cotangents, turn by turn, of a node: a derivative's loop has used its value. The node is the body's, or
  // one of loops within loops within it: then each row holds rows of these.
  struct Pending {
    std::size_t node;
    ArrayBase rows;
    std::vector<LoopNode*> within;  // the outermost first
  };
  std::shared_ptr<LoopKin> kin;
  std::int64_t turns = 0;
  bool reverse = false;
  std::vector<Input> carries, rows;
  LoopArrays after, outs;  // in the body: of the carries, and what is stacked
  // On the tape: BodyBegin, behind the body's nodes, this.
  std::size_t begin = 0, end = 0, self = 0;
  const Watchers watched;
  std::vector<Pending> pending;

  explicit LoopNode(Watchers w) : watched(w) {}

  ~LoopNode() override {
    if (kin) std::erase(kin->nodes, this);
  }
  Watchers watchers(const Tape&) const override { return watched; }
  NAX_ENGINE_VIRTUAL void pull_call(LoopArrays cotangents, Reverse& sweep) override;
  NAX_ENGINE_VIRTUAL LoopArrays push_call(Forward& sweep) override;
};

struct RecordedScan {
  LoopArrays carry, ys;
};
// body(carry and a row of each of xs) -> the next carry and a row of each of ys. n is at least 1. Recorded on
// the tape.
NAX_ENGINE RecordedScan record_scan(LoopBody body, LoopArrays carry, const LoopArrays& xs, std::int64_t n,
                                    bool reverse);
// body(carry) while condition(carry) holds for any example. Throws NotRecordable under a gradient.
NAX_ENGINE LoopArrays record_while(LoopBody condition, LoopBody body, LoopArrays carry);
// The results of the branch of that number, or the nearest. Throws NotRecordable under a gradient.
NAX_ENGINE LoopArrays record_branches(const ArrayBase& index, const std::vector<LoopBody>& branches);

// The arrays of a tree, and back.
template <class Tree>
void list_arrays(const Tree& t, LoopArrays& to) {
  tree::for_each(
      [&](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) to.push_back(leaf);
      },
      t);
}
template <class Tree>
Tree with_arrays(Tree t, LoopArrays& from, std::size_t& at) {
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) leaf = typed<typename Leaf::value_type>(std::move(from[at++]));
      },
      t);
  return t;
}
// Does this array lie in a recording: is it known when the program runs, and not before?
inline bool known_later(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  return graph_recording && buffer && on_program(buffer->device);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/recorded_loops-inl.hpp"
#include "nax/lax/recorded_products-inl.hpp"
#include "nax/lax/recorded_scan-inl.hpp"
#endif
