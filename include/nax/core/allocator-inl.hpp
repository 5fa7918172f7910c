#pragma once

#include "nax/core/memory_pool.hpp"
#include "nax/core/per_thread.hpp"

NAX_BEGIN
namespace detail::memory {

NAX_ENGINE void* Pool::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  void* block = take(bytes);
  ++allocations_;
  flush(thread_cache);
  in_use_ += static_cast<std::int64_t>(bytes);
  peak_ = std::max(peak_, in_use_);
  note_peak();
  return block;
}

NAX_ENGINE void Pool::new_cap() {
  const std::int64_t peak = std::max({recent_peaks_[0], recent_peaks_[1], in_use_});
  const double cap = cache_multiple_ * static_cast<double>(peak) + static_cast<double>(always_cached);
  cap_ = cap < 1e18 ? static_cast<std::size_t>(cap) : SIZE_MAX;
}

NAX_ENGINE void* Pool::take_cached(std::size_t index) {
  last_use_[index] = ++uses_;
  for (std::size_t from = index; from <= index + shared_classes && from < large_classes; ++from) {
    if (!large_[from].head) continue;
    if (from != index) {
      try {
        borrowed_.emplace(large_[from].head, from);
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
    cached_ -= large_bytes(from);
    return large_[from].pop();
  }
  return nullptr;
}

NAX_ENGINE void Pool::put_cached(void* pointer, std::size_t index) {
  if (!borrowed_.empty()) [[unlikely]]
    if (const auto found = borrowed_.find(pointer); found != borrowed_.end()) {
      index = found->second;
      borrowed_.erase(found);
    }
  large_[index].push(static_cast<Block*>(pointer));
  cached_ += large_bytes(index);
}

NAX_ENGINE void Pool::trim() {
  new_cap();  // small blocks may have raised the peak
  while (cached_ > 0 && held_ > cap_) {
    std::size_t oldest = large_classes;
    for (std::size_t i = 0; i < large_classes; ++i)
      if (large_[i].head && (oldest == large_classes || last_use_[i] < last_use_[oldest])) oldest = i;
    while (large_[oldest].head && held_ > cap_) free_one(oldest);
  }
  if (unreturned_ >= always_cached / 2) return_to_system();
}

NAX_ENGINE void Pool::deallocate(void* pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!NAX_ALLOCATOR_CACHES) {
    os::free_aligned(pointer);
    held_ -= rounded(bytes);
  } else if (bytes <= small_limit) {
    small_[small_class(bytes)].push(static_cast<Block*>(pointer));
  } else {
    put_cached(pointer, large_class(bytes));
  }
  flush(thread_cache);
  in_use_ -= static_cast<std::int64_t>(bytes);
  if (held_ > cap_) [[unlikely]]
    trim();
}

NAX_ENGINE MemoryStats Pool::stats() {
  const std::lock_guard lock(mutex_);
  std::int64_t pending = 0, highest = 0;
  std::int64_t allocations = allocations_;
  for (const ThreadCache* cache : threads_) {
    pending += cache->pending.load(std::memory_order_relaxed);
    highest += cache->highest.load(std::memory_order_relaxed);
    allocations += cache->allocations.load(std::memory_order_relaxed);
  }
  const auto unsigned_of = [](std::int64_t value) {
    return static_cast<std::size_t>(std::max<std::int64_t>(value, 0));
  };
  MemoryStats stats;
  stats.in_use = unsigned_of(in_use_ + pending);
  stats.peak = unsigned_of(std::max(peak_, in_use_ + highest));
  stats.cached = unsigned_of(static_cast<std::int64_t>(held_) - static_cast<std::int64_t>(stats.in_use));
  stats.allocations = unsigned_of(allocations);
  stats.limit = limit_;
  return stats;
}

NAX_ENGINE void Pool::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = in_use_;
  // The highest marks belong to their threads; one that is written at the same moment may survive the
  // reset.
  for (ThreadCache* cache : threads_) {
    const std::int64_t pending = cache->pending.load(std::memory_order_relaxed);
    cache->highest.store(pending, std::memory_order_relaxed);
    peak_ += pending;
  }
}

NAX_ENGINE void* Pool::take(std::size_t bytes) {
  if (NAX_ALLOCATOR_CACHES && bytes <= small_limit) {  // a thread that has ended its caches comes here
    FreeList& shared = small_[small_class(bytes)];
    if (!shared.head) cut_slab(small_class(bytes));
    return shared.pop();
  }
  if (bytes > PTRDIFF_MAX / 2)
    raise<Error>({"allocate: ", bytes, " bytes asked, more than an address can reach"});
  if (NAX_ALLOCATOR_CACHES)
    if (void* const block = take_cached(large_class(bytes))) return block;
  return from_system(rounded(bytes), alignment, bytes);
}

NAX_ENGINE void* Pool::from_system(std::size_t bytes, std::size_t align, std::size_t asked) {
  const auto over = [&] { return limit_ != 0 && held_ + bytes > limit_; };
  if (over()) release();
  if (over())
    raise<Error>(
        {"allocate: over the memory limit (", asked, " bytes asked, ", held_, " held, limit ", limit_, ")"});
  void* block = os::allocate_aligned(align, bytes);
  if (!block) {
    release();
    block = os::allocate_aligned(align, bytes);
  }
  if (!block)
    raise<Error>({"allocate: the system is out of memory (", asked, " bytes asked, ", held_, " held)"});
  held_ += bytes;
  return block;
}

NAX_ENGINE void Pool::adopt_thread() {
  struct Adopted {
    ThreadCache* cache = nullptr;
    ~Adopted() {
      thread_cache = nullptr;
      thread_ended = true;
      if (cache) instance().end_thread(cache);
    }
  };
  auto cache = std::make_unique<ThreadCache>();
  {
    const std::lock_guard lock(mutex_);
    threads_.push_back(cache.get());
  }
  thread_cache = cache.release();
  per_thread<Adopted>().cache = thread_cache;
}

NAX_ENGINE void Pool::release() {
  if (thread_cache) give_back(*thread_cache);
  for (std::size_t index = 0; index < large_classes; ++index)
    while (large_[index].head) free_one(index);
  for (std::size_t index = 0; index < small_classes; ++index) release_slabs(index);
}

NAX_ENGINE void Pool::release_slabs(std::size_t index) {
  const std::size_t per_slab = slab_bytes / small_bytes(index);
  FreeList& list = small_[index];
  if (list.count < per_slab) return;
  std::vector<std::uintptr_t> blocks;
  blocks.reserve(list.count);
  while (list.head) blocks.push_back(reinterpret_cast<std::uintptr_t>(list.pop()));
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t first = 0, last = 0; first < blocks.size(); first = last) {
    const std::uintptr_t slab = blocks[first] & ~std::uintptr_t{slab_bytes - 1};
    while (last < blocks.size() && blocks[last] < slab + slab_bytes) ++last;
    if (last - first == per_slab) {
      os::free_aligned(reinterpret_cast<void*>(slab));
      held_ -= slab_bytes;
    } else {
      for (std::size_t at = first; at < last; ++at) list.push(reinterpret_cast<Block*>(blocks[at]));
    }
  }
}

}  // namespace detail::memory
NAX_END
NAX_BEGIN

NAX_COMPILED_ONCE void* HostAllocator::allocate_shared(std::size_t bytes) {
  using namespace detail::memory;
  if (NAX_ALLOCATOR_CACHES && bytes <= small_limit && !thread_ended) {
    Pool::instance().refill(bytes);
    return pop(*thread_cache, bytes);
  }
  return Pool::instance().allocate(bytes);
}
NAX_COMPILED_ONCE void HostAllocator::share_counts() { detail::memory::Pool::instance().share_counts(); }

NAX_ENGINE void HostAllocator::deallocate(void* pointer, std::size_t bytes) noexcept {
  using namespace detail::memory;
  if (!pointer) return;
  if (NAX_ALLOCATOR_CACHES && bytes <= small_limit) {
    if (ThreadCache* cache = thread_cache; cache) [[likely]] {
      const std::size_t index = small_class(bytes);
      cache->lists[index].push(static_cast<Block*>(pointer));
      const bool full = cache->lists[index].count * small_bytes(index) > list_bytes;
      if (cache->count_deallocation(bytes) || full) [[unlikely]] {
        share_counts();
        if (full) Pool::instance().spill(index);
      }
      return;
    }
  }
  Pool::instance().deallocate(pointer, bytes);
}

NAX_ENGINE MemoryStats memory_stats() { return detail::memory::Pool::instance().stats(); }
NAX_ENGINE void reset_peak_memory() { detail::memory::Pool::instance().reset_peak(); }
NAX_ENGINE void release_cached_memory() { detail::memory::Pool::instance().release_cached(); }
NAX_ENGINE void set_memory_limit(std::size_t bytes) { detail::memory::Pool::instance().set_limit(bytes); }
NAX_ENGINE void set_memory_cache(double multiple) {
  detail::memory::Pool::instance().set_cache_multiple(multiple);
}

NAX_END
