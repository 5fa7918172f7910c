#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/runtime/runtime.hpp"

// The state of the stand-in: one World behind one mutex; tasks run under it, on the thread whose call lets
// them.
namespace stand_in {

struct Capture;
// One recording of an event.
struct Moment {
  bool passed = false;
  std::shared_ptr<Capture> capture;  // where it was recorded in one
  CUstream_st* stream = nullptr;
  long time = 0;  // on the fake clock, when it passed
};
struct Task {
  enum Kind { work, record, wait } kind;
  std::function<void()> run;
  std::shared_ptr<Moment> moment;
};

}  // namespace stand_in

struct CUstream_st {
  int device;
  std::deque<stand_in::Task> queue;
  std::shared_ptr<stand_in::Capture> capture;
  bool held = false;
};
struct CUevent_st {
  int device = 0;
  std::shared_ptr<stand_in::Moment> last;
  bool timed = false;
};
struct CUgraphNode_st {
  std::function<void()> run;             // of a captured task, or of the child
  std::vector<CUgraphNode_st> children;  // of a child graph
  void* to = nullptr;                    // of a copy
  const void* from = nullptr;
  std::size_t bytes = 0;
  int card = 0;  // of a copy
};
struct CUgraph_st {
  std::deque<CUgraphNode_st> nodes;  // in an order that their edges allow
};
struct CUgraphExec_st {
  std::map<const CUgraphNode_st*, std::size_t> places;
  std::vector<CUgraphNode_st> nodes;
};

namespace stand_in {

struct Capture {
  CUstream_st* origin;
  std::thread::id thread;       // that began it
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
  std::size_t card_bytes = std::size_t{1} << 30, used[cards] = {};
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::set<CUgraph_st*> graphs;
  std::set<CUgraphExec_st*> execs;
  std::map<const char*, Block> blocks;
  long calls = 0, fail_at = -1, violations = 0;
  long clock = 0;  // counts the work that has been done
  cudaError_t failure = cudaSuccess;
  long works = 0, fault_at = -1;
  cudaError_t fault = cudaSuccess, sticky = cudaSuccess;
  bool peers = false;
  std::set<std::pair<int, int>> enabled;  // a card, and a peer that it may read
  std::set<int> contexts;

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
    if (task.kind == Task::work && works++ == fault_at) return die();
    if (task.kind == Task::work) task.run(), ++clock;
    if (task.kind == Task::record) task.moment->passed = true, task.moment->time = clock;
    return true;
  }
  // A kernel has faulted: nothing that was enqueued runs any more.
  bool die() {
    sticky = fault;
    for (CUstream_st* s : streams) {
      for (Task& task : s->queue)
        if (task.kind == Task::record) task.moment->passed = true;
      s->queue.clear();
    }
    return true;
  }
  template <class Done>
  cudaError_t run_until(std::unique_lock<std::recursive_mutex>& lock, const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!done()) {
      if (sticky != cudaSuccess) return sticky;
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
  // At the making of a library's handle or plan.
  void refuse_in_capture() {
    for (const CUstream_st* s : streams)
      if (s->capture && s->capture->thread == std::this_thread::get_id()) ++violations;
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

World& world();
inline thread_local cudaError_t latest_error = cudaSuccess;
inline thread_local int current = 0;

// Every call of the runtime: it may be the one that fails, and lets a few tasks run before. Calls that
// destroy something do so even when they fail.
template <class F>
cudaError_t call(const F& f, bool destroys = false) {
  World& w = world();
  std::unique_lock lock(w.mutex);
  for (auto steps = w.random() % 3; steps > 0; --steps) w.step();
  const bool fails = w.calls++ == w.fail_at;
  const bool does = destroys || (!fails && w.sticky == cudaSuccess);
  const cudaError_t done = does ? f(w, lock) : w.failure;
  const cudaError_t result = w.sticky != cudaSuccess ? w.sticky : fails ? w.failure : done;
  if (result != cudaSuccess && result != cudaErrorNotReady) latest_error = result;
  return result;
}

}  // namespace stand_in
