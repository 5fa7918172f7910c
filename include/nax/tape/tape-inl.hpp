#pragma once

#include "nax/tape/tape.hpp"

NAX_BEGIN
namespace detail {

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
