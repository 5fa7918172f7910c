#pragma once

#include <memory>
#include <vector>

#include "nax/lax/recorded_loops.hpp"
#include "nax/program/record/ended_body.hpp"
#include "nax/tape/call_node.hpp"

// The nodes of recorded loops and branches (recorded_loops.hpp). The engine's alone.
NAX_BEGIN
namespace detail {

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

}  // namespace detail
NAX_END
