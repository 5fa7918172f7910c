#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "nax/core/allocator.hpp"
#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace program {
namespace detail {

// Addresses that no program can have. Recordings take turns in them.
inline constexpr int address_bits = static_cast<int>(8 * sizeof(std::uintptr_t));
inline constexpr std::uintptr_t no_memory = std::uintptr_t(1) << (address_bits - 2);
inline std::uintptr_t next_addresses() {
  static std::atomic<std::uintptr_t> recordings{0};
  return no_memory + ((1 + recordings.fetch_add(1) % 8191) << (address_bits * 3 / 4));
}
inline bool has_no_memory(std::uintptr_t at) { return at >= no_memory && at < 2 * no_memory; }

}  // namespace detail

NAX_ENGINE std::shared_ptr<char[]> allocate_bytes(std::size_t bytes) {
  return {static_cast<char*>(HostAllocator::allocate(bytes)),
          [bytes](char* memory) { HostAllocator::deallocate(memory, bytes); }};
}

NAX_ENGINE Recorder::Recorder(Recorder* outer)
    : unrolls(outer && outer->unrolls),
      composes(outer && outer->composes),
      parent(outer),
      base_(detail::next_addresses()),
      next_(base_) {
  if constexpr (sizeof(std::uintptr_t) < 8)
    throw nax::detail::NotRecordable("jit: addresses of this machine are too short for a recording");
}

NAX_ENGINE Recorder& Recorder::current() {
  if (!is_recording()) nax::detail::throw_recording_ended();
  return *static_cast<Recorder*>(nax::detail::graph_recording->state);
}

NAX_ENGINE void* Recorder::allocate(std::size_t bytes) {
  begins_.push_back(next_);
  slots.push_back({bytes});
  void* const at = reinterpret_cast<void*>(next_);
  next_ += (bytes + 511) / 256 * 256;  // addresses behind the last element belong to it, too
  return at;
}

NAX_ENGINE Place Recorder::place(const void* address) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address);
  if (holds(address)) {
    const std::size_t slot =
        static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin() - 1);
    return {static_cast<int>(slot), static_cast<std::int64_t>(at - begins_[slot])};
  }
  if (detail::has_no_memory(at)) {
    if (!parent) throw nax::detail::NotRecordable("jit: an array of another recording is used");
    if (family)
      for (RecordedBody* const body : *family)
        if (Place row; body->place(*this, address, row)) return row;
    const Place from = parent->place(address);
    auto known =
        std::find_if(captures.begin(), captures.end(), [&](const Capture& c) { return c.from == from.slot; });
    if (known == captures.end()) {
      allocate(parent->slots[static_cast<std::size_t>(from.slot)].bytes);
      known = captures.insert(known, {static_cast<int>(slots.size()) - 1, from.slot});
    }
    return {known->slot, from.offset};
  }
  return {Place::constant, static_cast<std::int64_t>(at)};
}

NAX_ENGINE void Recorder::add(std::string name, std::initializer_list<Given> operands,
                              std::shared_ptr<const Work> work, std::string attributes) {
  Step step;
  step.name = std::move(name);
  for (const Given& x : operands)
    step.operands.push_back({place(x.address), x.written, x.dtype, x.shape, x.strides});
  step.work = std::move(work);
  step.comparable = !attributes.empty();
  step.attributes = std::move(attributes);
  add(std::move(step));
}

NAX_ENGINE void Recorder::add(Step step) {
  for (const Operand& x : step.operands)
    if (x.written &&
        std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.slot == x.place.slot; }))
      throw nax::detail::NotRecordable("jit: a loop's derivative writes over the loop's values");
  if (!anew_.empty()) read_behind_barriers(step);
  steps.push_back(std::move(step));
}

// ---- computing anew

// A slot's bytes.
NAX_ENGINE Operand Recorder::whole(int slot, bool written) const {
  const auto bytes = static_cast<std::int64_t>(slots[static_cast<std::size_t>(slot)].bytes);
  return {{slot, 0}, written, DType::uint8, Dims(1, bytes), Dims(1, 1)};
}

NAX_ENGINE void Recorder::begin_anew(const std::vector<ArrayBase>& after) {
  Anew part{static_cast<int>(slots.size()), {}, {}};
  for (const ArrayBase& a : after)
    if (const nax::detail::BufferRef& buffer = nax::detail::ArrayAccess::buffer(a);
        buffer && nax::detail::on_program(buffer->device))
      if (const Place at = place(buffer->address); at.slot >= 0) part.after.push_back(whole(at.slot, false));
  part.first = static_cast<int>(slots.size());
  anew_.push_back(std::move(part));
}

NAX_ENGINE int Recorder::behind_barrier(int slot) {
  Anew& part = anew_.back();
  for (const auto& [before, behind] : part.barriers)
    if (before == slot) return behind;
  const std::size_t bytes = slots[static_cast<std::size_t>(slot)].bytes;
  allocate(bytes);
  const int behind = static_cast<int>(slots.size()) - 1;
  Step step;
  step.name = barrier;
  step.operands = part.after;
  step.operands.insert(step.operands.begin(), {whole(slot, false), whole(behind, true)});
  const auto copy = [bytes](void* const* at) { std::memcpy(at[1], at[0], bytes); };
  step.work = std::make_shared<const detail::Closure<decltype(copy)>>(copy);
  steps.push_back(std::move(step));
  part.barriers.push_back({slot, behind});
  return behind;
}

NAX_ENGINE void Recorder::read_behind_barriers(Step& step) {
  const auto is = [](int slot) { return [slot](const auto& x) { return x.slot == slot; }; };
  for (Operand& x : step.operands) {
    const int slot = x.place.slot;
    const auto writes = [slot](const Operand& y) { return y.written && y.place.slot == slot; };
    // Captures and rows are given to a body: what was computed of them there is another body's.
    if (slot < 0 || slot >= anew_.back().first ||
        std::any_of(step.operands.begin(), step.operands.end(), writes) ||
        std::any_of(captures.begin(), captures.end(), is(slot)) ||
        std::any_of(rows.begin(), rows.end(), is(slot)))
      continue;
    x.place.slot = behind_barrier(slot);
  }
  for (const Operand& x : step.operands)
    if (x.written)
      for (Anew& part : anew_)
        std::erase_if(part.barriers, [&](const auto& b) { return b.first == x.place.slot; });
}

NAX_ENGINE void Recorder::fill(void* to, const void* from, std::size_t bytes) {
  const Dims shape(1, static_cast<std::int64_t>(bytes)), strides(1, 1);
  const Given target{to, true, DType::uint8, shape, strides};
  if (!from) {
    const auto clear = [bytes](void* const* at) { std::memset(at[0], 0, bytes); };
    return add("zeros", {target}, std::make_shared<const detail::Closure<decltype(clear)>>(clear), "zeros");
  }
  const std::shared_ptr<char[]> held = allocate_bytes(bytes);
  char* const data = held.get();
  std::memcpy(data, from, bytes);
  constants.push_back(held);
  const auto copy = [bytes](void* const* at) { std::memcpy(at[1], at[0], bytes); };
  add("constant", {{data, false, DType::uint8, shape, strides}, target},
      std::make_shared<const detail::Closure<decltype(copy)>>(copy), "copy");
}

NAX_ENGINE void Recorder::keep(nax::detail::Buffer& buffer) {
  if (!known_.insert(&buffer).second) return;
  buffer.references.fetch_add(1, std::memory_order_relaxed);
  kept.push_back(nax::detail::BufferRef(&buffer));
}

}  // namespace program
NAX_END
