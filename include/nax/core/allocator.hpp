#pragma once

// The caching allocator of host memory. Every block is aligned to 64 bytes and comes with its size at
// deallocation, so blocks need no header.
//
// Small blocks (<= 4 KiB): 65 classes in steps of 64 bytes, cut from 64 KiB slabs. A thread pops and pushes
// its own free lists without a lock; when a list runs empty or grows past 64 KiB, a batch moves from or to
// the shared pool. A block freed on another thread simply joins that thread's list; a thread that ends gives
// its lists back.
//
// Large blocks: classes at four steps per power of two (waste <= 25 %), kept in the shared pool under its
// mutex. A request whose class has no free block takes one of up to four classes above (at most twice the
// size) before it asks the system; `borrowed_` knows these, since their size at deallocation is not theirs.
//
// The cache has a cap: what is held from the system stays below a multiple of the recent peak of bytes in
// use, and 64 MiB. Above it, freed blocks go back to the system, those of the class first that has not been
// used for the longest. The recent peak is that of the last window_length large allocations or twice as many.
// So programs that do the same over and over keep all they need, and sizes that come once do not add up.
//
// Accounting: bytes in use are the bytes asked for. Each thread counts its small traffic in `pending` (and
// the highest `pending` since the last flush) and adds it to the shared counters every 64 KiB and with each
// large block. Readers add up all threads, so in_use is exact while no thread allocates; the peak is
// exact for one thread, and within 64 KiB per thread otherwise. The memory limit counts bytes held from the
// system (in use, cached and rounding).
//
// The pool is never destroyed: arrays with static storage may be freed after it would be gone. Under
// AddressSanitizer nothing is cached, so that it sees each use after free.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define NAX_ALLOCATOR_CACHES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NAX_ALLOCATOR_CACHES 0
#endif
#endif
#ifndef NAX_ALLOCATOR_CACHES
#define NAX_ALLOCATOR_CACHES 1
#endif

NAX_BEGIN

struct MemoryStats {
  std::size_t in_use = 0;       // bytes asked for and not yet given back
  std::size_t peak = 0;         // highest in_use since the start or reset_peak_memory()
  std::size_t cached = 0;       // held from the system and not in use, rounding included
  std::size_t allocations = 0;  // blocks handed out since the start
  std::size_t limit = 0;        // 0: none
};

namespace detail::memory {

inline constexpr std::size_t alignment = 64;
inline constexpr std::size_t small_limit = 4096;
inline constexpr std::size_t small_classes = small_limit / alignment + 1;
inline constexpr std::size_t slab_bytes = 64 * 1024;
inline constexpr std::size_t list_bytes = 64 * 1024;    // a thread's list of one class holds at most this
inline constexpr std::int64_t flush_bytes = 64 * 1024;  // small traffic counted apart before it is shared
inline constexpr std::size_t large_classes = 4 * 64;
inline constexpr std::size_t shared_classes = 4;  // above its own of which a request may take a block
inline constexpr std::size_t always_cached = std::size_t{64} << 20;
inline constexpr int window_length = 4096;  // large allocations

struct Block {
  Block* next;
};

constexpr std::size_t small_class(std::size_t bytes) { return (bytes + alignment - 1) / alignment; }
constexpr std::size_t small_bytes(std::size_t index) { return index == 0 ? alignment : index * alignment; }
constexpr std::size_t small_batch(std::size_t index) { return list_bytes / small_bytes(index); }

// Four classes per power of two: 2^p * (4 + step) / 4 for step 1..4.
constexpr std::size_t large_class(std::size_t bytes) {
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  return power * 4 + (((bytes - 1) >> (power - 2)) & 3);
}
constexpr std::size_t large_bytes(std::size_t index) { return (index % 4 + 5) << (index / 4 - 2); }

struct FreeList {
  Block* head = nullptr;
  std::size_t count = 0;

  void push(Block* block) {
    block->next = head;
    head = block;
    ++count;
  }
  Block* pop() {
    Block* block = head;
    head = block->next;
    --count;
    return block;
  }
  void move(FreeList& to, std::size_t blocks) {
    for (; blocks > 0 && head; --blocks) to.push(pop());
  }
};

// One thread's lists and counters. Only the owner writes; the counters are atomic for those who add them up.
struct ThreadCache {
  FreeList lists[small_classes];
  std::atomic<std::int64_t> pending{0};
  std::atomic<std::int64_t> highest{0};
  std::atomic<std::int64_t> allocations{0};

  // Returns whether the shared counters should hear of it.
  bool count_allocation(std::size_t bytes) {
    const auto now = pending.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    pending.store(now, std::memory_order_relaxed);
    if (now > highest.load(std::memory_order_relaxed)) highest.store(now, std::memory_order_relaxed);
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return now > flush_bytes;
  }
  bool count_deallocation(std::size_t bytes) {
    const auto now = pending.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes);
    pending.store(now, std::memory_order_relaxed);
    return now < -flush_bytes;
  }
};

inline constinit thread_local ThreadCache* thread_cache = nullptr;
inline constinit thread_local bool thread_ended = false;

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

// Host memory for arrays. It has no state of its own: all of them share one pool.
class HostAllocator {
 public:
  // Memory aligned to 64 bytes, of at least `bytes` (zero gives a valid block too). Throws Error over the
  // limit.
  static void* allocate(std::size_t bytes) {
    using namespace detail::memory;
    if (NAX_ALLOCATOR_CACHES && bytes <= small_limit) {
      if (ThreadCache* cache = thread_cache; cache && cache->lists[small_class(bytes)].head) [[likely]]
        return pop(*cache, bytes);
    }
    return allocate_shared(bytes);
  }

  // `bytes` as they were asked for. Any thread may give a block back. Null is ignored.
  static void deallocate(void* pointer, std::size_t bytes) noexcept;

 private:
  static void* pop(detail::memory::ThreadCache& cache, std::size_t bytes) {
    void* block = cache.lists[detail::memory::small_class(bytes)].pop();
    if (cache.count_allocation(bytes)) [[unlikely]]
      share_counts();
    return block;
  }
  // Allocates from the shared pool, out of line: the fast path is a dozen instructions where it is called.
  [[gnu::noinline]] static void* allocate_shared(std::size_t bytes) {
    using namespace detail::memory;
    if (NAX_ALLOCATOR_CACHES && bytes <= small_limit && !thread_ended) {
      Pool::instance().refill(bytes);
      return pop(*thread_cache, bytes);
    }
    return Pool::instance().allocate(bytes);
  }
  [[gnu::noinline]] static void deallocate_shared(void* pointer, std::size_t bytes) noexcept {
    detail::memory::Pool::instance().deallocate(pointer, bytes);
  }
  [[gnu::noinline]] static void share_counts() { detail::memory::Pool::instance().share_counts(); }
  [[gnu::noinline]] static void settle(std::size_t index, bool full) noexcept {
    share_counts();
    if (full) detail::memory::Pool::instance().spill(index);
  }
};

// Bytes in use, at their peak, cached; the number of allocations; the limit.
inline MemoryStats memory_stats() { return detail::memory::Pool::instance().stats(); }
// Restarts the peak at the number of bytes now in use.
inline void reset_peak_memory() { detail::memory::Pool::instance().reset_peak(); }
// Gives cached memory back to the system; what other threads keep in their small lists stays.
inline void release_cached_memory() { detail::memory::Pool::instance().release_cached(); }
// Bytes that may be held from the system, cached ones included; 0 lifts the limit.
inline void set_memory_limit(std::size_t bytes) { detail::memory::Pool::instance().set_limit(bytes); }
// How much is held from the system, cached memory included: `multiple` times the recent peak of bytes in use,
// and 64 MiB (2 by default). Freed memory beyond that goes back to the system. Throws ValueError for a
// negative multiple.
inline void set_memory_cache(double multiple) {
  detail::memory::Pool::instance().set_cache_multiple(multiple);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/allocator-inl.hpp"
#endif
