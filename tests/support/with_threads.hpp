#pragma once

#include "nax/core/thread_pool.hpp"

// While it lives, operations may use so many threads.
class WithThreads {
 public:
  explicit WithThreads(int count) { nax::set_num_threads(count); }
  ~WithThreads() { nax::set_num_threads(before_); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;

 private:
  int before_ = nax::num_threads();
};
