#include <cstdlib>

#include "cuda/runtime/world.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

// Memory and copies.
using namespace stand_in;

namespace {

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

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return call([&](World& w, auto&) {
    if (bytes > w.card_bytes || w.used[current] > w.card_bytes - bytes) return cudaErrorMemoryAllocation;
    w.used[current] += bytes;
    w.contexts.insert(current);
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
}
