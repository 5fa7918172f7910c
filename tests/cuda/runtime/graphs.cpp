#include "cuda/runtime/world.hpp"

// Captures and graphs.
using namespace stand_in;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    if (mode != cudaStreamCaptureModeRelaxed) return cudaErrorNotSupported;
    if (stream->capture) return cudaErrorStreamCaptureUnsupported;
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    stream->capture->thread = std::this_thread::get_id();
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
    graph->nodes.push_back({{}, {}, to, from, bytes, current});
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
    if (copy.card != current) return cudaErrorInvalidValue;
    copy.to = to, copy.from = from, copy.bytes = bytes;
    return cudaSuccess;
  });
}
// With the parameters of this moment.
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return call([&](World& w, auto&) {
    if (!w.execs.count(ready)) return cudaErrorInvalidValue;
    for (const CUgraphNode_st& node : ready->nodes)
      if (node.to && w.streams.count(stream) && node.card != stream->device) return cudaErrorInvalidValue;
    return w.enqueue(stream, [&w, nodes = ready->nodes] {
      for (const CUgraphNode_st& node : nodes) w.play(node);
    });
  });
}
}
