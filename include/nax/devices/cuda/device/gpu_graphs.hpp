#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nax/core/graph_recording.hpp"
#include "nax/devices/cuda/device/capture_gate.hpp"
#include "nax/devices/cuda/device/memory_pool.hpp"
#include "nax/devices/cuda/device/streams.hpp"

// Recordings as CUDA graphs. A recording captures a stream of its own (capture_stream), which no other thread
// knows; its graph is replayed on the thread's stream of the table. The capture is relaxed, since the
// recording thread may ask the driver for memory or load a kernel meanwhile.
//
// A graph's memory comes from the device's pool, in pieces, and returns there.
NAX_BEGIN
namespace cuda {

class GpuGraphs final : public detail::GraphMaker {
 public:
  void* obtain(Device device, std::size_t bytes) override {
    return MemoryPool::of(device).allocate(device, bytes);
  }
  // Results may have been read on any stream.
  void give_back(Device device, void* memory, std::size_t bytes) noexcept override {
    MemoryPool::of(device).deallocate(device, memory, bytes, ~Streams{0});
  }

  bool wants_plain_call() const override { return true; }
  void begin(detail::GraphRecording& graph) override {
    auto held = std::make_unique<Held>();
    const OnCard on(graph.device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    held->stream.reset(stream);
    held->recording.emplace();
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    capture_stream = stream;
    capture_holds = &held->plans;
    graph.state = held.release();
  }
  // One graph of a copy for each input, and then what was captured.
  std::unique_ptr<detail::LaunchGraph> end(detail::GraphRecording& graph,
                                           std::vector<detail::GraphInput> inputs) override {
    const OnCard on(graph.device);  // nodes are of the card that is current while they are made
    auto made = std::make_unique<Graph>(graph.device);
    made->held.reset(static_cast<Held*>(std::exchange(graph.state, nullptr)));
    capture_stream = nullptr;
    capture_holds = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(made->held->stream.get(), &made->captured);
    made->held->recording.reset();
    check(ended, "cudaStreamEndCapture");
    made->held->stream.reset();
    check(cudaGraphCreate(&made->whole, 0), "cudaGraphCreate");
    std::vector<cudaGraphNode_t> copies;
    for (const detail::GraphInput& input : inputs) {
      Graph::Input in{input, input.from, nullptr};
      if (input.bytes > 0) {
        check(cudaGraphAddMemcpyNode1D(&in.copy, made->whole, nullptr, 0, input.to, input.from, input.bytes,
                                       cudaMemcpyDeviceToDevice),
              "cudaGraphAddMemcpyNode1D");
        copies.push_back(in.copy);
      }
      made->inputs.push_back(in);
    }
    cudaGraphNode_t rest = nullptr;
    check(cudaGraphAddChildGraphNode(&rest, made->whole, copies.data(), copies.size(), made->captured),
          "cudaGraphAddChildGraphNode");
    check(cudaGraphInstantiate(&made->ready, made->whole, 0), "cudaGraphInstantiate");
    return made;
  }
  void abandon(detail::GraphRecording& graph) noexcept override {
    const std::unique_ptr<Held> held(static_cast<Held*>(std::exchange(graph.state, nullptr)));
    if (!held) return;
    capture_stream = nullptr;
    capture_holds = nullptr;
    cudaGraph_t captured = nullptr;
    if (cudaStreamEndCapture(held->stream.get(), &captured) == cudaSuccess && captured)
      cudaGraphDestroy(captured);
    cudaGetLastError();
  }

  // The host's bytes where the recording's graph finds them.
  const void* held(const void* from, std::size_t bytes) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    auto& all = static_cast<Held*>(detail::graph_recording->state)->memory;
    all.emplace_back(memory);
    std::memcpy(memory, from, bytes);
    return memory;
  }

 private:
  struct FreeHost {
    void operator()(void* memory) const noexcept { cudaFreeHost(memory); }
  };
  struct DestroyStream {
    void operator()(cudaStream_t stream) const noexcept {
      cudaStreamDestroy(stream);
      cudaGetLastError();
    }
  };
  struct Held {
    std::vector<std::unique_ptr<void, FreeHost>> memory;
    std::vector<std::shared_ptr<const void>> plans;
    std::unique_ptr<CUstream_st, DestroyStream> stream;  // while it is captured
    std::optional<CaptureGate::Recording> recording;     // the same
  };
  struct Graph final : detail::LaunchGraph {
    struct Input {
      detail::GraphInput place;
      const void* from;  // what the copy reads now
      cudaGraphNode_t copy;
    };
    Device device;
    std::unique_ptr<Held> held;
    std::vector<Input> inputs;
    cudaGraph_t captured = nullptr, whole = nullptr;
    cudaGraphExec_t ready = nullptr;

    Streams launched_on = 0;

    explicit Graph(Device d) : device(d) {}
    ~Graph() override {
      try {
        DeviceStreams::of(device).drain(device, launched_on);  // it may be running, and its memory goes next
      } catch (...) {                                          // the process may be ending
      }
      if (ready) cudaGraphExecDestroy(ready);
      if (whole) cudaGraphDestroy(whole);
      if (captured) cudaGraphDestroy(captured);
      cudaGetLastError();
    }
    void replay(Device where, const void* const* from) override {
      const StreamInUse stream = table_stream(where);
      launched_on |= stream_bit(where);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        Input& in = inputs[i];
        if (in.from == from[i] || !in.copy) continue;
        check(cudaGraphExecMemcpyNodeSetParams1D(ready, in.copy, in.place.to, from[i], in.place.bytes,
                                                 cudaMemcpyDeviceToDevice),
              "cudaGraphExecMemcpyNodeSetParams1D");
        in.from = from[i];
      }
      check(cudaGraphLaunch(ready, stream), "cudaGraphLaunch");
    }
  };
};

}  // namespace cuda
NAX_END
