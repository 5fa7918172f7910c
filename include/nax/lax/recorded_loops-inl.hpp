#pragma once

#include "nax/expr/differentiation/output_node.hpp"
#include "nax/expr/evaluation/zeros.hpp"
#include "nax/lax/body_nodes.hpp"
#include "nax/numpy/indexing/selection.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/transform/differentiate.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool records_loop(std::int64_t n) {
  return graph_recording && program::is_recording() && n >= least_recorded_turns &&
         !program::Recorder::current().unrolls;
}

[[noreturn]] inline void refuse_loop(const char* why) { throw NotRecordable(why); }

// An array over n rows of this frame, each row an unbroken run.
inline Layout rows_layout(const Frame& row, std::int64_t n) {
  const std::size_t at = row.levels.size();
  Layout layout;
  static_cast<Frame&>(layout) = row;
  layout.strides = Layout::row_major(row.shape);
  layout.shape.insert(at, n);
  layout.strides.insert(at, row.size());
  return layout;
}
inline ArrayBase new_rows(DType dtype, const Frame& row, std::int64_t n) {
  Frame flat;
  flat.shape = row.shape;
  flat.shape.insert(0, n);
  ArrayBase a = allocate(dtype, flat, program::device);
  ArrayAccess::layout(a) = rows_layout(row, n);
  return a;
}
inline ArrayBase copied_to(const ArrayBase& from, ArrayBase to) {
  const Layout& layout = layout_of(to);
  if (layout.size() > 0)
    backend::run(program::device, ops::Copy{layout.shape,
                                            {device_data(from), strides_over(layout_of(from), layout),
                                             from.dtype(), from.dtype()},
                                            {device_data(to), layout.strides, to.dtype(), to.dtype()}});
  return to;
}
// The array over a frame, an unbroken run; over rows of it where n is given.
inline ArrayBase run_over(const ArrayBase& a, const Frame& frame) {
  const Layout& layout = layout_of(a);
  if (static_cast<const Frame&>(layout) == frame && layout.is_contiguous()) return a;
  return copied_to(a, allocate(a.dtype(), frame, program::device));
}
inline ArrayBase rows_over(const ArrayBase& a, const Frame& row, std::int64_t n) {
  const Layout wanted = rows_layout(row, n);
  if (static_cast<const Frame&>(layout_of(a)) == wanted && layout_of(a).strides == wanted.strides) return a;
  return copied_to(a, new_rows(a.dtype(), row, n));
}
inline Frame row_of(const ArrayBase& x) {
  Frame frame = layout_of(x);
  frame.shape.erase(frame.levels.size());
  return frame;
}

inline Dims visible_of(const Frame& frame) {
  return Dims(frame.shape.begin() + static_cast<std::ptrdiff_t>(frame.levels.size()), frame.shape.end());
}
// Over the vmaps of another frame, too.
inline Frame wider(const Frame& frame, const Frame& other) {
  return merge_frames({&frame, &other}, visible_of(frame));
}

// The carries of a loop that is recorded until their frames stay as they are from turn to turn: vmaps that
// come in on the way are added, and transforms that come to watch.
struct LoopCarries {
  LoopArrays initial;  // unset for zeros
  std::vector<DType> dtypes;
  std::vector<Frame> frames;
  Watchers watched = 0;

  void add(const ArrayBase& first, DType dtype, const Frame& frame) {
    initial.push_back(first);
    dtypes.push_back(dtype);
    frames.push_back(frame);
  }
  // Brings what is given over the frames.
  void widen() {
    for (std::size_t c = 0; c < initial.size(); ++c)
      if (ArrayAccess::buffer(initial[c]) && !(frames[c] == layout_of(initial[c])))
        initial[c] = broadcast_frame(initial[c], frames[c]);
  }
  bool are_settled(const LoopArrays& after) {
    bool settled = true;
    for (std::size_t c = 0; c < frames.size(); ++c) {
      Frame all = wider(frames[c], layout_of(after[c]));
      settled = settled && all == frames[c];
      frames[c] = std::move(all);
      if (!recording.tape || !is_inexact(dtypes[c])) continue;
      const Watchers watching = recording.tape->watchers(serial_of(after[c]));
      settled = settled && (watching & ~watched) == 0;
      watched |= watching;
    }
    return settled;
  }
};

// Drops the nodes that a body has put on the tape.
class BodyNodes {
 public:
  explicit BodyNodes(Tape* tape) : tape_(tape), mark_(tape ? tape->size() : 0) {}
  BodyNodes(const BodyNodes&) = delete;
  BodyNodes& operator=(const BodyNodes&) = delete;
  ~BodyNodes() {
    if (tape_) tape_->pop(mark_);
  }
  void keep() { tape_ = nullptr; }

 private:
  Tape* tape_;
  std::size_t mark_;
};

// Where a body's nodes begin: sweeps over the tape pass them by, since the step's own node stands for them.
struct BodyBegin final : Node {
  std::size_t end = 0;
  void pull(const ArrayBase&, Reverse&) override {}
  void push(Forward& sweep, std::size_t) override { sweep.skip_to(end); }
  void add(ArrayBase&, const ArrayBase&) const override {}
  Watchers watchers(const Tape&) const override { return 0; }
};
// The node of a step whose bodies have these nodes, and its results behind it.
template <class N>
N& emplace_body_node(Tape& tape, Watchers watched, std::vector<std::shared_ptr<BodyKin>> kin,
                     std::vector<BodyKin::Nodes> nodes) {
  const std::uint64_t serial = tape.emplace<N>(watched);
  const std::size_t self = tape.find(serial);
  N& node = static_cast<N&>(tape[self]);
  node.serial = serial, node.self = self;
  node.kin = std::move(kin), node.nodes = std::move(nodes);
  for (std::size_t b = 0; b < node.kin.size(); ++b) {
    node.nodes[b].owner = &node;
    node.kin[b]->nodes.push_back(node.nodes[b]);
  }
  return node;
}
inline void record_outputs(Tape& tape, BodyNode& node, const std::vector<ArrayBase*>& results) {
  for (std::size_t k = 0; k < results.size(); ++k)
    ArrayAccess::serial(*results[k]) = tape.emplace<OutputNode>(&node, node.serial, k, results.size());
}

// Cotangents that a body's sweep brings to nodes before it, each an output of the body: a node on the way of
// the sweep that goes on, or one of the body of the last of `bodies`, which awaits it.
struct Taker {
  std::vector<BodyNode*> bodies;
  std::size_t node;
  bool operator==(const Taker&) const = default;
};
// Lists what a body's sweep has brought to nodes from its mark to `begin`: take(taker, cotangent, of kin?).
template <class Take>
void list_takers(Reverse& own, std::size_t begin, const BodyKin& kin, const Take& take) {
  for (std::size_t node = own.mark(); node < begin; ++node) {
    const ArrayBase* const found = own.at(node);
    if (!found) continue;
    std::vector<BodyNode*> bodies;
    if (BodyNode* const owner = kin.owner_of(node)) bodies.push_back(owner);
    const bool is_kin = !bodies.empty();
    if (holds_value(*found)) {
      take(Taker{std::move(bodies), node}, ArrayBase(*found), is_kin);
    } else {  // a step within the bodies awaits cotangents of its own turns
      auto& inner = static_cast<BodyNode&>(own.tape()[node]);
      bodies.push_back(&inner);
      for (const BodyNode::Pending& p : std::exchange(inner.pending, {})) {
        std::vector<BodyNode*> path = bodies;
        path.insert(path.end(), p.within.begin(), p.within.end());
        take(Taker{std::move(path), p.node}, p.rows, is_kin);
      }
    }
  }
}
inline void give(Reverse& sweep, const Taker& to, ArrayBase&& g) {
  if (to.bodies.empty()) return sweep.add_at(to.node, std::move(g));
  BodyNode& body = *to.bodies[0];
  body.pending.push_back({to.node, std::move(g), {to.bodies.begin() + 1, to.bodies.end()}});
  sweep.visit(body.self);
}
// A slot of a body whose rows lie there.
struct SlotRows {
  int slot;
  program::EndedBody::Rows rows;
};

}  // namespace detail
NAX_END
