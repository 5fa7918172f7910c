#pragma once

#include <algorithm>

#include "nax/tape/tape.hpp"

NAX_BEGIN
namespace detail {

struct Tape::Chunk {
  alignas(std::max_align_t) unsigned char bytes[chunk_bytes];
  Chunk() {}  // not zeroed
};

NAX_ENGINE Tape::Tape() : last_{next_serial(), 0} {}
NAX_ENGINE Tape::~Tape() {
  pop(0);
  for (Chunk* const chunk : chunks_) delete chunk;
  delete[] nodes_;
}

NAX_COMPILED_ONCE void Tape::grow() {
  const std::size_t capacity = std::max<std::size_t>(64, 2 * capacity_);
  Entry* const grown = new Entry[capacity];
  std::copy_n(nodes_, size_, grown);
  delete[] std::exchange(nodes_, grown);
  capacity_ = capacity;
}

NAX_COMPILED_ONCE void Tape::leave_segment(std::size_t index) {
  if (serial_counter < last_.serial + (index - last_.index)) serial_counter = draw_range();
  if (last_.index != index) earlier_.push_back(last_);
  last_ = {serial_counter, index};
}

NAX_COMPILED_ONCE std::size_t Tape::find_earlier(std::uint64_t serial) const {
  const auto after =
      std::upper_bound(earlier_.begin(), earlier_.end(), serial,
                       [](std::uint64_t s, const Segment& segment) { return s < segment.serial; });
  if (after == earlier_.begin()) return npos;
  const Segment& segment = *(after - 1);
  const std::uint64_t i = serial - segment.serial + segment.index;
  return i < (after == earlier_.end() ? last_ : *after).index ? i : npos;
}

NAX_COMPILED_ONCE void Tape::begin_chunk(std::size_t bytes) {
  if (bytes > chunk_bytes) throw Error("tape: a node is larger than a chunk of the arena");
  const std::uint32_t next = chunks_.empty() ? 0 : chunk_ + 1;
  if (next == chunks_.size()) {
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back(new Chunk);
  }
  use_chunk(next);
}
NAX_ENGINE void Tape::use_chunk(std::uint32_t chunk) {
  chunk_ = chunk;
  free_ = chunks_[chunk]->bytes;
  chunk_end_ = free_ + chunk_bytes;
}

NAX_ENGINE void Tape::pop(std::size_t mark) noexcept {
  if (size_ == mark) return;
  for (std::size_t i = size_; i-- > mark;)
    if (nodes_[i].alive) nodes_[i].node->~Node();
  use_chunk(nodes_[mark].chunk);
  free_ = reinterpret_cast<unsigned char*>(nodes_[mark].node);
  size_ = mark;
  while (last_.index >= mark && !earlier_.empty()) {
    last_ = earlier_.back();
    earlier_.pop_back();
  }
  if (mark == 0) last_ = {next_serial(), 0};
}

NAX_ENGINE Watchers Tape::watchers(std::uint64_t serial) const {
  const std::size_t i = serial ? find(serial) : npos;
  if (i == npos) return 0;
  Watchers all = nodes_[i].watchers & static_cast<Watchers>(~scopes.hidden);
  for (unsigned left = all; left; left &= left - 1) {
    const auto depth = static_cast<std::size_t>(std::countr_zero(left));
    if (depth >= scopes.marks.size() || i < scopes.marks[depth])
      all &= static_cast<Watchers>(~watcher_bit(depth));
  }
  return all;
}

NAX_ENGINE bool is_recorded(const ArrayBase& a) {
  const std::uint64_t serial = serial_of(a);
  if (serial == 0) return false;
  if (recording.tape && recording.tape->find(serial) != Tape::npos) return true;
  if (recording.caller) [[unlikely]]
    check_captured(serial);
  return false;
}

NAX_ENGINE TapeScope::TapeScope() : outermost_(recording.tape == nullptr) {
  if (outermost_) {
    tape_ = spare() ? std::exchange(spare(), TapeRef()) : TapeRef(new Tape);
  } else {
    recording.tape->references.fetch_add(1, std::memory_order_relaxed);
    tape_ = TapeRef(recording.tape);
  }
  mark_ = tape_->size();
  tape_->scopes.marks.push_back(mark_);
  recording.tape = tape_.get();  // last: where there is no memory the tape goes
}

}  // namespace detail
NAX_END
