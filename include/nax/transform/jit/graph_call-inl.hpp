#pragma once

#include "nax/core/profile.hpp"
#include "nax/transform/jit/graph_call.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE GraphCall::GraphCall(Device device, const std::vector<ArrayBase>& like,
                                const std::vector<bool>& donated, GraphFunction f)
    : device_(device), memory_(new GraphMemory(accelerator_of(device).graphs(), device)) {
  GraphMaker& maker = accelerator_of(device).graphs();
  GraphRecording graph{device, memory_.get(), nullptr, &pinned_};
  std::vector<GraphInput> inputs;
  for (const ArrayBase& a : like) {
    const bool there = on_accelerator(a);
    inputs.push_back({nullptr, there ? device_data(a) : nullptr, there ? bytes_of(a) : 0});
  }
  {
    const Scope now(graph);
    std::vector<ArrayBase> arguments;
    for (std::size_t i = 0; i < like.size(); ++i) {
      arguments.push_back(allocate(like[i].dtype(), layout_of(like[i]), device));
      places_.push_back(inputs[i].to = device_data(arguments[i]));
    }
    // Who holds an argument beside f keeps it from being written over.
    for (std::size_t i = 0; i < like.size(); ++i)
      if (!donated[i]) arguments_.push_back(arguments[i]);
    maker.begin(graph);
    try {
      results_ = f(arguments);
      if (!graph.refusal.empty()) throw NotRecordable(graph.refusal);
      graph_ = maker.end(graph, std::move(inputs));
    } catch (...) {
      maker.abandon(graph);
      throw;
    }
  }
  for (const ArrayBase& r : results_) at_rest_.push_back(ArrayAccess::buffer(r).use_count());
}

NAX_ENGINE bool GraphCall::is_free() const {
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (changes(results_[i]) && ArrayAccess::buffer(results_[i]).use_count() > at_rest_[i]) return false;
  return true;
}

NAX_ENGINE auto GraphCall::run(const std::vector<ArrayBase>& arguments, bool copied) -> Results {
  const profile::Span span(profile::Kind::operation, "jit", device_);
  Accelerator& accelerator = accelerator_of(device_);
  const Streams mine = accelerator.stream(device_);
  for (const ArrayBase& r : results_)
    if (changes(r)) {
      // Other streams may still read what is written now, and must wait when they read it next.
      Buffer& buffer = *ArrayAccess::buffer(r).get();
      delete std::exchange(buffer.source, nullptr);  // what the host has seen of the last results
      buffer.drop_moment();
      std::atomic<Streams>& met = buffer.streams;
      if (const Streams others = met.load(std::memory_order_acquire) & ~mine)
        accelerator.join(device_, others);
      met.store(mine, std::memory_order_release);
    }
  from_.clear();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArrayBase& a = arguments[i];
    if (on_accelerator(a)) {
      from_.push_back(device_data(a));
    } else {
      copy_bytes(device_, places_[i], a.device(), raw_data(a), bytes_of(a));
      from_.push_back(places_[i]);
    }
  }
  graph_->replay(device_, from_.data());
  if (!copied) return results_;
  Results out;
  for (const ArrayBase& r : results_) out.push_back(changes(r) ? copy_over(r, layout_of(r)) : r);
  return out;
}

}  // namespace detail
NAX_END
