#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

// The threads of a program whose files are compiled for several sets of instructions (abi.hpp): each
// namespace has a pool, and the first that uses one lends it to all others. There are numbers and addresses
// here, and no functions: those would be the linker's to choose, compiled to the instructions of any file.
namespace nax_shared {

using Part = void(void* object, std::int64_t begin, std::int64_t end);
// Calls part(object, begin, end) over [0, n) in chunks, on up to `threads` threads.
using ShareOut = void(void* object, Part* part, std::int64_t n, std::int64_t chunk, int threads);

inline constinit std::atomic<ShareOut*> share_out{nullptr};
inline constinit std::atomic<int> thread_count{0};  // 0: not decided yet
inline constinit thread_local bool inside_parallel = false;
inline constinit thread_local int thread_limit = INT_MAX;

}  // namespace nax_shared
