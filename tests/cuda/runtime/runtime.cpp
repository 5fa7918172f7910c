#include "cuda/runtime/runtime.hpp"

#include "cuda/runtime/world.hpp"

// The controls of the stand-in, devices and errors.
namespace stand_in {

World& world() {
  static World* const one = new World;
  return *one;
}
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
  return call([&](World& w, auto&) {
    if (w.streams.count(stream) && stream->device != current) return cudaErrorInvalidResourceHandle;
    return w.enqueue(stream, std::move(kernel));
  });
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
void fault_at(long work, cudaError_t code) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.works = 0;
  w.fault_at = work;
  w.fault = code;
}
void heal() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.fault_at = -1;
  w.sticky = latest_error = cudaSuccess;
}
void connect_peers(bool can) {
  const std::lock_guard lock(world().mutex);
  world().peers = can;
}
long peers_enabled() {
  const std::lock_guard lock(world().mutex);
  return static_cast<long>(world().enabled.size());
}
bool has_context(int card) {
  const std::lock_guard lock(world().mutex);
  return world().contexts.count(card) > 0;
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
cudaError_t last_error() { return latest_error; }
Live live() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  long blocks = 0;
  for (const auto& [address, block] : w.blocks) blocks += !block.freed;
  return {static_cast<long>(w.streams.size()), static_cast<long>(w.events.size()),
          static_cast<long>(w.graphs.size() + w.execs.size()), blocks};
}

}  // namespace stand_in

using namespace stand_in;

namespace {

int context_state(int card, unsigned* flags, int* active) {
  *flags = 0;
  *active = has_context(card);
  return 0;
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(latest_error, cudaSuccess); }
const char* cudaGetErrorName(cudaError_t) { return "cudaError"; }
const char* cudaGetErrorString(cudaError_t) { return "of the stand-in"; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = driver.says == cudaSuccess ? stand_in::cards : 0;
  return driver.says;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = driver.version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return call([&](World& w, auto&) {
    if (device < 0 || device >= stand_in::cards) return cudaErrorInvalidDevice;
    current = device;
    w.contexts.insert(device);
    return cudaSuccess;
  });
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* said) {
  const bool known = std::strcmp(name, "cuDevicePrimaryCtxGetState") == 0;
  *function = known ? reinterpret_cast<void*>(&context_state) : nullptr;
  *said = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](World& w, auto&) {
    *can = w.peers && device != peer;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](World& w, auto&) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!w.peers || peer == current) return cudaErrorNotSupported;
    return w.enabled.insert({current, peer}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}
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
}
