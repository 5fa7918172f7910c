#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <typeindex>

#include "nax/transform/jit/graph_call.hpp"
#include "nax/transform/jit/options.hpp"

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

struct GraphCache::Entry::Insides {
  std::type_index inputs = typeid(void);
  CallKey key;
  std::set<std::thread::id> called;  // threads that have, on a device which wants a call before a recording
  std::vector<std::unique_ptr<GraphCall>> calls;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& call : calls) sum += call->bytes();
    return sum;
  }
};

NAX_ENGINE GraphCache::Entry::Entry() : insides_(std::make_unique<Insides>()) {}
NAX_ENGINE_KEY GraphCache::Entry::~Entry() = default;
NAX_ENGINE bool GraphCache::Entry::begins_on_thread() {
  return insides_->called.insert(std::this_thread::get_id()).second;
}
NAX_ENGINE void GraphCache::Entry::refuse(const char* why) {
  plain = &plain_calls(why);
  insides_->calls.clear();
}

struct GraphCache::Insides {
  static constexpr std::size_t most_entries = 64;
  using Entries = std::deque<std::unique_ptr<Entry>>;
  // All caches that there are.
  struct All {
    std::mutex mutex;
    std::vector<Insides*> caches;
    static All& instance() {
      static All* const all = new All;  // functions with static storage are destroyed at any time
      return *all;
    }
  };

  void move_unused(Entries& to) {
    Entries kept;
    for (auto& entry : entries) (entry.get() == used ? kept : to).push_back(std::move(entry));
    entries = std::move(kept);
  }
  static bool drop_all() {
    Entries gone;  // they are destroyed when nothing is locked: they may hold jitted functions
    {
      All& all = All::instance();
      const std::lock_guard lock(all.mutex);
      for (Insides* const cache : all.caches) {
        if (in_use && cache == in_use->insides_.get()) {
          cache->move_unused(gone);
        } else if (const std::unique_lock mine(cache->mutex, std::try_to_lock); mine) {
          cache->move_unused(gone);
        }
      }
    }
    return !gone.empty();
  }
  void keep_within(std::size_t bytes) {
    std::size_t sum = 0;
    for (const auto& entry : entries) sum += entry->insides_->bytes();
    while (sum > bytes && entries.size() > 1) {
      sum -= entries.front()->insides_->bytes();
      entries.pop_front();
    }
  }

  static inline thread_local constinit GraphCache* in_use = nullptr;

  std::mutex mutex;
  Entries entries;
  Entry* used = nullptr;
};

NAX_ENGINE GraphCache::GraphCache() : insides_(std::make_unique<Insides>()) {
  Insides::All& all = Insides::All::instance();
  const std::lock_guard lock(all.mutex);
  all.caches.push_back(insides_.get());
  drop_recordings.store(&Insides::drop_all, std::memory_order_release);
}
NAX_ENGINE GraphCache::~GraphCache() {
  Insides::All& all = Insides::All::instance();
  const std::lock_guard lock(all.mutex);
  std::erase(all.caches, insides_.get());
}

NAX_ENGINE GraphCache::Use::Use(GraphCache& cache) : cache_(&cache) {
  cache.insides_->mutex.lock();
  outer_ = std::exchange(Insides::in_use, &cache);
}
NAX_ENGINE void GraphCache::Use::end() {
  if (!cache_) return;
  Insides& cache = *std::exchange(cache_, nullptr)->insides_;
  cache.used = nullptr;
  Insides::in_use = outer_;
  cache.mutex.unlock();
}

NAX_ENGINE auto GraphCache::find(const std::type_info& inputs, const CallKey& key,
                                 FunctionRef<bool(Entry&)> same) -> Entry* {
  Insides::Entries& entries = insides_->entries;
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    Entry& one = **entry;
    if (one.insides_->inputs != inputs || one.insides_->key != key || !same(one)) continue;
    std::rotate(entry, entry + 1, entries.end());  // the last in use
    return insides_->used = &one;
  }
  return nullptr;
}

NAX_ENGINE auto GraphCache::add(const std::type_info& inputs, std::unique_ptr<Entry> entry, CallKey key)
    -> Entry* {
  entry->insides_->inputs = inputs;
  entry->insides_->key = std::move(key);
  Insides::Entries& entries = insides_->entries;
  if (entries.size() == Insides::most_entries) entries.pop_front();
  entries.push_back(std::move(entry));
  return insides_->used = entries.back().get();
}

NAX_ENGINE std::size_t GraphCache::size() const { return insides_->entries.size(); }

NAX_ENGINE GraphResults GraphCache::run(Entry& entry, Device device, const std::vector<ArrayBase>& arguments,
                                        const std::vector<bool>& donated, GraphFunction f) {
  constexpr std::size_t handed_out = 2;
  auto& calls = entry.insides_->calls;
  std::vector<ArrayBase> rows;
  for (const ArrayBase& a : arguments) rows.push_back(contiguous(a));
  const auto run_call = [&](std::size_t i, bool copied) {
    if (calls.size() > i) return calls[i]->run(rows, copied);
    calls.push_back(std::make_unique<GraphCall>(device, rows, donated, f));
    GraphResults results = calls[i]->run(rows, copied);
    ++jit_recordings;
    insides_->keep_within(jit_cache_bytes.load(std::memory_order_relaxed));
    return results;
  };
  for (std::size_t i = 0; i < handed_out; ++i)
    if (i == calls.size() || calls[i]->is_free()) return run_call(i, false);
  return run_call(handed_out, true);
}

}  // namespace detail
NAX_END
