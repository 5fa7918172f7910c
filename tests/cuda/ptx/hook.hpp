#pragma once

#include <string>
#include <vector>

#include "cuda/ptx/grid.hpp"

// The launch of kernels on the stand-in of the CUDA runtime (runtime/runtime.hpp), by interpreting their PTX.
//
// Objects made by nvcc for a virtual architecture, with --compress-mode=none, hold the PTX as text, and
// register it before main begins. A launch copies its arguments and enqueues the run; kernels run in the
// order of their streams.
namespace ptx {

// Returns the faults of kernels since the last call, and forgets them; the caller's test fails by them.
std::vector<std::string> take_faults();

// For launches from now on.
Checks& checks();
void seed(std::uint32_t value);
// How many launches and instructions have run.
struct Counts {
  std::uint64_t launches = 0, steps = 0;
};
Counts counts();

// Arrays that lie in blocks of a pool: kernels that are launched between the two may access [memory, memory +
// bytes), and of such a block nothing else.
void array_begins(const void* memory, std::size_t bytes);
void array_ends(const void* memory);

}  // namespace ptx
