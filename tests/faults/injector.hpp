#pragma once

#include <cstdint>

// This program's operator new, in all its threads, and its way to start threads.
namespace faults {

std::int64_t live_blocks();

// The n-th allocation from now on (the next one is number 0) throws std::bad_alloc; all others succeed.
void fail_allocation(std::int64_t n);
// No more of that. Whether it came to it.
bool stop_failing();
// The n-th thread from now on is refused, as by a system that has no more.
void fail_thread(std::int64_t n);

}  // namespace faults
