#pragma once

#include "nax/lax/loop_draft-inl.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE RecordedScan record_scan(LoopBody f, LoopArrays carry, const LoopArrays& xs, std::int64_t n,
                                    bool reverse) {
  const auto kin = std::make_shared<BodyKin>();
  LoopCarries carries;
  for (const ArrayBase& c : carry) carries.add(c, c.dtype(), layout_of(c));
  if (recording.tape)
    for (const LoopArrays* const all : {&std::as_const(carry), &xs})
      for (const ArrayBase& a : *all) carries.watched |= recording.tape->watchers(serial_of(a));
  for (;;) {
    carries.widen();
    LoopDraft draft(kin, n, reverse, carries.watched);
    LoopArrays inputs;
    for (std::size_t c = 0; c < carry.size(); ++c)
      inputs.push_back(draft.add_carry(carries.initial[c], carries.dtypes[c], carries.frames[c]));
    for (const ArrayBase& x : xs) inputs.push_back(draft.add_rows(x));
    LoopArrays after = f(inputs);
    LoopArrays outs(after.begin() + static_cast<std::ptrdiff_t>(carry.size()), after.end());
    after.resize(carry.size(), ArrayAccess::unset());
    if (carries.are_settled(after)) return draft.finish("scan", std::move(after), std::move(outs));
  }
}

// Rows of cotangents or tangents, over the vmaps of the row that they belong to as well.
inline ArrayBase rows_beside(const ArrayBase& rows, const ArrayBase& row) {
  Frame frame = wider(layout_of(row), layout_of(rows));
  frame.shape.insert(frame.levels.size(), layout_of(rows).visible(0));
  return broadcast_frame(rows, frame);
}

NAX_ENGINE void LoopNode::pull_call(LoopArrays cotangents, Reverse& sweep) {
  const std::vector<Pending> uses = std::exchange(pending, {});
  cotangents.resize(carries.size() + outs.size(), ArrayAccess::unset());
  Tape& tape = sweep.tape();
  const std::size_t begin = nodes[0].begin;
  LoopCarries sums;
  for (std::size_t c = 0; c < carries.size(); ++c) {
    const ArrayBase& inside = carries[c].inside;
    const Frame& frame = layout_of(inside);
    sums.add(cotangents[c], inside.dtype(),
             holds_value(cotangents[c]) ? wider(frame, layout_of(cotangents[c])) : frame);
  }
  if (recording.tape) sums.watched = watched;
  // Rows over the vmaps of the outputs and of their cotangents.
  LoopArrays of_outs = cotangents;
  of_outs.erase(of_outs.begin(), of_outs.begin() + static_cast<std::ptrdiff_t>(carries.size()));
  for (std::size_t k = 0; k < outs.size(); ++k) {
    if (!holds_value(of_outs[k])) continue;
    of_outs[k] = rows_beside(of_outs[k], outs[k]);
  }
  const auto taken = [&](const Input& x) {
    auto& node = static_cast<BodyInput&>(tape[tape.find(serial_of(x.inside))]);
    return std::exchange(node.cotangent, ArrayAccess::unset());
  };
  for (;;) {
    sums.widen();
    LoopDraft draft(kin[0], turns, !reverse, sums.watched);
    Reverse own(tape, sweep.mark(), false);
    const auto seed = [&](const ArrayBase& g, const ArrayBase& inside, const Frame& frame) {
      own.add(serial_of(inside), sum_levels(g, frame.levels, layout_of(inside).levels));
    };
    for (std::size_t c = 0; c < carries.size(); ++c)
      seed(draft.add_carry(sums.initial[c], sums.dtypes[c], sums.frames[c]), after[c],
           layout_of(carries[c].inside));
    for (std::size_t k = 0; k < outs.size(); ++k)
      if (holds_value(of_outs[k])) seed(draft.add_rows(of_outs[k]), outs[k], layout_of(outs[k]));
    for (const Pending& use : uses) give(own, {use.within, use.node}, draft.add_rows(use.rows));
    own.run(begin);
    LoopArrays next, stacked;
    for (std::size_t c = 0; c < carries.size(); ++c) {
      const ArrayBase g = taken(carries[c]);
      next.push_back(holds_value(g) ? as_dtype(g, sums.dtypes[c])
                                    : zeros_over(sums.dtypes[c], sums.frames[c], program::device));
    }
    LoopArrays of_rows;
    for (const Input& x : rows) of_rows.push_back(taken(x));
    if (!sums.are_settled(next)) {
      // The next draft finds nothing that this one gave to steps of other bodies.
      list_takers(own, begin, *kin[0], [](const Taker&, const ArrayBase&, bool) {});
      continue;
    }
    std::vector<Taker> takers, added;
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (holds_value(of_rows[k]) && sweep.wants(rows[k].outside)) {
        takers.push_back({{}, sweep.place(rows[k].outside)});
        stacked.push_back(as_dtype(of_rows[k], rows[k].inside.dtype()));
      }
    // Kin takes each turn's own, others the sum.
    list_takers(own, begin, *kin[0], [&](Taker to, const ArrayBase& g, bool is_kin) {
      (is_kin ? takers : added).push_back(std::move(to));
      is_kin ? stacked.push_back(g) : next.push_back(draft.add_sum(g));
    });
    RecordedScan done = draft.finish("scan_gradient", std::move(next), std::move(stacked));
    for (std::size_t c = 0; c < carries.size(); ++c) sweep.add(carries[c].outside, std::move(done.carry[c]));
    for (std::size_t s = 0; s < added.size(); ++s)
      give(sweep, added[s], std::move(done.carry[carries.size() + s]));
    for (std::size_t k = 0; k < takers.size(); ++k) give(sweep, takers[k], std::move(done.ys[k]));
    return;
  }
}

NAX_ENGINE LoopArrays LoopNode::push_call(Forward& sweep) {
  const std::size_t begin = nodes[0].begin, end = nodes[0].end;
  Tape& tape = sweep.tape();
  MovedCarries moved(sweep, carries, watched);
  LoopArrays of_rows;
  for (const Input& x : rows) {
    const ArrayBase* const t = sweep.find(x.outside);
    of_rows.push_back(t ? rows_beside(*t, x.inside) : ArrayAccess::unset());
  }
  for (;;) {
    moved.widen();
    LoopDraft draft(kin[0], turns, reverse, moved.watched);
    std::vector<std::size_t> numbers;  // of the carries that have tangents
    for (std::size_t c = 0; c < carries.size(); ++c)
      if (moved.moves[c]) {
        numbers.push_back(c);
        sweep.put(tape.find(serial_of(carries[c].inside)),
                  draft.add_carry(moved.initial[c], moved.dtypes[c], moved.frames[c]));
      }
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (holds_value(of_rows[k]))
        sweep.put(tape.find(serial_of(rows[k].inside)), draft.add_rows(of_rows[k]));
    sweep.run(begin + 1, end);
    LoopArrays next, stacked;
    if (!moved.settle(sweep, after)) {
      sweep.forget(begin, end);
      continue;
    }
    for (const std::size_t c : numbers) next.push_back(moved.after[c]);
    std::vector<std::size_t> places(numbers);
    for (std::size_t k = 0; k < outs.size(); ++k)
      if (const ArrayBase* const t = sweep.find(serial_of(outs[k]))) {
        places.push_back(carries.size() + k);
        stacked.push_back(*t);
      }
    RecordedScan done = draft.finish("scan_tangent", std::move(next), std::move(stacked));
    LoopArrays tangents(carries.size() + outs.size(), ArrayAccess::unset());
    for (std::size_t k = 0; k < places.size(); ++k)
      tangents[places[k]] = std::move(k < numbers.size() ? done.carry[k] : done.ys[k - numbers.size()]);
    return tangents;
  }
}

}  // namespace detail
NAX_END
