#pragma once

#include "nax/lax/recorded_products-inl.hpp"

NAX_BEGIN
namespace detail {

// An argument of a body. It keeps the cotangent that a sweep leaves.
struct BodyInput final : ResultNode {
  Watchers watched;
  ArrayBase cotangent = ArrayAccess::unset();
  explicit BodyInput(Watchers w) : watched(w) {}
  void pull(const ArrayBase& g, Reverse&) override { cotangent = g; }
  void push(Forward&, std::size_t) override {}
  Watchers watchers(const Tape&) const override { return watched; }
};

// Carries along the tangents of a loop's. Those that have none get one when the body gives them one.
struct MovedCarries : LoopCarries {
  std::vector<char> moves;  // by carry: has it a tangent?
  LoopArrays after;         // tangents behind the body, zeros for others

  MovedCarries(Forward& sweep, const std::vector<LoopNode::Input>& inputs, Watchers watching) {
    for (const LoopNode::Input& c : inputs) {
      const ArrayBase* const t = sweep.find(c.outside);
      moves.push_back(t != nullptr);
      const Frame& frame = layout_of(c.inside);
      add(t ? *t : ArrayAccess::unset(), c.inside.dtype(), t ? wider(frame, layout_of(*t)) : frame);
    }
    if (recording.tape) watched = watching;
  }
  // Takes the tangents of these arrays, the carries behind the body. False if the body is to be recorded
  // anew.
  bool settle(Forward& sweep, const LoopArrays& arrays) {
    bool settled = true;
    after.clear();
    for (std::size_t c = 0; c < arrays.size(); ++c) {
      const ArrayBase* const t = sweep.find(serial_of(arrays[c]));
      if (t && !moves[c]) moves[c] = 1, settled = false;
      after.push_back(t ? *t : zeros_over(dtypes[c], frames[c], program::device));
    }
    return are_settled(after) && settled;
  }
};

// A body that is being recorded, and the nodes that the tape gets meanwhile.
class BodyDraft {
 protected:
  BodyDraft(std::shared_ptr<BodyKin> kin, Watchers watched)
      : kin_(std::move(kin)),
        watched_(watched),
        tape_(recording.tape),
        nodes_(tape_),
        body_(std::make_unique<program::BodyRecording>(kin_->bodies)) {
    if (!tape_) return;
    begin_ = tape_->size();
    tape_->emplace<BodyBegin>();
  }
  // An argument of the body, with a node where a sweep may want its cotangent.
  ArrayBase argument(DType dtype, const Frame& frame, Watchers watched) {
    ArrayBase a = body_->argument(dtype, frame);
    if (tape_ && watched && is_inexact(dtype)) ArrayAccess::serial(a) = tape_->emplace<BodyInput>(watched);
    return a;
  }
  void end(program::Turns turns) {
    if (tape_) static_cast<BodyBegin&>((*tape_)[begin_]).end = tape_->size();
    body_->end(turns);
  }

  std::shared_ptr<BodyKin> kin_;
  Watchers watched_;
  Tape* tape_;
  BodyNodes nodes_;
  std::unique_ptr<program::BodyRecording> body_;
  std::size_t begin_ = 0;
};

// A loop whose body is being recorded: its carries, its rows and, at the end, its step and its node.
class LoopDraft : BodyDraft {
 public:
  LoopDraft(std::shared_ptr<BodyKin> kin, std::int64_t turns, bool reverse, Watchers watched)
      : BodyDraft(std::move(kin), watched), turns_(turns), reverse_(reverse) {}

  // The body's argument: a carry that begins as `initial`, with zeros where that is unset.
  ArrayBase add_carry(const ArrayBase& initial, DType dtype, const Frame& frame) {
    carries_.push_back({initial, argument(dtype, frame, watched_)});
    return carries_.back().inside;
  }
  // A sum that begins at zero: of `term` of each turn.
  ArrayBase add_sum(const ArrayBase& term) {
    if (first_sum_ == none) first_sum_ = carries_.size();
    ArrayBase sum = add_carry(ArrayAccess::unset(), term.dtype(), layout_of(term));
    add_to(sum, term);
    return sum;
  }
  // A row of the rows.
  ArrayBase add_rows(const ArrayBase& rows) {
    const Watchers watched = tape_ ? tape_->watchers(serial_of(rows)) : Watchers{0};
    rows_.push_back({rows, argument(rows.dtype(), row_of(rows), watched)});
    return rows_.back().inside;
  }

  // The last carries and the rows, of the outputs of the body for each.
  RecordedScan finish(const char* name, LoopArrays after, LoopArrays outs);

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct Argument {
    ArrayBase given, inside;
  };

  int slot_of(const ArrayBase& argument) const { return body_->recorder().place(device_data(argument)).slot; }
  void record_node(const LoopArrays& after, const LoopArrays& outs, RecordedScan& done);

  std::int64_t turns_;
  bool reverse_;
  std::vector<Argument> carries_, rows_;
  std::size_t first_sum_ = none;
};

inline RecordedScan LoopDraft::finish(const char* name, LoopArrays after, LoopArrays outs) {
  RecordedScan done;
  std::vector<int> arguments, results, row_slots;
  const auto bytes_of = [](const ArrayBase& a) {
    return layout_of(a).size() * static_cast<std::int64_t>(dtype_size(a.dtype()));
  };
  for (const Argument& c : carries_) arguments.push_back(slot_of(c.inside));
  for (const Argument& x : rows_) row_slots.push_back(slot_of(x.inside));
  for (std::size_t c = 0; c < after.size(); ++c)
    results.push_back(body_->result(after[c], layout_of(carries_[c].inside)));
  for (const ArrayBase& out : outs) results.push_back(body_->result(out, layout_of(out)));
  end(program::Turns::one_or_more);

  // Values of other loops that the body needs are theirs to keep.
  std::vector<SlotRows> sources;
  LoopArrays given;
  for (const Argument& x : rows_) given.push_back(x.given);
  given = all_rows(given, turns_);
  for (std::size_t k = 0; k < rows_.size(); ++k)
    sources.push_back({row_slots[k], {device_data(given[k]), bytes_of(rows_[k].inside)}});
  for (const RowProduct& p : products_of_rows(*body_, row_slots, given, turns_))
    sources.push_back({p.slot, {device_data(p.rows), static_cast<std::int64_t>(body_->bytes(p.slot))}});
  for (const program::Recorder::Row& r : body_->recorder().rows)
    sources.push_back({r.slot, r.body->rows(r.from)});

  // Sums of products are computed of all turns at once.
  struct Sum {
    std::size_t carry;
    program::TurnProduct product;
  };
  std::vector<Sum> sums;
  std::vector<int> known;
  for (const SlotRows& s : sources) known.push_back(s.slot);
  std::vector<std::size_t> carried;  // by number in the step
  for (std::size_t c = 0; c < carries_.size(); ++c) {
    std::optional<program::TurnProduct> product;
    if (c >= first_sum_ && !tape_) product = body_->take_sum(arguments[c], results[c], known);
    if (product)
      sums.push_back({c, std::move(*product)});
    else
      carried.push_back(c);
  }
  for (std::size_t i = sums.size(); i-- > 0;) {
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(sums[i].carry));
    results.erase(results.begin() + static_cast<std::ptrdiff_t>(sums[i].carry));
  }

  auto work = std::make_shared<program::LoopWork>();
  work->turns = turns_;
  work->reverse = reverse_;
  program::Operands operands;
  std::vector<int> others;
  for (const Argument& c : carries_) {
    const Frame& frame = layout_of(c.inside);
    done.carry.push_back(allocate(c.inside.dtype(), frame, program::device));
  }
  for (const std::size_t c : carried) {
    const ArrayBase& inside = carries_[c].inside;
    const Frame& frame = layout_of(inside);
    const ArrayBase from =
        run_over(ArrayAccess::buffer(carries_[c].given) ? as_dtype(carries_[c].given, inside.dtype())
                                                        : zeros_over(inside.dtype(), frame, program::device),
                 frame);
    const std::int64_t bytes = bytes_of(inside);
    program::Carried one{operands.read(from), operands.write(done.carry[c]), 0, bytes};
    one.other = operands.write_bytes(static_cast<std::size_t>(bytes),
                                     static_cast<std::size_t>((turns_ + 1) * program::padded(bytes)));
    others.push_back(operands.slot(one.other));
    work->carries.push_back(one);
  }
  for (const SlotRows& s : sources) {
    const auto [operand, offset] =
        operands.read_at(s.rows.first, static_cast<std::size_t>(turns_ * std::abs(s.rows.step)));
    work->in.push_back({operand, offset, s.rows.step});
    arguments.push_back(s.slot);
  }
  const std::vector<int> out_slots(results.begin() + static_cast<std::ptrdiff_t>(carried.size()),
                                   results.end());
  for (const ArrayBase& out : outs) {
    done.ys.push_back(new_rows(out.dtype(), layout_of(out), turns_));
    work->out.push_back({operands.write(done.ys.back()), 0, bytes_of(out)});
  }
  for (const program::Recorder::Capture& c : body_->captured(results)) {
    work->in.push_back({operands.read_slot(c.from), 0, 0});
    arguments.push_back(c.slot);
  }
  operands.add_step(name, work, false).deferred = true;

  program::Recorder& recorder = program::Recorder::current();
  const auto loop = std::make_shared<program::Loop>(std::move(body_), work, kin_->bodies, arguments, results);
  recorder.bodies.push_back(loop);
  for (std::size_t k = 0; k < carried.size(); ++k) {
    const std::int64_t step = program::padded(work->carries[k].bytes);
    // Turn i of n comes at place i, or n - 1 - i, of the history.
    const std::int64_t by = reverse_ ? -step : step;
    char* const first = recorder.address(others[k]) + (reverse_ ? (turns_ - 1) * step : 0);
    loop->add_rows(arguments[k], {first, by}, static_cast<int>(k));
    loop->add_rows(results[k], {first + step, by}, static_cast<int>(k));
  }
  for (const SlotRows& s : sources) loop->add_rows(s.slot, s.rows);
  for (std::size_t k = 0; k < outs.size(); ++k)
    loop->add_rows(out_slots[k], {device_data(done.ys[k]), bytes_of(outs[k])});
  for (const Sum& s : sums) {
    TurnRows a = loop->rows(s.product.a.slot), b = loop->rows(s.product.b.slot);
    a.first += s.product.a.offset, b.first += s.product.b.offset;
    multiply_turns(s.product.form, turns_, a, b, {device_data(done.carry[s.carry]), 0}, true);
  }
  if (tape_) record_node(after, outs, done);
  return done;
}

inline void LoopDraft::record_node(const LoopArrays& after, const LoopArrays& outs, RecordedScan& done) {
  Watchers watched = 0;
  for (const LoopArrays* const all : {&after, &outs})
    for (const ArrayBase& a : *all) watched |= tape_->watchers(serial_of(a));
  if (watched == 0) return;
  nodes_.keep();
  const std::size_t end = static_cast<BodyBegin&>((*tape_)[begin_]).end;
  LoopNode& node = emplace_body_node<LoopNode>(*tape_, watched, {kin_}, {{begin_, end, nullptr}});
  node.turns = turns_, node.reverse = reverse_;
  std::vector<ArrayBase*> results;
  for (std::size_t c = 0; c < carries_.size(); ++c)
    if (serial_of(carries_[c].inside)) {
      node.carries.push_back({carries_[c].inside, serial_of(carries_[c].given)});
      node.after.push_back(after[c]);
      results.push_back(&done.carry[c]);
    }
  for (const Argument& x : rows_)
    if (serial_of(x.inside)) node.rows.push_back({x.inside, serial_of(x.given)});
  for (std::size_t k = 0; k < outs.size(); ++k)
    if (is_inexact(outs[k].dtype()) && tape_->watchers(serial_of(outs[k]))) {
      node.outs.push_back(outs[k]);
      results.push_back(&done.ys[k]);
    }
  record_outputs(*tape_, node, results);
}

}  // namespace detail
NAX_END
