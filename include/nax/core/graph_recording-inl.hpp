#pragma once

#include "nax/core/graph_memory.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void* GraphMemory::allocate(std::size_t bytes) {
  const std::size_t size = block_bytes(bytes);
  std::unique_lock lock(mutex_);
  std::vector<void*>& free = free_[size];
  if (free.empty()) {
    if (left_ < size) {
      const std::size_t next = std::clamp(this->bytes(), first_piece, piece_bytes);
      const bool alone = size > next / 2;  // in a piece of its own; the last one's rest stays
      const std::size_t piece = alone ? size : next;
      pieces_.reserve(pieces_.size() + 1);
      // Nothing is locked meanwhile, since other recordings may be dropped for the memory. (Only the
      // recording thread allocates.)
      lock.unlock();
      void* const memory = source_.obtain(device_, piece);
      lock.lock();
      pieces_.push_back({memory, piece});
      owners().add(memory, piece, this);
      if (alone) return ++live_, memory;
      next_ = static_cast<char*>(memory), left_ = piece;
    }
    free.reserve(++blocks_);  // freeing allocates nothing
    void* const block = next_;
    next_ += size, left_ -= size;
    return ++live_, block;
  }
  void* const block = free.back();
  free.pop_back();
  return ++live_, block;
}

NAX_ENGINE bool GraphMemory::take_back(void* block, std::size_t bytes) noexcept {
  GraphMemory* const owner = owner_of(block);
  if (!owner) return false;
  bool last = false;
  {
    const std::lock_guard lock(owner->mutex_);
    if (!owner->retired_) {
      try {
        owner->free_[block_bytes(bytes)].push_back(block);
      } catch (...) {  // no memory for the list: the block rests
      }
    }
    last = --owner->live_ == 0 && owner->retired_;
  }
  if (last) delete owner;
  return true;
}

NAX_ENGINE void throw_other_device(Device device) {
  throw NotRecordable("jit: the function computes on " + to_string(device) + " while it is recorded for " +
                      to_string(graph_recording->device));
}

NAX_ENGINE bool unknown_while_recording(const char* function, Device device) {
  if (!graph_recording) return false;
  if (device.platform == Platform::program)
    throw NotRecordable(std::string(function) +
                        ": reads an array's elements, which are not there while jit records");
  return device.platform != Platform::cpu;
}

NAX_ENGINE void throw_read_while_recording() {
  throw DeviceError(
      "jit: the function reads values on the host (item(), data(), an array as a condition, printing), which "
      "are "
      "not there while its launches are recorded; use where or stay outside of jit");
}

NAX_ENGINE void throw_recording_ended() {
  // A function whose own threads use its arrays can be called as it is.
  throw NotRecordable(
      "jit: this array belongs to a recording of jit that has ended, and has no elements; return it from the "
      "function instead");
}

}  // namespace detail
NAX_END
