#pragma once

#include <mutex>

#include "nax/core/allocator.hpp"
#include "nax/core/at_fork.hpp"
#include "nax/program/record/device.hpp"
#include "nax/program/record/operations.hpp"

NAX_BEGIN
namespace program {
namespace detail {

using nax::detail::NotRecordable;

// Memory that is none.
class ProgramMemory final : public nax::detail::Accelerator {
 public:
  int count() override { return 0; }
  void* allocate(Device, std::size_t bytes) override { return Recorder::current().allocate(bytes); }
  void deallocate(Device, void*, std::size_t, nax::detail::Streams) noexcept override {}
  nax::detail::Streams stream(Device) override { return 1; }
  void join(Device, nax::detail::Streams) override {}
  void copy_to_device(Device, void* to, const void* from, std::size_t bytes) override {
    Recorder::current().fill(to, from, bytes);
  }
  void copy_to_host(Device, void*, const void*, std::size_t) override {
    throw NotRecordable(
        "jit: the function reads an array's elements, which are not there while it is recorded");
  }
  void copy_between(Device to_device, void* to, Device from_device, const void* from,
                    std::size_t bytes) override {
    if (to_device != from_device) throw NotRecordable("jit: the function copies between devices");
    const Dims shape(1, static_cast<std::int64_t>(bytes)), strides(1, 1);
    record(
        "copy", {{from, false, DType::uint8, shape, strides}, {to, true, DType::uint8, shape, strides}},
        [bytes](void* const* at) { std::memcpy(at[1], at[0], bytes); }, Attributes());
  }
  void clear(Device, void* memory, std::size_t bytes) override {
    Recorder::current().fill(memory, nullptr, bytes);
  }
  void synchronize(Device) override {}
  MemoryStats memory_stats(Device) override { return {}; }
  void release_cached_memory(Device) override {}
  nax::detail::GraphMaker& graphs() override { throw NotRecordable("jit: a program has no graph"); }
};

inline void provide_device() {
  static auto& mutex = *new nax::detail::ForkMutex;
  const std::lock_guard lock(mutex);
  static bool provided = false;
  if (std::exchange(provided, true)) return;
  static ProgramMemory memory;
  static ProgramOperations operations;
  nax::detail::accelerators[static_cast<int>(Platform::program)] = &memory;
  backend::provided_operations[static_cast<int>(Platform::program)] = &operations;
}

}  // namespace detail

NAX_ENGINE Recording::Recording(bool unrolls)
    : before_(nax::detail::graph_recording),
      recorder_(
          std::make_shared<Recorder>(is_recording() ? static_cast<Recorder*>(before_->state) : nullptr)),
      graph_{device, nullptr, recorder_.get(), nullptr, nullptr} {
  recorder_->unrolls = recorder_->unrolls || unrolls;
  detail::provide_device();
  graph_.keep = [](nax::detail::GraphRecording& graph, nax::detail::Buffer& buffer) {
    static_cast<Recorder*>(graph.state)->keep(buffer);
  };
  graph_.recompute = [](nax::detail::GraphRecording& graph, const std::vector<ArrayBase>* after) {
    Recorder& recorder = *static_cast<Recorder*>(graph.state);
    if (recorder.composes) return;  // other systems plan their own memory
    after ? recorder.begin_anew(*after) : recorder.end_anew();
  };
  nax::detail::accelerators_present.add(1);
  nax::detail::graph_recording = &graph_;
}
NAX_ENGINE Recording::~Recording() {
  nax::detail::graph_recording = before_;
  if (recorder_->parent && before_->refusal.empty()) before_->refusal = graph_.refusal;
  nax::detail::accelerators_present.add(-1);
}

NAX_ENGINE ArrayBase Recording::argument(const ArrayBase& like, bool donated) {
  ArrayBase a = nax::detail::allocate(like.dtype(), nax::detail::layout_of(like), device);
  const int slot = recorder_->place(nax::detail::device_data(a)).slot;
  recorder_->slots[static_cast<std::size_t>(slot)].kind = Slot::Kind::argument;
  recorder_->slots[static_cast<std::size_t>(slot)].number = static_cast<int>(recorder_->arguments.size());
  recorder_->arguments.push_back({slot, like.dtype(), nax::detail::layout_of(like).shape, donated});
  return a;
}

NAX_ENGINE std::vector<Output> Recording::outputs(const Arrays& results) {
  if (!graph_.refusal.empty()) throw detail::NotRecordable(graph_.refusal);
  std::vector<Output> outputs;
  for (const ArrayBase& r : results) {
    Output out;
    const nax::detail::BufferRef& buffer = nax::detail::ArrayAccess::buffer(r);
    if (buffer && nax::detail::on_program(buffer->device)) {
      out.slot = recorder_->place(buffer->address).slot;
      out.offset = nax::detail::ArrayAccess::offset(r);
    } else {
      out.constant = nax::detail::constant(r);
    }
    out.layout = nax::detail::layout_of(r);
    out.dtype = r.dtype();
    outputs.push_back(std::move(out));
  }
  for (const auto& body : recorder_->bodies) body->complete();
  return outputs;
}

}  // namespace program
NAX_END
