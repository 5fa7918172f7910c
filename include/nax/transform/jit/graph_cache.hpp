#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <typeindex>
#include <utility>
#include <vector>

#include "nax/transform/jit/call_key.hpp"
#include "nax/transform/jit/graph_call.hpp"
#include "nax/transform/jit/options.hpp"
#include "nax/transform/jit/report.hpp"

// The graphs that jit has recorded of a function for a GPU.
NAX_BEGIN
namespace detail {

// The GPU on which all of these arguments lie, but for those of the host that have no axes; this thread's own
// where there are no arguments. None where f is called as it is, and computes where they lie, or refuses
// them.
NAX_ENGINE std::optional<Device> device_of_call(const std::vector<ArrayBase>& arguments);

// A function's recordings, each for calls of one kind. At most 64 kinds are kept, and as many as
// set_jit_cache() allows; the kind goes first that has not been called for the longest.
class GraphCache {
 public:
  struct Entry {
    virtual ~Entry() = default;
    std::type_index inputs = typeid(void);
    CallKey key;
    PlainCalls* plain = nullptr;       // why it cannot be recorded, and how often it was called
    std::set<std::thread::id> called;  // threads that have, on a device which wants a call before a recording
    std::vector<std::unique_ptr<GraphCall>> calls;

    std::size_t bytes() const {
      std::size_t sum = 0;
      for (const auto& call : calls) sum += call->bytes();
      return sum;
    }
  };
  static constexpr std::size_t most_entries = 64;

  GraphCache();
  GraphCache(const GraphCache&) = delete;
  GraphCache& operator=(const GraphCache&) = delete;
  ~GraphCache();

  // A call of the function: no other thread calls it meanwhile, nor drops the entry that it uses.
  class Use {
   public:
    explicit Use(GraphCache& cache) : lock_(cache.mutex_), outer_(std::exchange(in_use, &cache)) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { end(); }
    void end() {
      if (!lock_) return;
      in_use->used_ = nullptr;
      in_use = outer_;
      lock_.unlock();
    }

   private:
    std::unique_lock<std::mutex> lock_;
    GraphCache* outer_;
  };

  // In a use only.
  template <class Own, class Same>
  Own* find(const CallKey& key, const Same& same) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if ((*entry)->inputs == typeid(Own) && (*entry)->key == key)
        if (Own* const own = static_cast<Own*>(entry->get()); same(*own)) {
          std::rotate(entry, entry + 1, entries_.end());  // the last in use
          used_ = own;
          return own;
        }
    return nullptr;
  }
  template <class Own>
  Own* add(std::unique_ptr<Own> entry, CallKey key) {
    entry->inputs = typeid(Own);
    entry->key = std::move(key);
    if (entries_.size() == most_entries) entries_.pop_front();
    entries_.push_back(std::move(entry));
    used_ = entries_.back().get();
    return static_cast<Own*>(entries_.back().get());
  }
  void keep_within(std::size_t bytes) {
    std::size_t sum = 0;
    for (const auto& entry : entries_) sum += entry->bytes();
    while (sum > bytes && entries_.size() > 1) {
      sum -= entries_.front()->bytes();
      entries_.pop_front();
    }
  }
  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::deque<std::unique_ptr<Entry>>;
  // All caches that there are.
  struct All {
    std::mutex mutex;
    std::vector<GraphCache*> caches;
    static All& instance() {
      static All* const all = new All;  // functions with static storage are destroyed at any time
      return *all;
    }
  };
  static bool drop_all();
  void move_unused(Entries& to);

  static inline thread_local constinit GraphCache* in_use = nullptr;

  std::mutex mutex_;
  Entries entries_;
  Entry* used_ = nullptr;
};

// A call by graph. Results stay in the graph's memory while their holders come and go, so two recordings take
// turns where the results of one call are the arguments of the next; a third one is for calls whose results
// are kept longer, and hands out copies.
NAX_ENGINE GraphCall::Results run_by_graph(GraphCache::Entry& entry, Device device,
                                           const std::vector<ArrayBase>& arguments,
                                           const std::vector<bool>& donated, GraphCall::Function f);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/jit/graph_cache-inl.hpp"
#endif
