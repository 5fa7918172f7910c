#pragma once

#include <algorithm>

#include "nax/program/record/ended_body.hpp"

NAX_BEGIN
namespace program {

NAX_ENGINE bool EndedBody::place(Recorder& other, const void* address, Place& to) {
  Recorder& own = recorder();
  if (!own.holds(address)) return false;
  const Place from = body_->resolved(own.place(address));
  const Slot& s = own.slots[static_cast<std::size_t>(from.slot)];
  if (s.kind == Slot::Kind::constant) {
    to = {Place::constant, from.offset + static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(s.data))};
  } else if (const int outer = body_->outer_slot(from.slot); outer >= 0) {
    to = other.place(owner().address(outer) + from.offset);
  } else {
    auto known = std::find_if(other.rows.begin(), other.rows.end(),
                              [&](const Recorder::Row& r) { return r.body == this && r.from == from.slot; });
    if (known == other.rows.end()) {
      other.allocate(s.bytes);
      known = other.rows.insert(known, {static_cast<int>(other.slots.size()) - 1, this, from.slot});
    }
    to = {known->slot, from.offset};
  }
  return true;
}

NAX_ENGINE EndedBody::EndedBody(std::unique_ptr<BodyRecording> body, std::shared_ptr<BodyFamily> family,
                                std::vector<int> arguments, std::vector<int> results)
    : family_(std::move(family)),
      body_(std::move(body)),
      arguments_(std::move(arguments)),
      results_(std::move(results)) {
  family_->push_back(this);
}
NAX_ENGINE EndedBody::~EndedBody() { std::erase(*family_, this); }

NAX_ENGINE Step& EndedBody::step() {
  std::vector<Step>& steps = owner().steps;
  return *std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.work.get() == work(); });
}

NAX_ENGINE std::pair<int, char*> EndedBody::add_result(int slot, std::int64_t bytes) {
  owner().allocate(static_cast<std::size_t>(bytes));
  const int to = static_cast<int>(owner().slots.size()) - 1;
  std::vector<Operand>& operands = step().operands;
  operands.push_back({{to, 0}, true, DType::uint8, Dims(1, bytes), Dims(1, 1)});
  results_.push_back(slot);
  return {static_cast<int>(operands.size()) - 1, owner().address(to)};
}

NAX_ENGINE void EndedBody::grow(int operand, std::int64_t bytes) {
  Operand& x = step().operands[static_cast<std::size_t>(operand)];
  owner().slots[static_cast<std::size_t>(x.place.slot)].bytes = static_cast<std::size_t>(bytes);
  x.shape = Dims(1, bytes);
}

NAX_ENGINE EndedBody::Rows EndedBody::rows(int slot) {
  if (complete_) throw nax::detail::NotRecordable("jit: values of a body are used after its recording");
  for (const Known& known : known_) {
    if (known.slot != slot) continue;
    if (known.carry >= 0) keep_history(known.carry);
    return known.rows;
  }
  known_.push_back({slot, keep(slot), -1});
  return known_.back().rows;
}

NAX_ENGINE void EndedBody::complete() {
  if (complete_) return;
  complete_ = true;
  const std::shared_ptr<const Program> program = body_->program(arguments_, results_);
  Step& own = step();
  own.unforeseen = own.unforeseen || program->is_unforeseen();
  own.deferred = false;
  take(program);
}

NAX_ENGINE void Loop::keep_history(int number) {
  Carried& carry = work_->carries[static_cast<std::size_t>(number)];
  if (carry.step > 0) return;
  carry.step = padded(carry.bytes);
  grow(carry.other, (work_->turns + 1) * carry.step);
}
NAX_ENGINE EndedBody::Rows Loop::keep(int slot) {
  const std::int64_t row = padded(static_cast<std::int64_t>(body().bytes(slot)));
  const auto [operand, first] = add_result(slot, work_->turns * row);
  work_->out.push_back({operand, 0, row});
  return {first, row};
}
NAX_ENGINE void Loop::take(std::shared_ptr<const Program> program) { work_->body = std::move(program); }

NAX_ENGINE EndedBody::Rows Branch::keep(int slot) {
  const auto [operand, first] = add_result(slot, static_cast<std::int64_t>(body().bytes(slot)));
  work_->kept[number_].push_back(operand);
  return {first, 0};
}
NAX_ENGINE void Branch::take(std::shared_ptr<const Program> program) {
  work_->branches[number_] = std::move(program);
}

}  // namespace program
NAX_END
