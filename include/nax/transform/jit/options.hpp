#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "nax/core/compiled_once.hpp"
#include "nax/core/error.hpp"

NAX_BEGIN

// Numbers of arguments: {1}, {0, 2} or 1; negative ones count from the end.
class Argnums {
 public:
  Argnums() = default;
  Argnums(int one) : numbers_{one} {}
  Argnums(std::initializer_list<int> numbers) : numbers_(numbers) {}
  const std::vector<int>& get() const { return numbers_; }

 private:
  std::vector<int> numbers_;
};

struct JitOptions {
  Argnums static_argnums = {};  // arguments by whose values, not only shapes, calls are told apart
  Argnums donate_argnums = {};  // arguments whose memory f may use for its results
  bool required = false;        // throw where f would be called as it is (jit_report()'s reasons)
};

namespace detail {
inline std::atomic<std::size_t> jit_cache_bytes{std::size_t{1} << 30};
inline std::atomic<bool> jit_disabled{false};
}  // namespace detail

// From now on jitted functions are called as they are, in all threads: they print, count and can be looked at
// with a debugger in each call. disable_jit(false) ends that.
inline void disable_jit(bool on = true) { detail::jit_disabled.store(on, std::memory_order_relaxed); }

// How many bytes of its device's memory the recordings of a jitted function may hold, 1 GiB by default:
// beyond that, those that have not been called for the longest are dropped, but for the last. (When a GPU's
// memory runs out, recordings are dropped whatever they hold.)
inline void set_jit_cache(std::size_t bytes) {
  detail::jit_cache_bytes.store(bytes, std::memory_order_relaxed);
}

namespace detail {

// For each of `count` arguments, whether it is named. Throws ValueError for one that there is not.
NAX_ENGINE std::vector<bool> named_arguments(const char* option, const Argnums& numbers, int count);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<bool> named_arguments(const char* option, const Argnums& numbers, int count) {
  std::vector<bool> named(static_cast<std::size_t>(count));
  for (int i : numbers.get()) {
    if (i < -count || i >= count)
      raise<ValueError>({"jit: ", option, " ", i, " is out of range for ", count, " arguments"});
    named[static_cast<std::size_t>(i < 0 ? i + count : i)] = true;
  }
  return named;
}

}  // namespace detail
NAX_END
#endif
