#pragma once

#include <memory>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/transform/jit/call_key.hpp"
#include "nax/transform/jit/report.hpp"

// The graphs that jit has recorded of a function for a GPU.
NAX_BEGIN
namespace detail {

using GraphResults = std::vector<ArrayBase>;
using GraphFunction = FunctionRef<GraphResults(std::vector<ArrayBase>& arguments)>;

// The GPU on which all of these arguments lie, but for those of the host that have no axes; this thread's own
// where there are no arguments. None where f is called as it is, and computes where they lie, or refuses
// them.
NAX_ENGINE std::optional<Device> device_of_call(const std::vector<ArrayBase>& arguments);

// A function's recordings, each for calls of one kind. At most 64 kinds are kept, and as many as
// set_jit_cache() allows; the kind goes first that has not been called for the longest.
class GraphCache {
 public:
  class Entry {
   public:
    Entry();
    NAX_ENGINE_VIRTUAL virtual ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    // Is it the calling thread's first call? Asked where a device wants a call before a recording.
    bool begins_on_thread();
    // From now on the function is called as it is.
    void refuse(const char* why);

    PlainCalls* plain = nullptr;  // why it cannot be recorded, and how often it was called

   private:
    friend class GraphCache;
    struct Insides;
    const std::unique_ptr<Insides> insides_;
  };

  GraphCache();
  GraphCache(const GraphCache&) = delete;
  GraphCache& operator=(const GraphCache&) = delete;
  ~GraphCache();

  // A call of the function: no other thread calls it meanwhile, nor drops the entry that it uses.
  class Use {
   public:
    explicit Use(GraphCache& cache);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { end(); }
    void end();

   private:
    GraphCache* cache_;  // null: the use has ended
    GraphCache* outer_;
  };

  // In a use only.
  template <class Own, class Same>
  Own* find(const CallKey& key, const Same& same) {
    return static_cast<Own*>(
        find(typeid(Own), key, [&](Entry& entry) { return same(static_cast<const Own&>(entry)); }));
  }
  template <class Own>
  Own* add(std::unique_ptr<Own> entry, CallKey key) {
    return static_cast<Own*>(add(typeid(Own), std::move(entry), std::move(key)));
  }
  // The results of f, an entry's function, of these arguments, by a graph. Results stay in the graph's memory
  // while their holders come and go, so two recordings take turns where the results of one call are the
  // arguments of the next; a third one is for calls whose results are kept longer, and hands out copies.
  GraphResults run(Entry& entry, Device device, const std::vector<ArrayBase>& arguments,
                   const std::vector<bool>& donated, GraphFunction f);
  std::size_t size() const;

 private:
  Entry* find(const std::type_info& inputs, const CallKey& key, FunctionRef<bool(Entry&)> same);
  Entry* add(const std::type_info& inputs, std::unique_ptr<Entry> entry, CallKey key);

  struct Insides;
  const std::unique_ptr<Insides> insides_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/jit/graph_cache-inl.hpp"
#endif
