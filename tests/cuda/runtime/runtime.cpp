#include "cuda/runtime/runtime.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

// All state lies in one World behind one mutex; tasks run under it, on the thread whose call lets them.
namespace {

struct Capture;
// One recording of an event.
struct Moment {
  bool passed = false;
  std::shared_ptr<Capture> capture;  // where it was recorded in one
  CUstream_st* stream = nullptr;
};
struct Task {
  enum Kind { work, record, wait } kind;
  std::function<void()> run;
  std::shared_ptr<Moment> moment;
};

}  // namespace

struct CUstream_st {
  int device;
  std::deque<Task> queue;
  std::shared_ptr<Capture> capture;
  bool held = false;
};
struct CUevent_st {
  std::shared_ptr<Moment> last;
};
struct CUgraphNode_st {
  std::function<void()> run;             // of a captured task, or of the child
  std::vector<CUgraphNode_st> children;  // of a child graph
  void* to = nullptr;                    // of a copy
  const void* from = nullptr;
  std::size_t bytes = 0;
};
struct CUgraph_st {
  std::deque<CUgraphNode_st> nodes;  // in an order that their edges allow
};
struct CUgraphExec_st {
  std::map<const CUgraphNode_st*, std::size_t> places;
  std::vector<CUgraphNode_st> nodes;
};

namespace {

struct Capture {
  CUstream_st* origin;
  std::set<CUstream_st*> away;  // streams that have joined, and that the origin has not waited for since
  bool invalid = false;
  std::deque<CUgraphNode_st> nodes;
};

struct Block {
  std::size_t bytes;
  int device;  // -1: page-locked memory of the host
  bool freed = false;
};

struct World {
  std::recursive_mutex mutex;
  std::condition_variable_any changed;
  std::mt19937 random{1};
  std::size_t card_bytes = std::size_t{1} << 30, used[stand_in::cards] = {};
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::set<CUgraph_st*> graphs;
  std::set<CUgraphExec_st*> execs;
  std::map<const char*, Block> blocks;
  long calls = 0, fail_at = -1, violations = 0;
  cudaError_t failure = cudaSuccess;

  // Whether the next task of the stream may run.
  static bool runnable(const CUstream_st* s) {
    return !s->held && !s->queue.empty() &&
           (s->queue.front().kind != Task::wait || s->queue.front().moment->passed);
  }
  bool step() {
    std::vector<CUstream_st*> ready;
    for (CUstream_st* s : streams)
      if (runnable(s)) ready.push_back(s);
    if (ready.empty()) return false;
    CUstream_st* const s = ready[random() % ready.size()];
    const Task task = std::move(s->queue.front());
    s->queue.pop_front();
    if (task.kind == Task::work) task.run();
    if (task.kind == Task::record) task.moment->passed = true;
    return true;
  }
  template <class Done>
  cudaError_t run_until(std::unique_lock<std::recursive_mutex>& lock, const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!done()) {
      if (step()) continue;
      if (std::chrono::steady_clock::now() > deadline) return cudaErrorLaunchTimeout;
      changed.wait_for(lock, std::chrono::milliseconds(5));
    }
    return cudaSuccess;
  }
  const Block* block_of(const void* address) const {
    const char* const at = static_cast<const char*>(address);
    auto block = blocks.upper_bound(at);
    if (block == blocks.begin()) return nullptr;
    --block;
    return at < block->first + block->second.bytes ? &block->second : nullptr;
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    for (const void* side : {const_cast<const void*>(to), from})
      if (const Block* block = block_of(side); block && block->freed) {
        ++violations;
        return;
      }
    std::memmove(to, from, bytes);
  }
  void play(const CUgraphNode_st& node) {
    if (node.run) node.run();
    if (node.bytes) copy(node.to, node.from, node.bytes);
    for (const CUgraphNode_st& child : node.children) play(child);
  }

  cudaError_t enqueue(CUstream_st* stream, std::function<void()> work) {
    if (!streams.count(stream)) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
      if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      stream->capture->nodes.emplace_back().run = std::move(work);
    } else {
      stream->queue.push_back({Task::work, std::move(work), nullptr});
    }
    return cudaSuccess;
  }
  // Of a stream, or of all: what may not be synchronised while it is captured.
  template <class Mine>
  cudaError_t refuse_captured(const Mine& mine) {
    bool any = false;
    for (CUstream_st* s : streams)
      if (s->capture && mine(s)) any = s->capture->invalid = true;
    return any ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
  }
};

World& world() {
  static World* const one = new World;
  return *one;
}
thread_local cudaError_t last_error = cudaSuccess;
thread_local int current = 0;

// Every call of the runtime: it may be the one that fails, and lets a few tasks run before. Calls that
// destroy something do so even when they fail.
template <class F>
cudaError_t call(const F& f, bool destroys = false) {
  World& w = world();
  std::unique_lock lock(w.mutex);
  for (auto steps = w.random() % 3; steps > 0; --steps) w.step();
  const bool fails = w.calls++ == w.fail_at;
  const cudaError_t done = fails && !destroys ? w.failure : f(w, lock), result = fails ? w.failure : done;
  if (result != cudaSuccess && result != cudaErrorNotReady) last_error = result;
  return result;
}

cudaError_t add_block(World& w, void** memory, std::size_t bytes, int device) {
  *memory = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  if (!*memory) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xCB, bytes);
  w.blocks[static_cast<const char*>(*memory)] = {bytes, device};
  return cudaSuccess;
}
cudaError_t free_block(World& w, std::unique_lock<std::recursive_mutex>& lock, void* memory, bool on_host) {
  if (!memory) return cudaSuccess;
  const auto block = w.blocks.find(static_cast<const char*>(memory));
  if (block == w.blocks.end() || block->second.freed || (block->second.device < 0) != on_host)
    return cudaErrorInvalidValue;
  const int device = block->second.device;
  const cudaError_t result = w.run_until(lock, [&] {
    for (const CUstream_st* s : w.streams)
      if ((on_host || s->device == device) && !s->queue.empty()) return false;
    return true;
  });
  if (result != cudaSuccess) return result;
  if (!on_host) w.used[device] -= block->second.bytes;
  block->second.freed = true;
  std::memset(memory, 0xFF, block->second.bytes);
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(memory, block->second.bytes);
#endif
  return cudaSuccess;
}

}  // namespace

namespace stand_in {

void seed(std::uint32_t value) {
  const std::lock_guard lock(world().mutex);
  world().random.seed(value);
}
void card_bytes(std::size_t bytes) {
  const std::lock_guard lock(world().mutex);
  world().card_bytes = bytes;
}
void hold(cudaStream_t stream) {
  const std::lock_guard lock(world().mutex);
  stream->held = true;
}
void release(cudaStream_t stream) {
  const std::lock_guard lock(world().mutex);
  stream->held = false;
  world().changed.notify_all();
}
cudaError_t launch(cudaStream_t stream, std::function<void()> kernel) {
  return call([&](World& w, auto&) { return w.enqueue(stream, std::move(kernel)); });
}
class Gate {
 public:
  const std::shared_ptr<Moment> moment = std::make_shared<Moment>();
};
std::shared_ptr<Gate> put_gate(cudaStream_t stream, std::function<void()> reached) {
  const std::lock_guard lock(world().mutex);
  const auto gate = std::make_shared<Gate>();
  stream->queue.push_back({Task::work, std::move(reached), nullptr});
  stream->queue.push_back({Task::wait, {}, gate->moment});
  return gate;
}
void open(Gate& gate) {
  const std::lock_guard lock(world().mutex);
  gate.moment->passed = true;
  world().changed.notify_all();
}
std::recursive_mutex& mutex() { return world().mutex; }
void fail_at(long call, cudaError_t code) {
  const std::lock_guard lock(world().mutex);
  world().calls = 0;
  world().fail_at = call;
  world().failure = code;
}
long calls() {
  const std::lock_guard lock(world().mutex);
  return world().calls;
}
long violations() {
  const std::lock_guard lock(world().mutex);
  return world().violations;
}
int card_of(const void* address) {
  const std::lock_guard lock(world().mutex);
  const Block* const block = world().block_of(address);
  return block ? block->device : -1;
}
int card_of_stream(cudaStream_t stream) {
  const std::lock_guard lock(world().mutex);
  return world().streams.count(stream) ? stream->device : -1;
}
Memory memory_at(const void* address) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  auto block = w.blocks.upper_bound(static_cast<const char*>(address));
  if (block == w.blocks.begin()) return {};
  --block;
  return {block->first, block->second.bytes, block->second.device, block->second.freed};
}
cudaError_t last_error() { return ::last_error; }
Live live() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  long blocks = 0;
  for (const auto& [address, block] : w.blocks) blocks += !block.freed;
  return {static_cast<long>(w.streams.size()), static_cast<long>(w.events.size()),
          static_cast<long>(w.graphs.size() + w.execs.size()), blocks};
}

}  // namespace stand_in

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorName(cudaError_t) { return "cudaError"; }
const char* cudaGetErrorString(cudaError_t) { return "of the stand-in"; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = stand_in::cards;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return call([&](World&, auto&) {
    if (device < 0 || device >= stand_in::cards) return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaDeviceSynchronize() {
  return call([](World& w, auto& lock) {
    const auto here = [](const CUstream_st* s) { return s->device == current; };
    if (const cudaError_t refused = w.refuse_captured(here); refused != cudaSuccess) return refused;
    return w.run_until(lock, [&] {
      for (const CUstream_st* s : w.streams)
        if (here(s) && !s->queue.empty()) return false;
      return true;
    });
  });
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return call([&](World& w, auto&) {
    if (bytes > w.card_bytes || w.used[current] > w.card_bytes - bytes) return cudaErrorMemoryAllocation;
    w.used[current] += bytes;
    return add_block(w, memory, bytes, current);
  });
}
cudaError_t cudaFree(void* memory) {
  return call([&](World& w, auto& lock) { return free_block(w, lock, memory, false); }, true);
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return call([&](World& w, auto&) { return add_block(w, memory, bytes, -1); });
}
cudaError_t cudaFreeHost(void* memory) {
  return call([&](World& w, auto& lock) { return free_block(w, lock, memory, true); }, true);
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](World& w, auto&) {
    *total = w.card_bytes;
    *free = w.card_bytes - w.used[current];
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return call([&](World& w, auto&) { return w.enqueue(stream, [=, &w] { w.copy(to, from, bytes); }); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return call([&](World& w, auto&) { return w.enqueue(stream, [=, &w] { w.copy(to, from, bytes); }); });
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return call([&](World& w, auto&) { return w.enqueue(stream, [=] { std::memset(memory, value, bytes); }); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&](World& w, auto&) {
    if (flags != cudaStreamNonBlocking) return cudaErrorNotSupported;
    w.streams.insert(*stream = new CUstream_st{current, {}, nullptr, false});
    return cudaSuccess;
  });
}
// CUDA lets the stream finish; here its rest runs first.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(
      [&](World& w, auto& lock) {
        if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
        if (stream->capture) stream->capture->invalid = true;
        const cudaError_t result = w.run_until(lock, [&] { return stream->queue.empty(); });
        w.streams.erase(stream);
        delete stream;
        return result;
      },
      true);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](World& w, auto& lock) {
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    const auto refused = w.refuse_captured([&](const CUstream_st* s) { return s == stream; });
    if (refused != cudaSuccess) return refused;
    return w.run_until(lock, [&] { return stream->queue.empty(); });
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    const auto refused = w.refuse_captured([&](const CUstream_st* s) { return s == stream; });
    if (refused != cudaSuccess) return refused;
    return stream->queue.empty() ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream) || !w.events.count(event)) return cudaErrorInvalidResourceHandle;
    const std::shared_ptr<Moment> moment = event->last;
    if (stream->capture) {
      Capture& capture = *stream->capture;
      if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
      if (!moment || moment->capture != stream->capture) {
        capture.invalid = true;
        return moment && moment->capture ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureIsolation;
      }
      if (stream == capture.origin) capture.away.erase(moment->stream);
      return cudaSuccess;
    }
    if (!moment) return cudaSuccess;
    if (moment->capture) {  // the stream joins
      if (moment->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      stream->capture = moment->capture;
      stream->capture->away.insert(stream);
      return cudaSuccess;
    }
    stream->queue.push_back({Task::wait, {}, moment});
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return call([&](World& w, auto&) {
    w.events.insert(*event = new CUevent_st);
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(
      [&](World& w, auto&) {
        if (w.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
        delete event;
        return cudaSuccess;
      },
      true);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream) || !w.events.count(event)) return cudaErrorInvalidResourceHandle;
    if (stream->capture && stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    event->last = std::make_shared<Moment>(Moment{false, stream->capture, stream});
    if (!stream->capture) stream->queue.push_back({Task::record, {}, event->last});
    return cudaSuccess;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](World& w, auto& lock) {
    if (!w.events.count(event)) return cudaErrorInvalidResourceHandle;
    const std::shared_ptr<Moment> moment = event->last;
    if (!moment) return cudaSuccess;
    if (moment->capture) {
      moment->capture->invalid = true;
      return cudaErrorCapturedEvent;
    }
    return w.run_until(lock, [&] { return moment->passed; });
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](World& w, auto&) {
    if (!w.events.count(event)) return cudaErrorInvalidResourceHandle;
    if (!event->last) return cudaSuccess;
    if (event->last->capture) {
      event->last->capture->invalid = true;
      return cudaErrorCapturedEvent;
    }
    return event->last->passed ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    if (mode != cudaStreamCaptureModeRelaxed) return cudaErrorNotSupported;
    if (stream->capture) return cudaErrorStreamCaptureUnsupported;
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&](World& w, auto&) {
    *graph = nullptr;
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture || capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    for (CUstream_st* s : w.streams)
      if (s->capture == capture) s->capture = nullptr;
    if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (!capture->away.empty()) return cudaErrorStreamCaptureUnjoined;
    w.graphs.insert(*graph = new CUgraph_st{std::move(capture->nodes)});
    return cudaSuccess;
  });
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  return call([&](World& w, auto&) {
    w.graphs.insert(*graph = new CUgraph_st);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(
      [&](World& w, auto&) {
        if (w.graphs.erase(graph) == 0) return cudaErrorInvalidValue;
        delete graph;
        return cudaSuccess;
      },
      true);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t,
                                     void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return call([&](World& w, auto&) {
    if (!w.graphs.count(graph)) return cudaErrorInvalidValue;
    graph->nodes.push_back({{}, {}, to, from, bytes});
    *node = &graph->nodes.back();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                       size_t, cudaGraph_t child) {
  return call([&](World& w, auto&) {
    if (!w.graphs.count(graph) || !w.graphs.count(child)) return cudaErrorInvalidValue;
    graph->nodes.push_back({{}, {child->nodes.begin(), child->nodes.end()}});
    *node = &graph->nodes.back();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
  return call([&](World& w, auto&) {
    if (!w.graphs.count(graph)) return cudaErrorInvalidValue;
    w.execs.insert(*ready = new CUgraphExec_st);
    for (const CUgraphNode_st& node : graph->nodes) {
      (*ready)->places[&node] = (*ready)->nodes.size();
      (*ready)->nodes.push_back(node);
    }
    return cudaSuccess;
  });
}
// A launch that is on its way finishes.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return call(
      [&](World& w, auto&) {
        if (w.execs.erase(ready) == 0) return cudaErrorInvalidValue;
        delete ready;
        return cudaSuccess;
      },
      true);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind) {
  return call([&](World& w, auto&) {
    if (!w.execs.count(ready) || !ready->places.count(node)) return cudaErrorInvalidValue;
    CUgraphNode_st& copy = ready->nodes[ready->places[node]];
    copy.to = to, copy.from = from, copy.bytes = bytes;
    return cudaSuccess;
  });
}
// With the parameters of this moment.
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return call([&](World& w, auto&) {
    if (!w.execs.count(ready)) return cudaErrorInvalidValue;
    return w.enqueue(stream, [&w, nodes = ready->nodes] {
      for (const CUgraphNode_st& node : nodes) w.play(node);
    });
  });
}
}
