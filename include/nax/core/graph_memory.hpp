#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "nax/core/graph_recording.hpp"

NAX_BEGIN
namespace detail {

// Memory for one graph, in blocks of a few sizes. It lasts until the graph and all blocks are gone.
class GraphMemory {
 public:
  GraphMemory(GraphMemorySource& source, Device device) : source_(source), device_(device) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* allocate(std::size_t bytes);
  // The graph is gone.
  void retire() noexcept {
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      retired_ = true;
      last = live_ == 0;
    }
    if (last) delete this;
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Piece& piece : pieces_) sum += piece.bytes;
    return sum;
  }
  // Whose block it is; null for memory of no graph.
  static GraphMemory* owner_of(const void* address) { return owners().find(address); }
  // Takes a block back if it is some graph's. (A free block may be used by the next launch at once: all of a
  // graph's are in the order of one stream.)
  static bool take_back(void* block, std::size_t bytes) noexcept;

 private:
  // Pieces double from one to the other: a recording of a few small arrays is small.
  static constexpr std::size_t first_piece = std::size_t{64} << 10, piece_bytes = std::size_t{2} << 20;
  struct Piece {
    void* memory;
    std::size_t bytes;
  };
  // The pieces of all graphs, by address.
  class Owners {
   public:
    void add(void* memory, std::size_t bytes, GraphMemory* owner) {
      const std::lock_guard lock(mutex_);
      pieces_[static_cast<char*>(memory)] = {bytes, owner};
      count_.store(pieces_.size(), std::memory_order_release);
    }
    void remove(void* memory) noexcept {
      const std::lock_guard lock(mutex_);
      pieces_.erase(static_cast<char*>(memory));
      count_.store(pieces_.size(), std::memory_order_release);
    }
    GraphMemory* find(const void* address) {
      if (count_.load(std::memory_order_acquire) == 0) return nullptr;  // programs without graphs
      const std::lock_guard lock(mutex_);
      const char* const at = static_cast<const char*>(address);
      auto piece = pieces_.upper_bound(const_cast<char*>(at));
      if (piece == pieces_.begin()) return nullptr;
      --piece;
      return at < piece->first + piece->second.first ? piece->second.second : nullptr;
    }

   private:
    std::mutex mutex_;
    std::map<char*, std::pair<std::size_t, GraphMemory*>> pieces_;
    std::atomic<std::size_t> count_{0};
  };
  static Owners& owners() {  // never destroyed: arrays with static storage are freed at any time
    static Owners* const all = new Owners;
    return *all;
  }

  ~GraphMemory() {
    for (const Piece& piece : pieces_) {
      owners().remove(piece.memory);
      source_.give_back(device_, piece.memory, piece.bytes);
    }
  }
  // Multiples of 512 up to 4096, then eight sizes an octave.
  static std::size_t block_bytes(std::size_t bytes) {
    std::size_t step = 512;
    while (step * 16 < bytes) step *= 2;
    return bytes == 0 ? step : (bytes + step - 1) / step * step;
  }

  GraphMemorySource& source_;
  const Device device_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::vector<Piece> pieces_;
  char* next_ = nullptr;
  std::size_t left_ = 0, live_ = 0, blocks_ = 0;
  bool retired_ = false;
};

}  // namespace detail
NAX_END
