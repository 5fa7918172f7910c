#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "nax/core/accelerator.hpp"
#include "nax/core/allocator.hpp"
#include "nax/core/graph_memory.hpp"
#include "nax/core/os/os.hpp"
#include "nax/devices/cuda/device/device_count.hpp"
#include "nax/devices/cuda/device/index_faults.hpp"
#include "nax/devices/cuda/launch/launch_emulated.hpp"

// Emulated GPU: host memory and loops behind the GPU interface. It lets the whole path be tested anywhere,
// running out of memory included. The host's functions refuse its arrays as they refuse a card's.
NAX_BEGIN
namespace cuda {

class EmulatedAccelerator;

// Graphs of launches that are closures.
class EmulatedGraphs final : public detail::GraphMaker {
 public:
  explicit EmulatedGraphs(EmulatedAccelerator& accelerator) : accelerator_(accelerator) {}
  void* obtain(Device device, std::size_t bytes) override;
  void give_back(Device device, void* memory, std::size_t bytes) noexcept override;
  void begin(detail::GraphRecording& graph) override { graph.state = new EmulatedSteps; }
  std::unique_ptr<detail::LaunchGraph> end(detail::GraphRecording& graph,
                                           std::vector<detail::GraphInput> inputs) override {
    auto made = std::make_unique<Graph>();
    const std::unique_ptr<EmulatedSteps> steps(
        static_cast<EmulatedSteps*>(std::exchange(graph.state, nullptr)));
    made->steps = std::move(*steps);
    made->inputs = std::move(inputs);
    return made;
  }
  void abandon(detail::GraphRecording& graph) noexcept override {
    delete static_cast<EmulatedSteps*>(std::exchange(graph.state, nullptr));
  }

 private:
  struct Graph final : detail::LaunchGraph {
    EmulatedSteps steps;
    std::vector<detail::GraphInput> inputs;
    void replay(Device, const void* const* from) override {
      ++emulated_launches();
      for (std::size_t i = 0; i < inputs.size(); ++i) std::memcpy(inputs[i].to, from[i], inputs[i].bytes);
      for (const auto& step : steps) step();
    }
  };
  EmulatedAccelerator& accelerator_;
};

class EmulatedAccelerator final : public detail::Accelerator {
 public:
  int count() override { return requested_devices().value_or(1); }
  void* allocate(Device device, std::size_t bytes) override {
    detail::check_recorded_on(device);
    if (detail::graph_recording) return detail::graph_recording->memory->allocate(bytes);
    return obtain(device, bytes);
  }
  void* obtain(Device device, std::size_t bytes) {
    Memory& memory = memory_[device.ordinal];
    if (bytes > card_bytes - std::min<std::size_t>(memory.in_use, card_bytes))
      detail::drop_unused_recordings();
    const std::size_t held = memory.in_use;
    void* const place = bytes <= card_bytes - std::min(held, card_bytes)
                            ? detail::os::allocate_aligned(256, (bytes + 256) / 256 * 256)
                            : nullptr;
    if (!place)
      raise<DeviceError>(
          {"cudaMalloc: no memory for ", bytes, " bytes on ", device, ": arrays hold ", held, " bytes"});
    const std::size_t now = memory.in_use += bytes;
    for (std::size_t peak = memory.peak; now > peak && !memory.peak.compare_exchange_weak(peak, now);) {
    }
    ++memory.allocations;
    return place;
  }
  void deallocate(Device device, void* place, std::size_t bytes, detail::Streams) noexcept override {
    if (!detail::GraphMemory::take_back(place, bytes)) give_back(device, place, bytes);
  }
  void give_back(Device device, void* place, std::size_t bytes) noexcept {
    detail::os::free_aligned(place);
    memory_[device.ordinal].in_use -= bytes;
  }
  // Threads have streams as on a GPU, although nothing is ever left to wait for.
  detail::Streams stream(Device) override {
    static std::atomic<unsigned> threads{0};
    static thread_local const detail::Streams mine = detail::Streams{1} << threads++ % 64;
    return mine;
  }
  void join(Device, detail::Streams) override {}
  void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) override {
    detail::check_recorded_on(device);
    if (!detail::graph_recording) return emulate([=] { std::memcpy(to, from, bytes); });
    const std::shared_ptr<char[]> held(new char[bytes]);
    std::memcpy(held.get(), from, bytes);
    emulate([=] { std::memcpy(to, held.get(), bytes); });
  }
  void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) override {
    detail::check_recorded_on(device);
    if (detail::graph_recording) detail::throw_read_while_recording();
    std::memcpy(to, from, bytes);
  }
  void copy_between(Device to_device, void* to, Device from_device, const void* from,
                    std::size_t bytes) override {
    if (to_device != from_device) detail::check_recordable("device_put");
    detail::check_recorded_on(to_device);
    emulate([=] { std::memcpy(to, from, bytes); });
  }
  void clear(Device device, void* memory, std::size_t bytes) override {
    detail::check_recorded_on(device);
    emulate([=] { std::memset(memory, 0, bytes); });
  }
  void synchronize(Device) override {}
  void throw_late_errors(Device device) override { IndexFaults::check(device); }
  MemoryStats memory_stats(Device device) override {
    const Memory& memory = memory_[device.ordinal];
    return {.in_use = memory.in_use,
            .peak = memory.peak,
            .cached = 0,
            .allocations = memory.allocations,
            .limit = card_bytes};
  }
  void release_cached_memory(Device) override {}
  detail::GraphMaker& graphs() override { return graphs_; }

 private:
  static constexpr std::size_t card_bytes = std::size_t{64} << 30;
  struct Memory {
    std::atomic<std::size_t> in_use{0}, peak{0}, allocations{0};
  };
  Memory memory_[most_devices];
  EmulatedGraphs graphs_{*this};
};

inline void* EmulatedGraphs::obtain(Device device, std::size_t bytes) {
  return accelerator_.obtain(device, bytes);
}
inline void EmulatedGraphs::give_back(Device device, void* memory, std::size_t bytes) noexcept {
  accelerator_.give_back(device, memory, bytes);
}

}  // namespace cuda
NAX_END
