#pragma once

#include <memory>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/program/record/ended_body.hpp"
#include "nax/tape/call_node.hpp"
#include "nax/tree/for_each.hpp"

// Loops and branches while jit records a program: a body is recorded once, and the loop, or the choice among
// branches, becomes one step.
//
// The nodes of bodies stay on the tape, behind a node that sweeps pass by (BodyBegin), and behind them comes
// one node for the step (BodyNode). A sweep that reaches it records the derivative of each body, a sweep over
// that body's nodes, as the body of another step: a loop in the other direction for cotangents, in the same
// for tangents; a choice by the same index. Such a body may use all values and tangents of the bodies before
// it, which their steps then keep turn by turn, as a tape would keep them (program/record/ended_body.hpp).
// Arrays from outside that a body uses are found on the tape, and their cotangents added up. Where the sweep
// is itself recorded, its step has a node of the same kind, so that derivatives of any order are loops and
// choices.
NAX_BEGIN
namespace detail {

using LoopArrays = std::vector<ArrayBase>;
using LoopBody = FunctionRef<LoopArrays(LoopArrays& inputs)>;

// Shorter loops are recorded turn by turn: their steps can be joined with others.
inline constexpr std::int64_t least_recorded_turns = 32;

// Does a loop of n turns become a step?
inline bool records_loop(std::int64_t n) {
  return graph_recording && program::is_recording() && n >= least_recorded_turns &&
         !program::Recorder::current().unrolls;
}

struct BodyNode;

// Bodies over the same turns: one, and those of its derivatives.
struct BodyKin {
  // Where a body's nodes lie on the tape: BodyBegin, and behind the last.
  struct Nodes {
    std::size_t begin, end;
    BodyNode* owner;
  };
  std::shared_ptr<program::BodyFamily> bodies = std::make_shared<program::BodyFamily>();
  std::vector<Nodes> nodes;

  BodyNode* owner_of(std::size_t node) const {
    for (const Nodes& n : nodes)
      if (node >= n.begin && node < n.end) return n.owner;
    return nullptr;
  }
};

struct BodyNode : CallNode {
  // Cotangents, turn by turn, of a node: a derivative's body has used its value. The node is a body's, or one
  // of bodies within it: then each row is what these await.
  struct Pending {
    std::size_t node;
    ArrayBase rows;
    std::vector<BodyNode*> within;  // the outermost first
  };
  const Watchers watched;
  std::uint64_t serial = 0;
  std::size_t self = 0;                       // on the tape
  std::vector<std::shared_ptr<BodyKin>> kin;  // by body: one of a loop, those of branches
  std::vector<BodyKin::Nodes> nodes;          // by body
  std::vector<Pending> pending;

  explicit BodyNode(Watchers w) : watched(w) {}
  ~BodyNode() override {
    for (const auto& k : kin) std::erase_if(k->nodes, [this](const auto& n) { return n.owner == this; });
  }
  Watchers watchers(const Tape&) const override { return watched; }
};

struct LoopNode final : BodyNode {
  // An input that is watched: in the body, and by its serial outside.
  struct Input {
    ArrayBase inside;
    std::uint64_t outside;
  };
  std::int64_t turns = 0;
  bool reverse = false;
  std::vector<Input> carries, rows;
  LoopArrays after, outs;  // in the body: of the carries, and what is stacked

  using BodyNode::BodyNode;
  NAX_ENGINE_VIRTUAL void pull_call(LoopArrays cotangents, Reverse& sweep) override;
  NAX_ENGINE_VIRTUAL LoopArrays push_call(Forward& sweep) override;
};

struct BranchNode final : BodyNode {
  ArrayBase index = ArrayAccess::unset();
  std::vector<LoopArrays> outs;  // by branch, in the body; those that are watched
  std::vector<Frame> frames;     // of results

  using BodyNode::BodyNode;
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
// body(carry) while condition(carry) holds for any example. Recorded on the tape for tangents; a sweep for
// cotangents throws NotRecordable.
NAX_ENGINE LoopArrays record_while(LoopBody condition, LoopBody body, LoopArrays carry);
// The results of the branch of that number, or the nearest. Recorded on the tape.
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
#include "nax/lax/recorded_branches-inl.hpp"
#include "nax/lax/recorded_loops-inl.hpp"
#include "nax/lax/recorded_products-inl.hpp"
#include "nax/lax/recorded_scan-inl.hpp"
#include "nax/lax/recorded_while-inl.hpp"
#endif
