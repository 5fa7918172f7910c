#pragma once

#include "nax/lax/recorded_loops-inl.hpp"

NAX_BEGIN
namespace detail {

// Records bodies as the branches of a choice, each twice: for the frames of the results, which may differ in
// their vmaps, and to be kept. A result that a body leaves unset is zero, or unset where all do.
inline LoopArrays record_choice(const char* name, const ArrayBase& index,
                                const std::vector<std::shared_ptr<BodyKin>>& kin,
                                FunctionRef<LoopArrays(std::size_t branch)> body) {
  Tape* const tape = recording.tape;
  struct Result {
    DType dtype{};
    Frame frame;
    bool is_given = false, is_watched = false;
  };
  std::vector<Result> results;
  for (std::size_t b = 0; b < kin.size(); ++b) {
    const BodyNodes nodes(tape);
    program::BodyRecording recorded(kin[b]->bodies);
    const LoopArrays outputs = body(b);
    if (results.size() < outputs.size()) results.resize(outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const ArrayBase& out = outputs[k];
      if (!holds_value(out)) continue;
      Result& r = results[k];
      const Frame& frame = layout_of(out);
      if (r.is_given && !(visible_of(r.frame) == visible_of(frame)))
        refuse_loop("jit: the branches give different shapes");
      r = {out.dtype(), r.is_given ? wider(r.frame, frame) : frame, true, r.is_watched};
      r.is_watched = r.is_watched || (tape && is_inexact(r.dtype) && tape->watchers(serial_of(out)));
    }
    recorded.end(program::Turns::unknown);
  }

  struct Kept {
    std::unique_ptr<program::BodyRecording> body;
    LoopArrays outputs;
    std::vector<int> results;
    BodyKin::Nodes nodes;
  };
  std::vector<Kept> branches(kin.size());
  BodyNodes nodes(tape);
  Watchers watched = 0;
  for (std::size_t b = 0; b < kin.size(); ++b) {
    Kept& branch = branches[b];
    branch.nodes = {tape ? tape->size() : 0, 0, nullptr};
    if (tape) tape->emplace<BodyBegin>();
    branch.body = std::make_unique<program::BodyRecording>(kin[b]->bodies);
    branch.outputs = body(b);
    branch.outputs.resize(results.size(), ArrayAccess::unset());
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Result& r = results[k];
      if (!r.is_given) continue;
      ArrayBase& out = branch.outputs[k];
      if (!holds_value(out)) out = zeros_over(r.dtype, r.frame, program::device);
      if (tape) watched |= tape->watchers(serial_of(out));
      branch.results.push_back(branch.body->result(out, r.frame));
    }
    branch.body->end(program::Turns::unknown);
    if (tape) {
      branch.nodes.end = tape->size();
      static_cast<BodyBegin&>((*tape)[branch.nodes.begin]).end = branch.nodes.end;
    }
  }

  auto work = std::make_shared<program::BranchWork>();
  work->branches.resize(kin.size()), work->captured.resize(kin.size()), work->kept.resize(kin.size());
  program::Operands operands;
  work->index = operands.read(index);
  LoopArrays done;
  for (const Result& r : results) {
    done.push_back(r.is_given ? allocate(r.dtype, r.frame, program::device) : ArrayAccess::unset());
    if (r.is_given) work->results.push_back(operands.write(done.back()));
  }
  std::vector<std::vector<SlotRows>> rows(kin.size());
  std::vector<std::vector<int>> arguments(kin.size());
  for (std::size_t b = 0; b < kin.size(); ++b) {
    const program::BodyRecording& own = *branches[b].body;
    for (const program::Recorder::Row& r : own.recorder().rows) {
      rows[b].push_back({r.slot, r.body->rows(r.from)});
      arguments[b].push_back(r.slot);
      const auto [operand, offset] = operands.read_at(rows[b].back().rows.first, own.bytes(r.slot));
      work->captured[b].push_back({operand, offset, 0});
    }
    for (const program::Recorder::Capture& c : own.captured(branches[b].results)) {
      arguments[b].push_back(c.slot);
      work->captured[b].push_back({operands.read_slot(c.from), 0, 0});
    }
  }
  operands.add_step(name, work, false).deferred = true;
  for (std::size_t b = 0; b < kin.size(); ++b) {
    auto ended = std::make_shared<program::Branch>(std::move(branches[b].body), work, b, kin[b]->bodies,
                                                   arguments[b], branches[b].results);
    for (const SlotRows& r : rows[b]) ended->add_rows(r.slot, r.rows);
    std::size_t given = 0;
    for (const ArrayBase& result : done)
      if (holds_value(result)) ended->add_rows(branches[b].results[given++], {device_data(result), 0});
    program::Recorder::current().bodies.push_back(std::move(ended));
  }
  if (watched == 0) return done;

  nodes.keep();
  std::vector<BodyKin::Nodes> of_branches;
  for (const Kept& branch : branches) of_branches.push_back(branch.nodes);
  BranchNode& node = emplace_body_node<BranchNode>(*tape, watched, kin, std::move(of_branches));
  node.index = index;
  node.outs.resize(kin.size());
  std::vector<ArrayBase*> outputs;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (!results[k].is_watched) continue;
    outputs.push_back(&done[k]);
    node.frames.push_back(results[k].frame);
    for (std::size_t b = 0; b < kin.size(); ++b) node.outs[b].push_back(branches[b].outputs[k]);
  }
  record_outputs(*tape, node, outputs);
  return done;
}

NAX_ENGINE LoopArrays record_branches(const ArrayBase& index, const std::vector<LoopBody>& branches) {
  std::vector<std::shared_ptr<BodyKin>> kin;
  for (std::size_t b = 0; b < branches.size(); ++b) kin.push_back(std::make_shared<BodyKin>());
  std::optional<std::size_t> count;
  return record_choice("switch", as_dtype(index, DType::int64), kin, [&](std::size_t b) {
    LoopArrays none;
    LoopArrays outputs = branches[b](none);
    if (count && *count != outputs.size()) refuse_loop("jit: the branches give different trees");
    count = outputs.size();
    return outputs;
  });
}

NAX_ENGINE void BranchNode::pull_call(LoopArrays cotangents, Reverse& sweep) {
  const std::vector<Pending> uses = std::exchange(pending, {});
  cotangents.resize(frames.size(), ArrayAccess::unset());
  for (std::size_t k = 0; k < frames.size(); ++k)
    if (holds_value(cotangents[k]))
      cotangents[k] = broadcast_frame(cotangents[k], wider(frames[k], layout_of(cotangents[k])));
  std::vector<Taker> takers;
  LoopArrays done = record_choice("switch_gradient", index, kin, [&](std::size_t b) {
    Reverse own(sweep.tape(), sweep.mark(), false);
    for (std::size_t k = 0; k < frames.size(); ++k)
      if (holds_value(cotangents[k]))
        own.add(serial_of(outs[b][k]),
                sum_levels(cotangents[k], frames[k].levels, layout_of(outs[b][k]).levels));
    for (const Pending& use : uses) {
      const std::size_t node = use.within.empty() ? use.node : use.within[0]->self;
      if (node >= nodes[b].begin && node < nodes[b].end)
        give(own, {use.within, use.node}, ArrayBase(use.rows));
    }
    own.run(nodes[b].begin);
    LoopArrays found(takers.size(), ArrayAccess::unset());
    list_takers(own, nodes[b].begin, *kin[b], [&](Taker to, const ArrayBase& g, bool) {
      const auto known = std::find(takers.begin(), takers.end(), to);
      const auto k = static_cast<std::size_t>(known - takers.begin());
      if (known == takers.end()) takers.push_back(std::move(to)), found.push_back(ArrayAccess::unset());
      if (holds_value(found[k]))
        add_to(found[k], g);
      else
        found[k] = g;
    });
    return found;
  });
  for (std::size_t k = 0; k < takers.size(); ++k) give(sweep, takers[k], std::move(done[k]));
}

NAX_ENGINE LoopArrays BranchNode::push_call(Forward& sweep) {
  return record_choice("switch_tangent", index, kin, [&](std::size_t b) {
    sweep.forget(nodes[b].begin, nodes[b].end);
    sweep.run(nodes[b].begin + 1, nodes[b].end);
    LoopArrays found;
    for (const ArrayBase& out : outs[b]) {
      const ArrayBase* const t = sweep.find(serial_of(out));
      found.push_back(t ? *t : ArrayAccess::unset());
    }
    return found;
  });
}

}  // namespace detail
NAX_END
