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

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nax/core/abi.hpp"

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
inline constexpr std::size_t list_bytes = 64 * 1024;    // a thread's list of one class holds at most this
inline constexpr std::int64_t flush_bytes = 64 * 1024;  // small traffic counted apart before it is shared

struct Block {
  Block* next;
};

constexpr std::size_t small_class(std::size_t bytes) { return (bytes + alignment - 1) / alignment; }
constexpr std::size_t small_bytes(std::size_t index) { return index == 0 ? alignment : index * alignment; }

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
  // Out of line: the fast path is a dozen instructions where it is called.
  static void* allocate_shared(std::size_t bytes);
  static void share_counts();
};

// Bytes in use, at their peak, cached; the number of allocations; the limit.
NAX_ENGINE MemoryStats memory_stats();
// Restarts the peak at the number of bytes now in use.
NAX_ENGINE void reset_peak_memory();
// Gives cached memory back to the system; what other threads keep in their small lists stays.
NAX_ENGINE void release_cached_memory();
// Bytes that may be held from the system, cached ones included; 0 lifts the limit.
NAX_ENGINE void set_memory_limit(std::size_t bytes);
// How much is held from the system, cached memory included: `multiple` times the recent peak of bytes in use,
// and 64 MiB (2 by default). Freed memory beyond that goes back to the system. Throws ValueError for a
// negative multiple.
NAX_ENGINE void set_memory_cache(double multiple);

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/allocator-inl.hpp"
#endif
