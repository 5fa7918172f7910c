#pragma once

#include <algorithm>
#include <numeric>

#include "nax/core/allocator.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/record/loop.hpp"

NAX_BEGIN
namespace program {

NAX_ENGINE BodyRecording::BodyRecording(std::shared_ptr<const BodyFamily> family)
    : recording_(std::make_unique<Recording>()), recorder_(recording_->shared_recorder()) {
  recorder_->family = std::move(family);
}

NAX_ENGINE ArrayBase BodyRecording::argument(DType dtype, const Frame& frame) {
  ArrayBase a = nax::detail::allocate(dtype, frame, device);
  const int slot = slot_of(a);
  recorder().slots[static_cast<std::size_t>(slot)].kind = Slot::Kind::argument;
  known_.push_back({slot, {dtype, frame.shape}});
  return a;
}

NAX_ENGINE int BodyRecording::result(const ArrayBase& a, const Frame& frame) {
  using nax::detail::layout_of;
  const Place place = recorder().place(nax::detail::device_data(a));
  const auto known = [&](int slot) {
    return std::any_of(known_.begin(), known_.end(), [=](const auto& k) { return k.first == slot; }) ||
           std::any_of(recorder().captures.begin(), recorder().captures.end(),
                       [=](const Recorder::Capture& c) { return c.slot == slot; }) ||
           std::any_of(recorder().rows.begin(), recorder().rows.end(),
                       [=](const Recorder::Row& r) { return r.slot == slot; });
  };
  if (place.slot >= 0 && place.offset == 0 && !known(place.slot) &&
      static_cast<const Frame&>(layout_of(a)) == frame && layout_of(a).is_contiguous() &&
      nax::detail::ArrayAccess::buffer(a)->bytes ==
          static_cast<std::size_t>(frame.size()) * dtype_size(a.dtype())) {
    known_.push_back({place.slot, {a.dtype(), frame.shape}});
    return place.slot;
  }
  const ArrayBase own = nax::detail::allocate(a.dtype(), frame, device);
  const int slot = slot_of(own);
  known_.push_back({slot, {a.dtype(), frame.shape}});
  const Dims strides = nax::detail::strides_over(layout_of(a), frame);
  if (frame.size() > 0)
    backend::run(device,
                 ops::Copy{frame.shape,
                           {nax::detail::device_data(a), strides, a.dtype(), a.dtype()},
                           {nax::detail::device_data(own), layout_of(own).strides, a.dtype(), a.dtype()}});
  return slot;
}

NAX_ENGINE void BodyRecording::end(Turns turns) {
  const std::string refusal = recording_->refusal();
  recording_.reset();
  if (!refusal.empty()) throw nax::detail::NotRecordable(refusal);
  Recorder& own = recorder();
  // Arrays that the body used are not written over later either: a slot is written once.
  for (const nax::detail::BufferRef& b : own.kept)
    if (nax::detail::on_program(b->device)) outer().keep(*b.get());
  std::erase_if(own.kept, [](const nax::detail::BufferRef& b) { return nax::detail::on_program(b->device); });
  // Any value may be used later.
  std::vector<int> all(own.slots.size()), known;
  std::iota(all.begin(), all.end(), 0);
  detail::find_constants(own.slots, own.steps, all, own.constants);
  for (const auto& slot : known_) known.push_back(slot.first);
  renamed_ = detail::forward_copies(own.slots, own.steps, known);
  if (turns == Turns::one_or_more) hoist();
  for (const auto& held : own.constants) outer().constants.push_back(held);
  for (const nax::detail::BufferRef& b : own.kept) outer().keep(*b.get());
}

// Moves steps to the outer recording whose operands are captured ones and constants.
NAX_ENGINE void BodyRecording::hoist() {
  Recorder& own = recorder();
  const std::vector<int> written = detail::writers(own.slots, own.steps);
  std::vector<int> from(own.slots.size(), -1);
  for (const Recorder::Capture& c : own.captures) from[static_cast<std::size_t>(c.slot)] = c.from;
  const auto at = [](int slot) { return static_cast<std::size_t>(slot); };
  std::erase_if(own.steps, [&](Step& step) {
    if (step.unforeseen || step.checks || step.deferred) return false;
    int to = -1;
    for (const Operand& x : step.operands) {
      if (x.written) {
        if (to >= 0 || written[at(x.place.slot)] != 1) return false;
        to = x.place.slot;
      } else if (x.place.slot >= 0 && from[at(x.place.slot)] < 0 &&
                 own.slots[at(x.place.slot)].kind != Slot::Kind::constant) {
        return false;
      }
    }
    if (to < 0) return false;
    outer().allocate(own.slots[at(to)].bytes);
    from[at(to)] = static_cast<int>(outer().slots.size()) - 1;
    own.captures.push_back({to, from[at(to)]});
    for (Operand& x : step.operands) {
      if (x.place.slot < 0) continue;
      const Slot& s = own.slots[at(x.place.slot)];
      if (s.kind == Slot::Kind::constant)
        x.place = {Place::constant,
                   x.place.offset + static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(s.data))};
      else
        x.place.slot = from[at(x.place.slot)];
    }
    outer().add(std::move(step));
    return true;
  });
}

NAX_ENGINE std::vector<Recorder::Capture> BodyRecording::captured(const std::vector<int>& results) const {
  std::vector<Recorder::Capture> all;
  for (const Recorder::Capture& c : recorder_->captures) {
    bool used = std::count(results.begin(), results.end(), c.slot) > 0;
    for (const Step& step : recorder_->steps)
      for (const Operand& x : step.operands) used = used || x.place.slot == c.slot;
    if (used) all.push_back(c);
  }
  return all;
}

NAX_ENGINE Body BodyRecording::body(std::vector<int> arguments, const std::vector<int>& results) const {
  Body made;
  for (const Recorder::Capture& c : captured(results)) {
    arguments.push_back(c.slot);
    made.captured.push_back(c.from);
  }
  made.program = program(arguments, results);
  return made;
}

NAX_ENGINE std::shared_ptr<const Program> BodyRecording::program(const std::vector<int>& arguments,
                                                                 const std::vector<int>& results) const {
  for (const auto& body : recorder_->bodies) body->complete();
  Recorded content = *recorder_;
  const auto bytes_of = [&](int slot) { return static_cast<std::int64_t>(bytes(slot)); };
  const auto is_known = [&](int slot) {
    return std::find_if(known_.begin(), known_.end(), [&](const auto& k) { return k.first == slot; });
  };
  for (const int slot : arguments) {
    Slot& s = content.slots[static_cast<std::size_t>(slot)];
    s.kind = Slot::Kind::argument;
    s.number = static_cast<int>(content.arguments.size());
    const auto known = is_known(slot);
    if (known == known_.end())
      content.arguments.push_back({slot, DType::uint8, Dims(1, bytes_of(slot))});
    else
      content.arguments.push_back({slot, known->second.first, known->second.second});
  }
  std::vector<Output> outputs;
  for (const int slot : results) {
    Output out;
    out.slot = slot;
    const auto known = is_known(slot);
    Frame frame;
    frame.shape = known == known_.end() ? Dims(1, bytes_of(slot)) : known->second.second;
    out.dtype = known == known_.end() ? DType::uint8 : known->second.first;
    static_cast<Frame&>(out.layout) = frame;
    out.layout.strides = Layout::row_major(frame.shape);
    outputs.push_back(std::move(out));
  }
  return std::make_shared<const Program>(std::move(content), std::move(outputs));
}

// ---- running

namespace detail {
inline char* moved(void* at, std::int64_t bytes) { return static_cast<char*>(at) + bytes; }
inline void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
}  // namespace detail

NAX_ENGINE void LoopWork::run(void* const* at) const {
  using Motion = Program::Runner::Motion;
  const std::size_t count = carries.size();
  std::vector<void*> start(count + in.size(), nullptr);
  std::vector<Motion> from, to;
  const auto along = [](char* first, std::int64_t step) { return Motion{first, first + step, 2 * step}; };
  for (const Carried& c : carries) {
    char *const other = static_cast<char*>(at[c.other]), *const result = static_cast<char*>(at[c.result]);
    if (c.step > 0) {
      detail::copy_bytes(other, at[c.initial], c.bytes);
      from.push_back(along(other, c.step));
      to.push_back(along(other + c.step, c.step));
    } else {  // the last turn writes to the result
      const bool odd = turns % 2 != 0;
      start[from.size()] = at[c.initial];
      from.push_back({odd ? other : result, odd ? result : other, 0});
      to.push_back({odd ? result : other, odd ? other : result, 0});
    }
  }
  const auto add = [&](const std::vector<Moving>& list, std::vector<Motion>& motions) {
    for (const Moving& m : list) {
      const std::int64_t step = reverse ? -m.step : m.step, first = reverse ? (turns - 1) * m.step : 0;
      motions.push_back(along(detail::moved(at[m.operand], m.offset + first), step));
    }
  };
  add(in, from);
  add(out, to);
  Program::Runner(*body).run_turns(turns, start.data(), from.data(), to.data());
  for (const Carried& c : carries) {
    if (c.step > 0)
      detail::copy_bytes(at[c.result], detail::moved(at[c.other], turns * c.step), c.bytes);
    else if (turns == 0)
      detail::copy_bytes(at[c.result], at[c.initial], c.bytes);
  }
}

NAX_ENGINE void WhileWork::run(void* const* at) const {
  Program::Runner decide(*condition), step(*body);
  const std::size_t count = carries.size();
  std::vector<void*> from(count), to(count), asked(count), given(count);
  for (const int operand : condition_captured) asked.push_back(at[operand]);
  for (const int operand : body_captured) given.push_back(at[operand]);
  for (std::size_t c = 0; c < count; ++c) from[c] = at[carries[c].initial];
  const std::unique_ptr<bool[]> more(new bool[answers + 64]);
  for (bool odd = true;; odd = !odd) {
    std::copy(from.begin(), from.end(), asked.begin());
    void* const answer = more.get();
    decide.run(asked.data(), &answer);
    if (std::find(more.get(), more.get() + answers, true) == more.get() + answers) break;
    std::copy(from.begin(), from.end(), given.begin());
    for (std::size_t c = 0; c < count; ++c) to[c] = at[odd ? carries[c].result : carries[c].other];
    step.run(given.data(), to.data());
    from = to;
  }
  for (std::size_t c = 0; c < count; ++c)
    if (from[c] != at[carries[c].result])
      detail::copy_bytes(at[carries[c].result], from[c], carries[c].bytes);
}

NAX_ENGINE void BranchWork::run(void* const* at) const {
  std::int64_t number = *static_cast<const std::int64_t*>(at[index]);
  number = std::clamp<std::int64_t>(number, 0, static_cast<std::int64_t>(branches.size()) - 1);
  const std::size_t which = static_cast<std::size_t>(number);
  std::vector<void*> from, to;
  for (const Moving& m : captured[which]) from.push_back(detail::moved(at[m.operand], m.offset));
  for (const int operand : results) to.push_back(at[operand]);
  for (const int operand : kept[which]) to.push_back(at[operand]);
  Program::Runner(*branches[which]).run(from.data(), to.data());
}

// ---- the step

NAX_ENGINE int Operands::read(const ArrayBase& a) {
  list_.push_back({Recorder::current().place(nax::detail::device_data(a)), false, a.dtype(),
                   nax::detail::layout_of(a).shape, nax::detail::layout_of(a).strides});
  return static_cast<int>(list_.size()) - 1;
}
NAX_ENGINE int Operands::read_slot(int slot) {
  const std::size_t bytes = Recorder::current().slots[static_cast<std::size_t>(slot)].bytes;
  list_.push_back({{slot, 0}, false, DType::uint8, Dims(1, static_cast<std::int64_t>(bytes)), Dims(1, 1)});
  return static_cast<int>(list_.size()) - 1;
}
NAX_ENGINE int Operands::write(const ArrayBase& a) {
  const int operand = read(a);
  list_.back().written = true;
  return operand;
}
NAX_ENGINE int Operands::write_bytes(std::size_t bytes, std::size_t reserved) {
  Recorder& recorder = Recorder::current();
  recorder.allocate(std::max(bytes, reserved));
  recorder.slots.back().bytes = bytes;
  const int operand = read_slot(static_cast<int>(recorder.slots.size()) - 1);
  list_.back().written = true;
  return operand;
}
NAX_ENGINE std::pair<int, std::int64_t> Operands::read_at(const char* address, std::size_t bytes) {
  const Place place = Recorder::current().place(address);
  if (place.slot >= 0) return {read_slot(place.slot), place.offset};
  list_.push_back({place, false, DType::uint8, Dims(1, static_cast<std::int64_t>(bytes)), Dims(1, 1)});
  return {static_cast<int>(list_.size()) - 1, 0};
}
NAX_ENGINE Step& Operands::add_step(const char* name, std::shared_ptr<const Work> work, bool unforeseen) {
  Step step;
  step.name = name;
  step.operands = std::move(list_);
  step.work = std::move(work);
  step.unforeseen = unforeseen;
  Recorder::current().add(std::move(step));
  return Recorder::current().steps.back();
}

}  // namespace program
NAX_END
