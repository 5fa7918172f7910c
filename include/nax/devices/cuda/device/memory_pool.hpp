#pragma once

#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "nax/core/allocator.hpp"
#include "nax/devices/cuda/device/streams.hpp"

// The memory of one device, cached: the driver is asked only for what no freed block of the size serves.
//
// Sizes are rounded up to eight steps an octave and to multiples of 256 (cuBLASLt refuses workspaces that lie
// otherwise), and a freed block waits in the list of its size. Blocks of up to 256 KiB are cut from slabs,
// which are kept; larger ones go back to the driver when memory runs out.
//
// Freeing never waits, so a block may still be in use by kernels that have been launched: it remembers the
// streams that used it. Its next user on one of them comes after those kernels anyway; on another stream it
// first waits for them, and so such a block is only taken where the list has no other.
//
// A block that several streams have used (an upload's, which is then computed with) is marked in each of them
// when it is freed. Its next user waits for the marks, and not for what the streams have been given since: so
// uploads and computations overlap. A block of one stream asks the driver for nothing when it is freed.
NAX_BEGIN
namespace cuda {

inline constexpr std::size_t block_alignment = 256, smallest_block = 512, largest_cut = 256 * 1024;
inline constexpr std::size_t slab_bytes = std::size_t{2} << 20;

struct SizeClass {
  std::size_t index, bytes;
};
constexpr SizeClass size_class(std::size_t bytes) {
  if (bytes <= smallest_block) return {0, smallest_block};
  bytes = (bytes + block_alignment - 1) / block_alignment * block_alignment;
  const int octave = std::bit_width(bytes - 1) - 1;
  const std::size_t base = std::size_t{1} << octave, step = base / 8;
  const std::size_t steps = (bytes - base + step - 1) / step;
  return {static_cast<std::size_t>(octave - 9) * 8 + steps, base + steps * step};
}
inline constexpr std::size_t size_classes = 8 * (64 - 9) + 1;
static_assert(size_class(513).bytes == 768 && size_class(768).index == size_class(513).index);
static_assert(size_class(4096).bytes == 4096 && size_class(4096).index + 1 == size_class(4097).index);
static_assert(size_class(1100).bytes % block_alignment == 0 && size_class(2100).bytes % block_alignment == 0);

class MemoryPool {
 public:
  // Never destroyed, like the streams.
  static MemoryPool& of(Device device) {
    static MemoryPool* const all = new MemoryPool[static_cast<std::size_t>(device_count())];
    return all[device.ordinal];
  }

  // Hook for a card without memory, once all free blocks have gone back to the driver.
  enum class WhenFull { drop_recordings, fail };

  // Aligned to 256 bytes, for the calling thread's stream.
  void* allocate(Device device, std::size_t bytes, WhenFull when = WhenFull::drop_recordings) {
    if (bytes > SIZE_MAX / 4) throw_out_of_memory(device, bytes);
    const SizeClass size = size_class(bytes);
    const Streams mine = stream_bit(device);
    FreeBlock block = take_free(size, mine);
    if (!block.memory) {
      block.memory = ask_driver(device, size, bytes, when);
      if (!block.memory) {  // with nothing locked
        detail::drop_unused_recordings();
        return allocate(device, bytes, WhenFull::fail);
      }
    } else if (block.foreign(mine)) {
      try {
        wait_for_users(device, block, mine);
      } catch (...) {
        put_free(size, block);
        throw;
      }
    }
    if (block.marks) DeviceStreams::of(device).give_back(block.marks);
    const std::lock_guard lock(mutex_);
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    ++allocations_;
    return block.memory;
  }
  void deallocate(Device device, void* memory, std::size_t bytes, Streams used) noexcept {
    FreeBlock block{memory, used, nullptr};
    if (!std::has_single_bit(used)) block.marks = DeviceStreams::of(device).mark(device, block.used);
    put_free(size_class(bytes), block);
    const std::lock_guard lock(mutex_);
    in_use_ -= bytes;
  }

  // Gives the driver back what it takes: all free blocks that are no parts of slabs. Waits for the streams.
  void release(Device device) {
    static std::mutex one_at_a_time;  // who comes second finds free what the first has taken from the lists
    const std::lock_guard releasing(one_at_a_time);
    const OnCard on(device);
    std::vector<std::pair<std::size_t, FreeBlock>> blocks;
    const auto put_back = [&]() noexcept {
      for (const auto& [index, block] : blocks) put_free({index, 0}, block);
    };
    {
      const std::lock_guard lock(mutex_);
      std::size_t count = 0;
      for (std::size_t i = first_large; i < size_classes; ++i) count += lists_[i].free.size();
      blocks.reserve(count);
      for (std::size_t i = first_large; i < size_classes; ++i) {
        for (const FreeBlock& block : lists_[i].free) blocks.emplace_back(i, block);
        lists_[i].free.clear();
      }
    }
    if (blocks.empty()) return;
    try {
      DeviceStreams::of(device).drain(device, ~Streams{0});
      for (; !blocks.empty(); blocks.pop_back()) {
        const auto [index, block] = blocks.back();
        check(cudaFree(block.memory), "cudaFree");
        if (block.marks) DeviceStreams::of(device).give_back(block.marks);
        const std::lock_guard lock(mutex_);
        --lists_[index].blocks;
        held_ -= lists_[index].bytes;
      }
    } catch (...) {
      put_back();
      throw;
    }
  }

  MemoryStats stats() {
    const std::lock_guard lock(mutex_);
    return {
        .in_use = in_use_, .peak = peak_, .cached = held_ - in_use_, .allocations = allocations_, .limit = 0};
  }

 private:
  static constexpr std::size_t first_large = size_class(largest_cut).index + 1;
  struct FreeBlock {
    void* memory = nullptr;
    Streams used = 0;            // by streams that are waited for as they are when the block is taken
    PlaceMark* marks = nullptr;  // and those that are waited for as they were when it was freed

    bool foreign(Streams mine) const {
      if (used & ~mine) return true;
      for (const PlaceMark* m = marks; m; m = m->next)
        if ((Streams{1} << m->place & mine) == 0) return true;
      return false;
    }
  };
  struct List {
    std::vector<FreeBlock> free;  // with room for all blocks: freeing allocates nothing
    std::size_t blocks = 0, bytes = 0;
  };

  FreeBlock take_free(const SizeClass& size, Streams mine) {
    const std::lock_guard lock(mutex_);
    std::vector<FreeBlock>& free = lists_[size.index].free;
    if (free.empty()) return {};
    std::size_t at = free.size();
    while (at > 0 && free[at - 1].foreign(mine)) --at;
    if (at > 0) {
      const FreeBlock block = free[--at];
      free[at] = free.back();
      free.pop_back();
      return block;
    }
    // Of other streams' blocks the first that is marked, or else the last. Collectives take no block whose
    // user is still computing: they would begin when it has done all it was given.
    while (at < free.size() && free[at].used & ~mine) ++at;
    if (at == free.size() && communicating) return {};
    if (at == free.size()) --at;
    const FreeBlock block = free[at];
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
    return block;
  }
  static void wait_for_users(Device device, const FreeBlock& block, Streams mine) {
    const StreamInUse stream = table_stream(device);
    for (const PlaceMark* m = block.marks; m; m = m->next)
      if ((Streams{1} << m->place & mine) == 0)
        check(cudaStreamWaitEvent(stream, m->event, 0), "cudaStreamWaitEvent");
    DeviceStreams::of(device).follow(block.used & ~mine, stream);
  }
  void put_free(const SizeClass& size, const FreeBlock& block) noexcept {
    const std::lock_guard lock(mutex_);
    lists_[size.index].free.push_back(block);
  }

  // A block that was not there before; null for want of memory where that is no failure yet.
  void* ask_driver(Device device, const SizeClass& size, std::size_t bytes, WhenFull when) {
    const OnCard on(device);
    const std::lock_guard growing(grow_);
    {
      const std::lock_guard lock(mutex_);
      List& list = lists_[size.index];
      list.free.reserve(std::bit_ceil(list.blocks + 1));
    }
    char* memory = nullptr;
    if (size.bytes <= largest_cut) {
      if (slab_left_ < size.bytes) {
        char* const slab = obtain(device, slab_bytes, bytes, when);
        if (!slab) return nullptr;
        slab_ = slab;
        slab_left_ = slab_bytes;
      }
      memory = slab_;
      slab_ += size.bytes;
      slab_left_ -= size.bytes;
    } else {
      memory = obtain(device, size.bytes, bytes, when);
      if (!memory) return nullptr;
    }
    const std::lock_guard lock(mutex_);
    ++lists_[size.index].blocks;
    lists_[size.index].bytes = size.bytes;
    return memory;
  }
  char* obtain(Device device, std::size_t bytes, std::size_t asked, WhenFull when) {
    void* memory = nullptr;
    cudaError_t code = cudaMalloc(&memory, bytes);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      for (int d = device.ordinal % card_count(); d < device_count(); d += card_count()) {
        const Device neighbour{Platform::cuda, static_cast<std::uint16_t>(d)};
        of(neighbour).release(neighbour);
      }
      code = cudaMalloc(&memory, bytes);
      if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        if (when == WhenFull::drop_recordings) return nullptr;
        throw_out_of_memory(device, asked);
      }
    }
    check(code, "cudaMalloc");
    const std::lock_guard lock(mutex_);
    held_ += bytes;
    return static_cast<char*>(memory);
  }
  [[noreturn, gnu::cold]] void throw_out_of_memory(Device device, std::size_t bytes) {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    const MemoryStats now = stats();
    raise<DeviceError>({"cudaMalloc: no memory for ", bytes, " bytes on ", device, ": arrays hold ",
                        now.in_use, " bytes, ", now.cached, " more are cached, and ", free, " of the card's ",
                        total, " are free"});
  }

  std::mutex grow_;  // of who asks the driver; taken before the other
  std::mutex mutex_;
  List lists_[size_classes];
  char* slab_ = nullptr;
  std::size_t slab_left_ = 0;
  std::size_t in_use_ = 0, peak_ = 0, held_ = 0, allocations_ = 0;
};

}  // namespace cuda
NAX_END
