#pragma once

#include <vector>

#include "nax/program/record/recording.hpp"

// Verifies programs: after the recording, after each pass, and when memory is planned.
//
// An operand's shape and strides are the bytes of its slot that the step may touch; where indices choose, all
// places that they may name. At every stage
//   - operands and outputs lie within their slots;
//   - each byte that is read was written before, or belongs to an argument or a constant;
//   - outputs are complete;
//   - a step writes what it reads only element by element.
// A step's formula and work are looked into as well: a formula has results, limits hold, and works whose
// addresses move touch no byte beyond their operands.
// A slot's bytes are simulated by one tag each: the slot that owns the byte. In planned memory slots share
// bytes, so that a write to bytes that another slot's reader still wants is found by that reader.
NAX_BEGIN
namespace program {

struct Output;

namespace detail {

// NAX_VERIFY_PROGRAMS=1 in the environment.
NAX_ENGINE bool verifies_programs();

// The planned memory of a program.
struct MemoryPlan {
  const std::vector<std::int64_t>& offsets;  // of temporary slots in the arena
  std::size_t bytes;                         // of the arena
  const std::vector<int>& donations;         // by result, the argument that it lies in, or -1
};

// Throws Error that names the stage, the step, its operand and the bytes. `results`: the outputs' slots.
// Without a plan each slot is a block of its own. Programs of more than 256 MiB are checked for bounds alone.
NAX_ENGINE void verify(const std::vector<Slot>& slots, const std::vector<Step>& steps,
                       const std::vector<Argument>& arguments, const std::vector<int>& results,
                       const std::vector<Output>& outputs, const char* stage,
                       const MemoryPlan* plan = nullptr);

}  // namespace detail
}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/passes/verify-inl.hpp"
#endif
