#pragma once

#include <cstdint>

#include "nax/core/compiled_once.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/shared_threads.hpp"

// Sharing out one operation among threads. (thread_pool-inl.hpp has the pool.)
NAX_BEGIN

// Threads that one operation may use: NAX_NUM_THREADS, or as many as the process may run on.
NAX_ENGINE int num_threads();
NAX_ENGINE void set_num_threads(int count);

// While it lives, operations of this thread use at most `count` threads (itself included).
struct ThreadLimit {
  explicit ThreadLimit(int count);
  ~ThreadLimit() { nax_shared::thread_limit = before_; }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

// Threads that a parallel_for called here would use at most.
NAX_ENGINE int available_threads();

// Calls f(begin, end) over parts of [0, n), some of them on other threads; every begin is a multiple of
// `grain`, and a part is not smaller than that but for the last. Everything happens here, in one call, when n
// <= grain, when one thread is to be used, or inside another parallel_for. The first exception thrown by f
// reaches the caller, after all threads have left f.
NAX_ENGINE void parallel_for(std::int64_t n, std::int64_t grain,
                             FunctionRef<void(std::int64_t begin, std::int64_t end)> f);

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/thread_pool-inl.hpp"
#endif
