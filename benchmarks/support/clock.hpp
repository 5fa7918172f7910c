#pragma once

#include <cstdlib>
#include <ctime>

namespace bench {

// Seconds that pass, or with NAX_PROCESSOR_TIME in the environment those that this process has the processor:
// see peers/side.py.
inline double now() {
  static const bool processor = std::getenv("NAX_PROCESSOR_TIME") != nullptr;
  timespec t;
  clock_gettime(processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace bench
