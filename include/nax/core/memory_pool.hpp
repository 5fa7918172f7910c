#pragma once

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nax/core/allocator.hpp"
#include "nax/core/at_fork.hpp"
#include "nax/core/error.hpp"

// The pool that host memory comes from (allocator.hpp says how it works). The engine's alone.
NAX_BEGIN
namespace detail::memory {

inline constexpr std::size_t slab_bytes = 64 * 1024;
inline constexpr std::size_t large_classes = 4 * 64;
inline constexpr std::size_t shared_classes = 4;  // above its own of which a request may take a block
inline constexpr std::size_t always_cached = std::size_t{64} << 20;
inline constexpr int window_length = 4096;  // large allocations

constexpr std::size_t small_batch(std::size_t index) { return list_bytes / small_bytes(index); }
// Four classes per power of two: 2^p * (4 + step) / 4 for step 1..4.
constexpr std::size_t large_class(std::size_t bytes) {
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  return power * 4 + (((bytes - 1) >> (power - 2)) & 3);
}
constexpr std::size_t large_bytes(std::size_t index) { return (index % 4 + 5) << (index / 4 - 2); }

class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool;
    return *pool;
  }

  void* allocate(std::size_t bytes);

  void deallocate(void* pointer, std::size_t bytes);

  // Gives a thread without caches its own, and fills the list of one class with up to a batch of blocks.
  void refill(std::size_t bytes) {
    if (!thread_cache) adopt_thread();
    const std::lock_guard lock(mutex_);
    const std::size_t index = small_class(bytes);
    FreeList& shared = small_[index];
    if (!shared.head) cut_slab(index);
    shared.move(thread_cache->lists[index], std::max<std::size_t>(small_batch(index) / 2, 1));
  }

  void spill(std::size_t index) {
    const std::lock_guard lock(mutex_);
    FreeList& list = thread_cache->lists[index];
    list.move(small_[index], list.count / 2);
  }

  void share_counts() {
    const std::lock_guard lock(mutex_);
    flush(thread_cache);
  }

  void end_thread(ThreadCache* cache) {
    const std::lock_guard lock(mutex_);
    give_back(*cache);
    flush(cache);
    allocations_ += cache->allocations.load(std::memory_order_relaxed);
    std::erase(threads_, cache);
    delete cache;
  }

  MemoryStats stats();

  void reset_peak();

  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    if (limit_ != 0 && held_ > limit_) release();
  }

  void set_cache_multiple(double multiple) {
    if (!(multiple >= 0)) raise<ValueError>({"set_memory_cache: must be 0 or more, not ", multiple});
    const std::lock_guard lock(mutex_);
    cache_multiple_ = multiple;
    trim();
  }

  void release_cached() {
    const std::lock_guard lock(mutex_);
    release();
    return_to_system();
  }

 private:
  static std::size_t rounded(std::size_t bytes) {
    return bytes <= small_limit ? small_bytes(small_class(bytes)) : large_bytes(large_class(bytes));
  }

  void* take(std::size_t bytes);

  void* from_system(std::size_t bytes, std::size_t align, std::size_t asked);

  void cut_slab(std::size_t index) {
    auto* slab = static_cast<std::byte*>(from_system(slab_bytes, slab_bytes, small_bytes(index)));
    const std::size_t bytes = small_bytes(index);
    for (std::size_t block = slab_bytes / bytes; block-- > 0;)
      small_[index].push(new (slab + block * bytes) Block);
  }

  void adopt_thread();

  void give_back(ThreadCache& cache) {
    for (std::size_t index = 0; index < small_classes; ++index)
      cache.lists[index].move(small_[index], cache.lists[index].count);
  }

  void flush(ThreadCache* cache) {
    if (!cache) return;
    peak_ = std::max(peak_, in_use_ + cache->highest.load(std::memory_order_relaxed));
    in_use_ += cache->pending.load(std::memory_order_relaxed);
    cache->pending.store(0, std::memory_order_relaxed);
    cache->highest.store(0, std::memory_order_relaxed);
  }

  // Frees the large blocks and those slabs of which all blocks are here; the calling thread's lists come
  // first.
  void release();

  void release_slabs(std::size_t index);

  // A large block out of the cache; null where there is none that fits.
  void* take_cached(std::size_t index);
  void put_cached(void* pointer, std::size_t index);
  void free_one(std::size_t index) {
    os::free_aligned(large_[index].pop());
    held_ -= large_bytes(index);
    cached_ -= large_bytes(index);
    unreturned_ += large_bytes(index);
  }
  // More than the cap is given back.
  void trim();
  // Bytes that free() keeps.
  void return_to_system() {
    if (unreturned_ >= always_cached / 2) os::return_memory();
    unreturned_ = 0;
  }
  void note_peak() {
    if (in_use_ > recent_peaks_[0]) {
      recent_peaks_[0] = in_use_;
      new_cap();
    }
    if (--window_left_ > 0) return;
    window_left_ = window_length;
    recent_peaks_[1] = std::exchange(recent_peaks_[0], in_use_);
    new_cap();
  }
  void new_cap();

  ForkMutex mutex_;
  FreeList small_[small_classes];
  FreeList large_[large_classes];
  std::uint64_t last_use_[large_classes] = {}, uses_ = 0;
  std::unordered_map<void*, std::size_t> borrowed_;  // blocks in use for smaller requests: their classes
  std::size_t cached_ = 0, unreturned_ = 0;  // bytes of free large blocks; freed since return_memory()
  std::int64_t recent_peaks_[2] = {};        // of this window and the last
  int window_left_ = window_length;
  double cache_multiple_ = 2;
  std::size_t cap_ = always_cached;
  std::vector<ThreadCache*> threads_;
  std::size_t held_ = 0, limit_ = 0;
  std::int64_t in_use_ = 0, peak_ = 0, allocations_ = 0;
};

}  // namespace detail::memory
NAX_END
