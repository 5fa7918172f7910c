#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "nax/core/accelerator.hpp"
#include "nax/core/allocator.hpp"
#include "nax/core/device.hpp"
#include "nax/core/os/os.hpp"

// A refcounted block of memory. On the host the header and the elements share one allocation, elements at a
// multiple of 64 bytes; the elements of a buffer on an accelerator lie there, at `address`. A buffer may
// instead stand for pieces that live elsewhere (the shards of a pmap's result): then its elements are
// gathered when their address is first asked for.
NAX_BEGIN
namespace detail {

// Pieces that can be written out as one block.
struct BufferSource {
  virtual ~BufferSource() = default;
  virtual void*
  gather() = 0;  // the elements in one block, owned by the source; safe to call from several threads
  // Do the elements lie in one block of the host's memory, which gather() returns at no cost?
  virtual bool lies_in_memory() const { return false; }
  // Is the buffer's address on an accelerator the source's, which releases it when it goes?
  virtual bool owns_address() const { return false; }
};

struct alignas(64) Buffer {
  static constexpr std::size_t header_bytes = 64;

  std::atomic<std::uint32_t> references{1};
  Device device;
  std::size_t bytes = 0;
  BufferSource* source = nullptr;      // of the elements; of an accelerator's, what the host got to see
  void* address = nullptr;             // on an accelerator
  std::atomic<Streams> streams{0};     // accelerator streams that have used this memory
  std::atomic<void*> moment{nullptr};  // event recorded after the last write

  // Where the elements lie on their device, for use by this thread.
  void* data() { return address || graph_recording ? address_for_this_thread() : host_data(); }
  // Returns the address where the device is the host's, or the buffer stands for pieces. Throws DeviceError
  // elsewhere.
  void* host_data() {
    if (source) [[unlikely]]
      return source->gather();
    if (address) [[unlikely]]
      throw_no_device_form(device);
    return reinterpret_cast<char*>(this) + header_bytes;
  }

  // True if no stream but this thread's has used the elements. Asked last, by the thread that holds the only
  // handle, which may then write over them: a moment that was noted is gone.
  bool is_own() {
    if (!address) return true;
    if (streams.load(std::memory_order_acquire) != accelerator_of(device).stream(device)) return false;
    if (moment.load(std::memory_order_relaxed)) [[unlikely]]
      drop_moment();
    return true;
  }
  // The elements are complete once this thread's stream, the only one that has met them, has done what it has
  // been given. A moment that was noted before stays: nothing has been written since.
  void note_moment() noexcept {
    if (!address || graph_recording || moment.load(std::memory_order_acquire)) return;
    Accelerator& accelerator = accelerator_of(device);
    if (streams.load(std::memory_order_acquire) != accelerator.stream(device)) return;
    void* const now = accelerator.moment(device);
    void* none = nullptr;
    if (now && !moment.compare_exchange_strong(none, now, std::memory_order_acq_rel))
      accelerator.drop_moment(device, now);
  }

  static Buffer* allocate(std::size_t bytes, Device device = current_device) {
    if (on_accelerator(device)) [[unlikely]]
      return allocate_on_accelerator(bytes, device);
    Buffer* buffer = header(bytes, device);
    buffer->bytes = bytes;
    return buffer;
  }
  // address: on an accelerator, where the source owns it.
  static Buffer* wrap(std::unique_ptr<BufferSource> source, std::size_t bytes, Device device,
                      void* address = nullptr) {
    Buffer* buffer = header(0, device);
    buffer->source = source.release();
    buffer->address = address;
    buffer->bytes = bytes;
    return buffer;
  }
  [[gnu::noinline, gnu::flatten]] static void destroy(Buffer* buffer) noexcept {
    if (!buffer->address && !buffer->source) [[likely]] {
      const std::size_t bytes = header_bytes + buffer->bytes;
      buffer->~Buffer();
      return HostAllocator::deallocate(buffer, bytes);
    }
    destroy_elsewhere(buffer);
  }

  // Before the elements are written again, by who knows that no other thread reads them.
  void drop_moment() noexcept {
    if (void* const noted = moment.exchange(nullptr)) accelerator_of(device).drop_moment(device, noted);
  }

 private:
  [[gnu::cold]] NAX_COMPILED_ONCE static void destroy_elsewhere(Buffer* buffer) noexcept {
    const std::size_t bytes = header_bytes + (buffer->source || buffer->address ? 0 : buffer->bytes);
    buffer->drop_moment();
    if (buffer->address) {
      const Streams used = buffer->streams.load(std::memory_order_relaxed);
      if (buffer->source && buffer->source->owns_address())
        accelerator_of(buffer->device).await(buffer->device, used);
      else
        accelerator_of(buffer->device).deallocate(buffer->device, buffer->address, buffer->bytes, used);
    }
    delete buffer->source;
    buffer->~Buffer();
    HostAllocator().deallocate(buffer, bytes);
  }
  static Buffer* header(std::size_t bytes_behind, Device device) {
    auto* buffer = new (HostAllocator().allocate(header_bytes + bytes_behind)) Buffer;
    buffer->device = device;
    return buffer;
  }
  [[gnu::cold]] NAX_COMPILED_ONCE void* address_for_this_thread() {
    check_recording_lasts(device);
    if (graph_recording) [[unlikely]]
      pin();
    if (!address) return host_data();
    Accelerator& accelerator = accelerator_of(device);
    const Streams mine = accelerator.stream(device), met = streams.load(std::memory_order_acquire);
    if ((met & mine) == 0) {
      if (void* const noted = moment.load(std::memory_order_acquire))
        accelerator.join_moment(device, noted);
      else
        accelerator.join(device, met);
      // Only now: a thread that shares the stream must not find the bit before the stream waits.
      streams.fetch_or(mine, std::memory_order_acq_rel);
    }
    return address;
  }
  NAX_ENGINE void pin();  // lives as long as the graph that this thread records
  [[gnu::cold]] NAX_COMPILED_ONCE static Buffer* allocate_on_accelerator(std::size_t bytes, Device device) {
    Accelerator& accelerator = accelerator_of(device);
    const Streams mine = accelerator.stream(device);
    void* const memory = accelerator.allocate(device, bytes);
    try {
      Buffer* buffer = header(0, device);
      buffer->address = memory;
      buffer->streams.store(mine, std::memory_order_relaxed);
      buffer->bytes = bytes;
      return buffer;
    } catch (...) {
      accelerator.deallocate(device, memory, bytes, mine);
      throw;
    }
  }
};
static_assert(sizeof(Buffer) == Buffer::header_bytes);

class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* owned) : buffer_(owned) {}
  BufferRef(const BufferRef& other) noexcept : buffer_(other.buffer_) {
    if (buffer_) acquire();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (!buffer_) return;
    // The sole owner needs no read-modify-write; no other thread can copy the handle meanwhile.
    const std::uint32_t others = buffer_->references.load(std::memory_order_acquire) - 1;
    if (others == 0)
      Buffer::destroy(buffer_);
    else if (os::single_threaded())
      buffer_->references.store(others, std::memory_order_relaxed);
    else if (buffer_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      Buffer::destroy(buffer_);
  }
  // Takes the buffer over; this holds none.
  void adopt(Buffer* owned) { buffer_ = owned; }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  // True if no other handle and no other stream uses the elements.
  bool unique() const {
    return buffer_ && buffer_->references.load(std::memory_order_acquire) == 1 && buffer_->is_own();
  }
  std::uint32_t use_count() const {
    return buffer_ ? buffer_->references.load(std::memory_order_acquire) : 0;
  }

 private:
  void acquire() {
    std::atomic<std::uint32_t>& count = buffer_->references;
    if (os::single_threaded())
      count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
      count.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer* buffer_ = nullptr;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/graph_memory.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void Buffer::pin() {
  if (graph_recording->keep) return graph_recording->keep(*graph_recording, *this);
  if (!address) return;  // the host's bytes are copied
  if (GraphMemory::owner_of(address) == graph_recording->memory) return;
  for (const BufferRef& held : *graph_recording->pinned)
    if (held.get() == this) return;
  references.fetch_add(1, std::memory_order_relaxed);
  graph_recording->pinned->push_back(BufferRef(this));
}

}  // namespace detail
NAX_END
#endif
