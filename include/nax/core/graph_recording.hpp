#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"
#include "nax/core/device.hpp"
#include "nax/core/error.hpp"

// Records what a function puts on its device's stream, and replays it: the seam between jit
// and a device that has graphs of launches.
//
// **While a thread records, its device computes nothing.** Launches and copies go into the graph with the
// addresses they have now, so memory must not move or be shared afterwards. That is what this file is about:
//
//   new blocks        come from the recording's own memory, which is reserved while the graph lives.
//                     Within the recording they are used over and over, as in any other program.
//   older buffers     that the function reads (arrays it captured) are held as long as the graph (pin).
//   the host's bytes  that go to the device are copied, and the copies held.
//   reading           values on the host is an error, since there are none.
NAX_BEGIN
namespace detail {

// Memory for one graph, in blocks of a few sizes. It lasts until the graph and all blocks are gone.
class GraphMemory {
 public:
  // Where it comes from, in large pieces.
  struct Source {
    virtual void* obtain(Device device, std::size_t bytes) = 0;
    virtual void give_back(Device device, void* memory, std::size_t bytes) noexcept = 0;

   protected:
    ~Source() = default;
  };

  GraphMemory(Source& source, Device device) : source_(source), device_(device) {}
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

  Source& source_;
  const Device device_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::vector<Piece> pieces_;
  char* next_ = nullptr;
  std::size_t left_ = 0, live_ = 0, blocks_ = 0;
  bool retired_ = false;
};

// Where an argument's elements are copied before each replay.
struct GraphInput {
  void* to;
  const void* from;   // in the first call
  std::size_t bytes;  // 0 where the copy is made before the replay
};

// Launches that can be done again.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  // On the calling thread's stream: copies the inputs, which lie at these addresses of the device, and
  // launches everything at once.
  virtual void replay(Device device, const void* const* inputs) = 0;
};

struct Buffer;
class BufferRef;

// A recording on its way.
struct GraphRecording {
  Device device;
  GraphMemory* memory;
  void* state = nullptr;  // of who records
  std::vector<BufferRef>* pinned = nullptr;
  // Takes the place of pinning, where set: sees each buffer whose address is asked for, the host's too.
  void (*keep)(GraphRecording& graph, Buffer& buffer) = nullptr;
  std::string refusal = {};  // why it fails, whatever the function makes of that; empty while it does not
};
inline thread_local constinit GraphRecording* graph_recording = nullptr;  // the calling thread's

// A device that has graphs.
class GraphMaker : public GraphMemory::Source {
 public:
  // Is a function called as it is before its first recording? Handles of libraries, their plans and modules
  // of kernels are made then, which a capture may not survive.
  virtual bool wants_plain_call() const { return false; }
  // The calling thread's stream records from now on, until one of the others is called.
  virtual void begin(GraphRecording& graph) = 0;
  virtual std::unique_ptr<LaunchGraph> end(GraphRecording& graph, std::vector<GraphInput> inputs) = 0;
  virtual void abandon(GraphRecording& graph) noexcept = 0;

 protected:
  ~GraphMaker() = default;
};

// Frees the memory of recordings that no call uses; returns false if there are none. A device tries this
// before it reports that it is out of memory. (jit installs it.)
inline constinit std::atomic<bool (*)()> drop_recordings{nullptr};
inline bool drop_unused_recordings() {
  const auto drop = drop_recordings.load(std::memory_order_acquire);
  return drop && drop();
}

// Thrown where a function does what no graph can hold, though it may be called as it is: jit does that then.
// The recording of this thread fails by it, also if the function catches it.
struct NotRecordable : DeviceError {
  explicit NotRecordable(const std::string& why) : DeviceError(why) {
    if (graph_recording && graph_recording->refusal.empty()) graph_recording->refusal = why;
  }
};
// At the door of what uses several devices or threads.
inline void check_recordable(const char* function) {
  if (graph_recording) [[unlikely]]
    throw NotRecordable(std::string(function) + ": cannot be recorded");
}

// At a check of elements of an array on `device`. True on a GPU that records: they are not known yet, and the
// check is left out. Throws NotRecordable where a program is recorded for the host.
[[gnu::cold]] NAX_ENGINE bool unknown_while_recording(const char* function, Device device);

[[noreturn, gnu::cold]] NAX_ENGINE void throw_read_while_recording();
[[noreturn, gnu::cold]] NAX_ENGINE void throw_recording_ended();
[[noreturn, gnu::cold]] NAX_ENGINE void throw_other_device(Device device);
// A graph is of one device: what allocates on another one, or computes there, is not recorded.
inline void check_recorded_on(Device device) {
  if (graph_recording && graph_recording->device != device) [[unlikely]]
    throw_other_device(device);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/graph_recording-inl.hpp"
#endif
