#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "nax/core/graph_memory.hpp"
#include "nax/core/transfer.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/transform/jit/graph_cache.hpp"

// One recording of a function's launches, with memory of its own for arguments, results and what lies
// between.
NAX_BEGIN
namespace detail {

// Arguments are copied to where the launches read them; results are handed out where the launches leave them,
// and so the call may be replayed when no handle refers to them any more, or else its results are copied.
class GraphCall {
 public:
  using Results = GraphResults;

  // Records f with arguments of these shapes. What f throws leaves everything as it was.
  GraphCall(Device device, const std::vector<ArrayBase>& like, const std::vector<bool>& donated,
            GraphFunction f);

  // Are all results the graph's alone?
  bool is_free() const;

  // Device memory held by this recording.
  std::size_t bytes() const { return memory_->bytes(); }

  // The results of these arguments, which are row-major. `copied`: in memory of their own.
  Results run(const std::vector<ArrayBase>& arguments, bool copied);

 private:
  struct Scope {
    explicit Scope(GraphRecording& graph) { graph_recording = &graph; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { graph_recording = nullptr; }
  };
  struct Retire {
    void operator()(GraphMemory* memory) const { memory->retire(); }
  };
  // (A result that the function made on the host, or captured, is the same whatever the arguments are.)
  bool changes(const ArrayBase& a) const {
    const BufferRef& buffer = ArrayAccess::buffer(a);
    return buffer && on_accelerator(a) && GraphMemory::owner_of(buffer->address) == memory_.get();
  }

  Device device_;
  // Destroyed from below: first the graph, then what it uses.
  std::unique_ptr<GraphMemory, Retire> memory_;
  std::vector<BufferRef> pinned_;
  std::vector<ArrayBase> arguments_;
  std::vector<void*> places_;
  std::vector<const void*> from_;
  Results results_;
  std::vector<std::uint32_t> at_rest_;
  std::unique_ptr<LaunchGraph> graph_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/jit/graph_call-inl.hpp"
#endif
