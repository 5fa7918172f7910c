#pragma once

#include "nax/transform/jit/graph_cache.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::optional<Device> device_of_call(const std::vector<ArrayBase>& arguments) {
  std::optional<Device> device;
  if (arguments.empty() && on_accelerator(current_device)) device = current_device;
  for (const ArrayBase& a : arguments)
    if (on_accelerator(a) && !device) device = a.device();
  for (const ArrayBase& a : arguments)
    if (a.device() != device && (on_accelerator(a) || layout_of(a).ndim() > 0)) return std::nullopt;
  return device;
}

NAX_ENGINE GraphCache::GraphCache() {
  All& all = All::instance();
  const std::lock_guard lock(all.mutex);
  all.caches.push_back(this);
  drop_recordings.store(&drop_all, std::memory_order_release);
}
NAX_ENGINE GraphCache::~GraphCache() {
  All& all = All::instance();
  const std::lock_guard lock(all.mutex);
  std::erase(all.caches, this);
}

NAX_ENGINE void GraphCache::move_unused(Entries& to) {
  Entries kept;
  for (auto& entry : entries_) (entry.get() == used_ ? kept : to).push_back(std::move(entry));
  entries_ = std::move(kept);
}

NAX_ENGINE bool GraphCache::drop_all() {
  Entries gone;  // they are destroyed when nothing is locked: they may hold jitted functions
  {
    All& all = All::instance();
    const std::lock_guard lock(all.mutex);
    for (GraphCache* const cache : all.caches) {
      if (cache == in_use) {
        cache->move_unused(gone);
      } else if (const std::unique_lock mine(cache->mutex_, std::try_to_lock); mine) {
        cache->move_unused(gone);
      }
    }
  }
  return !gone.empty();
}

NAX_ENGINE GraphCall::Results run_by_graph(GraphCache::Entry& entry, Device device,
                                           const std::vector<ArrayBase>& arguments,
                                           const std::vector<bool>& donated, GraphCall::Function f) {
  constexpr std::size_t handed_out = 2;
  std::vector<ArrayBase> rows;
  for (const ArrayBase& a : arguments) rows.push_back(contiguous(a));
  const auto call = [&](std::size_t i) -> GraphCall& {
    if (entry.calls.size() == i) entry.calls.push_back(std::make_unique<GraphCall>(device, rows, donated, f));
    return *entry.calls[i];
  };
  for (std::size_t i = 0; i < handed_out; ++i)
    if (i == entry.calls.size() || entry.calls[i]->is_free()) return call(i).run(rows, false);
  return call(handed_out).run(rows, true);
}

}  // namespace detail
NAX_END
