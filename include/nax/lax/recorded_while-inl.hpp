#pragma once

#include "nax/lax/loop_draft-inl.hpp"

// while_loop while jit records a program.
//
// How many turns there will be is not known, so that no turn's values are kept. A derivative along tangents
// is a while_loop of its own, whose carries are those of the first and their tangents: its condition and its
// body begin with the steps of the first, copied, and a sweep over the body's nodes follows. Values that
// these nodes hold are found at the copies' addresses. Where that sweep is recorded in turn, its loop has a
// node over the same turns' nodes and its own. Cotangents would need the turns in reverse: their sweep is not
// recorded.
NAX_BEGIN
namespace detail {

// The condition, or the body, after its recording.
class WhilePart final : public program::EndedBody {
 public:
  enum class Kind : unsigned char { condition, body };
  WhilePart(Kind kind, std::unique_ptr<program::BodyRecording> recorded,
            std::shared_ptr<program::WhileWork> work, std::shared_ptr<program::BodyFamily> family,
            std::vector<int> arguments, std::vector<int> results)
      : EndedBody(std::move(recorded), std::move(family), std::move(arguments), std::move(results)),
        kind_(kind),
        work_(std::move(work)) {}

  // Only a copy of the steps gives values.
  bool place(program::Recorder& other, const void* address, program::Place& to) override {
    const std::size_t known = other.rows.size();
    const bool own = EndedBody::place(other, address, to);
    if (other.rows.size() != known) refuse();
    return own;
  }

 private:
  [[noreturn]] static void refuse() {
    throw NotRecordable("jit: values of a while_loop's turns are used outside of them, and are not kept");
  }
  const program::Work* work() const override { return work_.get(); }
  Rows keep(int) override { refuse(); }
  void take(std::shared_ptr<const program::Program> program) override {
    (kind_ == Kind::body ? work_->body : work_->condition) = std::move(program);
  }
  Kind kind_;
  std::shared_ptr<program::WhileWork> work_;
};

// Writes the steps of an ended part down in the recording that goes on, of these arrays for its arguments.
// Its values are then found at the copies' addresses.
inline void copy_steps(WhilePart& part, const LoopArrays& arguments, const LoopArrays& given) {
  const program::Recorder& from = part.recorder();
  program::Recorder& to = program::Recorder::current();
  if (!from.bodies.empty())
    throw NotRecordable("jit: a loop within a while_loop that is differentiated cannot be recorded");
  std::vector<int> copies(from.slots.size(), -1);
  const auto copy_of = [&](int slot) -> int& { return copies[static_cast<std::size_t>(slot)]; };
  for (std::size_t k = 0; k < arguments.size(); ++k)
    copy_of(part.recorder().place(device_data(arguments[k])).slot) = to.place(device_data(given[k])).slot;
  for (program::Step step : from.steps) {
    for (program::Operand& x : step.operands) {
      const int slot = x.place.slot;
      if (slot < 0) continue;
      const program::Slot& s = from.slots[static_cast<std::size_t>(slot)];
      if (s.kind == program::Slot::Kind::constant) {
        x.place = {program::Place::constant,
                   x.place.offset + static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(s.data))};
      } else if (const int outer = part.body().outer_slot(slot); outer >= 0) {
        const program::Place there = to.place(part.owner().address(outer));
        x.place = {there.slot, there.offset + x.place.offset};
      } else {
        if (copy_of(slot) < 0) {
          to.allocate(s.bytes);
          copy_of(slot) = static_cast<int>(to.slots.size()) - 1;
        }
        x.place.slot = copy_of(slot);
      }
    }
    to.add(std::move(step));
  }
  const std::vector<program::Recorder::Row> known = from.rows;  // of parts whose steps are copies there
  for (std::size_t slot = 0; slot < copies.size(); ++slot)
    if (copies[slot] >= 0) to.rows.push_back({copies[slot], &part, static_cast<int>(slot)});
  for (const program::Recorder::Row& r : known)
    if (const int slot = copy_of(part.body().resolved({r.slot, 0}).slot); slot >= 0)
      to.rows.push_back({slot, r.body, r.from});
}

// Condition and body of a while_loop, and what stands in them for its carries.
struct WhileParts {
  std::shared_ptr<WhilePart> body, condition;
  LoopArrays inside, asked;  // the carries in the body and in the condition
  LoopArrays after;          // the carries behind the body
  ArrayBase answer = ArrayAccess::unset();
};

// A while_loop whose body is being recorded.
class WhileDraft : BodyDraft {
 public:
  WhileDraft(std::shared_ptr<BodyKin> kin, Watchers watched) : BodyDraft(std::move(kin), watched) {}

  // The body's argument: a carry that begins as `initial`, with zeros where that is unset.
  ArrayBase add_carry(const ArrayBase& initial, DType dtype, const Frame& frame) {
    initial_.push_back(initial);
    parts_.inside.push_back(argument(dtype, frame, watched_));
    return parts_.inside.back();
  }

  // The last carries, of the carries behind the body, while the answer that condition(carries) gives is true.
  LoopArrays finish(const char* name, LoopArrays after,
                    FunctionRef<ArrayBase(LoopArrays& carries)> condition);
  WhileParts& parts() { return parts_; }
  // Where the body's nodes lie, of the while_loop's node.
  Tape* tape() const { return tape_; }
  BodyKin::Nodes keep_nodes() {
    nodes_.keep();
    return {begin_, static_cast<BodyBegin&>((*tape_)[begin_]).end, nullptr};
  }

 private:
  std::shared_ptr<WhilePart> part(WhilePart::Kind kind, std::unique_ptr<program::BodyRecording> recorded,
                                  const LoopArrays& carries, const std::vector<int>& results,
                                  program::Operands& operands, std::vector<int>& captured);

  std::shared_ptr<program::WhileWork> work_ = std::make_shared<program::WhileWork>();
  LoopArrays initial_;
  WhileParts parts_;
};

inline std::shared_ptr<WhilePart> WhileDraft::part(WhilePart::Kind kind,
                                                   std::unique_ptr<program::BodyRecording> recorded,
                                                   const LoopArrays& carries, const std::vector<int>& results,
                                                   program::Operands& operands, std::vector<int>& captured) {
  std::vector<int> arguments;
  for (const ArrayBase& c : carries) arguments.push_back(recorded->slot_of(c));
  for (const program::Recorder::Capture& c : recorded->captured(results)) {
    captured.push_back(operands.read_slot(c.from));
    arguments.push_back(c.slot);
  }
  return std::make_shared<WhilePart>(kind, std::move(recorded), work_, kin_->bodies, std::move(arguments),
                                     results);
}

inline LoopArrays WhileDraft::finish(const char* name, LoopArrays after,
                                     FunctionRef<ArrayBase(LoopArrays& carries)> condition) {
  std::vector<int> results, answers;
  for (std::size_t c = 0; c < after.size(); ++c)
    results.push_back(body_->result(after[c], layout_of(parts_.inside[c])));
  parts_.after = std::move(after);
  end(program::Turns::unknown);
  auto asks = std::make_unique<program::BodyRecording>(kin_->bodies);
  {
    const BodyNodes none(tape_);
    for (const ArrayBase& c : parts_.inside) parts_.asked.push_back(asks->argument(c.dtype(), layout_of(c)));
    LoopArrays inputs = parts_.asked;
    parts_.answer = constant(condition(inputs));
    answers.push_back(asks->result(parts_.answer, layout_of(parts_.answer)));
  }
  work_->answers = static_cast<std::size_t>(layout_of(parts_.answer).size());
  asks->end(program::Turns::one_or_more);  // the condition is asked at least once

  program::Operands operands;
  LoopArrays done;
  for (std::size_t c = 0; c < parts_.inside.size(); ++c) {
    const ArrayBase& inside = parts_.inside[c];
    const Frame& frame = layout_of(inside);
    const ArrayBase from =
        run_over(ArrayAccess::buffer(initial_[c]) ? as_dtype(initial_[c], inside.dtype())
                                                  : zeros_over(inside.dtype(), frame, program::device),
                 frame);
    done.push_back(allocate(inside.dtype(), frame, program::device));
    const auto bytes = layout_of(inside).size() * static_cast<std::int64_t>(dtype_size(inside.dtype()));
    const int initial = operands.read(from), result = operands.write(done.back());
    work_->carries.push_back({initial, result, operands.write_bytes(static_cast<std::size_t>(bytes)), bytes});
  }
  parts_.condition = part(WhilePart::Kind::condition, std::move(asks), parts_.asked, answers, operands,
                          work_->condition_captured);
  parts_.body =
      part(WhilePart::Kind::body, std::move(body_), parts_.inside, results, operands, work_->body_captured);
  operands.add_step(name, work_, false).deferred = true;
  program::Recorder& recorder = program::Recorder::current();
  recorder.bodies.push_back(parts_.condition);
  recorder.bodies.push_back(parts_.body);
  return done;
}

struct WhileNode final : BodyNode {
  using Input = LoopNode::Input;
  WhileParts parts;
  LoopArrays initial;                                       // of all carries
  std::vector<Input> inputs;                                // carries that are watched
  LoopArrays after;                                         // of these, behind the body
  std::size_t first = 0;                                    // of them that is a result
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // of nodes that a turn's sweep visits

  using BodyNode::BodyNode;
  void pull_call(LoopArrays, Reverse&) override {
    refuse_loop("jit: a while_loop whose gradient is taken cannot be recorded");
  }
  NAX_ENGINE_VIRTUAL LoopArrays push_call(Forward& sweep) override;

  // Records it, of the carries whose arrays in the body are watched. Those before `first` are no results.
  static void record(WhileDraft& draft, const std::shared_ptr<BodyKin>& kin, const LoopArrays& initial,
                     std::vector<Input> inputs, LoopArrays after,
                     std::vector<std::pair<std::size_t, std::size_t>> ranges, std::size_t first,
                     const std::vector<ArrayBase*>& results) {
    Tape& tape = *draft.tape();
    Watchers watched = 0;
    for (const ArrayBase& a : after) watched |= tape.watchers(serial_of(a));
    if (watched == 0) return;
    const BodyKin::Nodes nodes = draft.keep_nodes();
    WhileNode& node = emplace_body_node<WhileNode>(tape, watched, {kin}, {nodes});
    node.parts = std::move(draft.parts());
    node.initial = initial;
    for (ArrayBase& a : node.initial) ArrayAccess::serial(a) = 0;
    node.inputs = std::move(inputs), node.after = std::move(after);
    node.ranges = std::move(ranges), node.first = first;
    node.ranges.emplace_back(nodes.begin, nodes.end);
    record_outputs(tape, node, results);
  }
};

inline LoopArrays WhileNode::push_call(Forward& sweep) {
  Tape& tape = sweep.tape();
  MovedCarries moved(sweep, inputs, watched);
  const std::size_t primal = parts.inside.size();
  for (;;) {
    moved.widen();
    WhileDraft draft(kin[0], moved.watched);
    LoopArrays own, next = parts.after, first_carries = initial;
    for (std::size_t c = 0; c < primal; ++c)
      own.push_back(draft.add_carry(initial[c], parts.inside[c].dtype(), layout_of(parts.inside[c])));
    copy_steps(*parts.body, parts.inside, own);
    std::vector<std::size_t> numbers;  // of inputs that have tangents
    std::vector<Input> watched_inputs;
    LoopArrays watched_after, tangents;
    for (std::size_t c = 0; c < inputs.size(); ++c) {
      if (!moved.moves[c]) continue;
      numbers.push_back(c);
      tangents.push_back(draft.add_carry(moved.initial[c], moved.dtypes[c], moved.frames[c]));
      sweep.put(tape.find(serial_of(inputs[c].inside)), tangents.back());
      first_carries.push_back(moved.initial[c]);
    }
    for (const auto& [begin, end] : ranges) sweep.run(begin + 1, end);
    const bool settled = moved.settle(sweep, after);
    for (const auto& [begin, end] : ranges) sweep.forget(begin, end);
    if (!settled) continue;
    for (const std::size_t c : numbers) next.push_back(moved.after[c]);
    LoopArrays done = draft.finish("while_tangent", next, [&](LoopArrays& carries) {
      copy_steps(*parts.condition, parts.asked,
                 LoopArrays(carries.begin(), carries.begin() + static_cast<std::ptrdiff_t>(primal)));
      return parts.answer;
    });
    if (draft.tape()) {
      std::vector<ArrayBase*> results;
      watched_inputs = inputs, watched_after = after;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (serial_of(tangents[k]) == 0) continue;
        watched_inputs.push_back({tangents[k], serial_of(moved.initial[numbers[k]])});
        watched_after.push_back(next[primal + k]);
        results.push_back(&done[primal + k]);
      }
      record(draft, kin[0], first_carries, std::move(watched_inputs), std::move(watched_after), ranges,
             inputs.size(), results);
    }
    LoopArrays given(inputs.size() - first, ArrayAccess::unset());
    for (std::size_t k = 0; k < numbers.size(); ++k)
      if (numbers[k] >= first) given[numbers[k] - first] = std::move(done[primal + k]);
    return given;
  }
}

NAX_ENGINE LoopArrays record_while(LoopBody condition, LoopBody body, LoopArrays carry) {
  const auto kin = std::make_shared<BodyKin>();
  LoopCarries carries;
  for (const ArrayBase& c : carry) carries.add(c, c.dtype(), layout_of(c));
  if (recording.tape)
    for (const ArrayBase& c : carry) carries.watched |= recording.tape->watchers(serial_of(c));
  for (;;) {
    carries.widen();
    WhileDraft draft(kin, carries.watched);
    LoopArrays inputs;
    for (std::size_t c = 0; c < carry.size(); ++c)
      inputs.push_back(draft.add_carry(carries.initial[c], carries.dtypes[c], carries.frames[c]));
    LoopArrays after = body(inputs);
    if (!carries.are_settled(after)) continue;
    LoopArrays done =
        draft.finish("while", after, [&](LoopArrays& asked) { return std::move(condition(asked)[0]); });
    if (!draft.tape()) return done;
    std::vector<WhileNode::Input> watched;
    LoopArrays watched_after;
    std::vector<ArrayBase*> results;
    for (std::size_t c = 0; c < carry.size(); ++c) {
      const ArrayBase& inside = draft.parts().inside[c];
      if (serial_of(inside) == 0) continue;
      watched.push_back({inside, serial_of(carries.initial[c])});
      watched_after.push_back(after[c]);
      results.push_back(&done[c]);
    }
    WhileNode::record(draft, kin, carries.initial, std::move(watched), std::move(watched_after), {}, 0,
                      results);
    return done;
  }
}

}  // namespace detail
NAX_END
