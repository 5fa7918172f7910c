#pragma once

#include "cuda/ptx/thread.hpp"

// How threads wait for each other.
namespace ptx {

// The thread waits until all threads of `mask` that have not ended come to an instruction of this kind with
// this mask; then the group's handler runs for all of them.
void wait_for_warp(Thread& t, const Instruction& i, std::uint32_t mask);

// The thread arrives at a barrier, and waits there unless `arrives_only`. `expected` threads, or all (0).
void wait_at_barrier(Thread& t, const Instruction& i, std::uint32_t number, std::uint32_t expected,
                     bool arrives_only);

// The thread ends. Others may have waited for it.
void end_thread(Thread& t);

// Throws a Fault that says which threads of a block wait, and for what.
[[noreturn]] void report_deadlock(Block& block);

enum BarrierMode : std::uint8_t {
  plain,
  aligned = 1,
  reduce_and = 2,
  reduce_or = 4,
  reduce_popc = 8,
  arrive = 16
};

}  // namespace ptx
