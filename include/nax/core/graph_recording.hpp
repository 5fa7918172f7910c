#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
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
class ArrayBase;
namespace detail {

// Where the memory of graphs comes from, in large pieces.
struct GraphMemorySource {
  virtual void* obtain(Device device, std::size_t bytes) = 0;
  virtual void give_back(Device device, void* memory, std::size_t bytes) noexcept = 0;

 protected:
  ~GraphMemorySource() = default;
};
class GraphMemory;  // graph_memory.hpp

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
  // Where set: what is computed from now on is computed anew, once these arrays are there. Null ends that.
  void (*recompute)(GraphRecording& graph, const std::vector<ArrayBase>* after) = nullptr;
  std::string refusal = {};  // why it fails, whatever the function makes of that; empty while it does not
};
inline thread_local constinit GraphRecording* graph_recording = nullptr;  // the calling thread's

// A device that has graphs.
class GraphMaker : public GraphMemorySource {
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
