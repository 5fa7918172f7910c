#pragma once

#include <atomic>

#include "nax/core/accelerator.hpp"
#include "nax/core/graph_memory.hpp"
#include "nax/devices/cuda/device/gpu_graphs.hpp"
#include "nax/devices/cuda/device/index_faults.hpp"
#include "nax/devices/cuda/device/memory_pool.hpp"
#include "nax/devices/cuda/device/streams.hpp"

// NVIDIA's cards as nax's accelerator: memory from pools, copies on streams.
NAX_BEGIN
namespace cuda {

// Lets the copies between two cards go directly, where the machine can.
inline void connect_cards(int a, int b) {
  static std::atomic<std::uint64_t> connected[most_devices] = {};
  if (a == b || a >= most_devices || b >= most_devices) return;
  if (connected[a].fetch_or(std::uint64_t{1} << b) >> b & 1) return;
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    int possible = 0;
    if (cudaDeviceCanAccessPeer(&possible, from, to) != cudaSuccess || !possible) continue;
    const OnCard on(Device{Platform::cuda, static_cast<std::uint16_t>(from)});
    cudaDeviceEnablePeerAccess(to, 0);
  }
  cudaGetLastError();  // they go by way of the host otherwise
}

class Gpu final : public detail::Accelerator {
 public:
  int count() override { return device_count(); }
  std::string why_none() override { return why_no_cards(); }

  void* allocate(Device device, std::size_t bytes) override {
    detail::check_recorded_on(device);
    if (detail::graph_recording) return detail::graph_recording->memory->allocate(bytes);
    return MemoryPool::of(device).allocate(device, bytes);
  }
  void deallocate(Device device, void* memory, std::size_t bytes, Streams used) noexcept override {
    if (!detail::GraphMemory::take_back(memory, bytes))
      MemoryPool::of(device).deallocate(device, memory, bytes, used);
  }

  Streams stream(Device device) override { return stream_bit(device); }
  void* native_stream(Device device) override {
    const StreamInUse stream = use(device);
    return static_cast<cudaStream_t>(stream);
  }
  void join(Device device, Streams others) override {
    if (detail::graph_recording)  // no graph may wait for what is in none
      return DeviceStreams::of(device).drain(device, others);
    const StreamInUse stream = use(device);
    DeviceStreams::of(device).follow(others, stream);
  }
  void* moment(Device device) noexcept override {
    Streams mine = stream_bit(device);
    PlaceMark* const mark = DeviceStreams::of(device).mark(device, mine);
    if (mark) mark->number = ++moments_noted;
    return mark;
  }
  void join_moment(Device device, void* moment) override {
    const PlaceMark& mark = *static_cast<const PlaceMark*>(moment);
    if (detail::graph_recording) return wait_for(mark);
    const StreamInUse stream = use(device);
    check(cudaStreamWaitEvent(stream, mark.event, 0), "cudaStreamWaitEvent");
  }
  void drop_moment(Device device, void* moment) noexcept override {
    DeviceStreams::of(device).give_back(static_cast<PlaceMark*>(moment));
  }
  void synchronize(Device device) override {
    if (detail::graph_recording) return;
    const StreamInUse stream = use(device);
    wait_for(stream);
  }
  void throw_late_errors(Device device) override { IndexFaults::check(device); }

  void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) override {
    const StreamInUse stream = use(device);
    if (detail::graph_recording)
      check(cudaMemcpyAsync(to, graphs_.held(from, bytes), bytes, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    else
      DeviceStreams::of(device).at(place_on(device)).staging.upload(stream, to, from, bytes);
  }
  void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) override {
    detail::check_recorded_on(device);
    if (detail::graph_recording) detail::throw_read_while_recording();
    const StreamInUse stream = use(device);
    if (stream_watch) wait_for(stream);
    DeviceStreams::of(device).at(place_on(device)).staging.download(stream, to, from, bytes);
  }
  // The copy belongs to the thread's streams on both devices: it comes after what each was given before, and
  // before what each gets next.
  void copy_between(Device to_device, void* to, Device from_device, const void* from,
                    std::size_t bytes) override {
    if (to_device != from_device) detail::check_recordable("device_put");
    const StreamInUse source = use(from_device), target = use(to_device);
    const int to_card = card_of(to_device), from_card = card_of(from_device);
    if (cudaStream_t{source} != cudaStream_t{target})
      DeviceStreams::of(from_device).follow(stream_bit(from_device), target);
    if (to_card == from_card) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, target), "cudaMemcpyAsync");
    } else {
      connect_cards(to_card, from_card);
      check(cudaMemcpyPeerAsync(to, to_card, from, from_card, bytes, target), "cudaMemcpyPeerAsync");
    }
    if (cudaStream_t{source} != cudaStream_t{target})
      DeviceStreams::of(to_device).follow(stream_bit(to_device), source);
  }
  void clear(Device device, void* memory, std::size_t bytes) override {
    const StreamInUse stream = use(device);
    check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
  }

  MemoryStats memory_stats(Device device) override { return MemoryPool::of(device).stats(); }
  void release_cached_memory(Device device) override { MemoryPool::of(device).release(device); }
  detail::GraphMaker& graphs() override { return graphs_; }

 private:
  GpuGraphs graphs_;
};

}  // namespace cuda
NAX_END
