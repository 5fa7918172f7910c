#pragma once

#include <functional>
#include <string>

#include "cuda/ptx/thread.hpp"

// Runs the launch of a kernel.
namespace ptx {

// A fault of a kernel: names kernel, block, thread, line and instruction.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Extent {
  const char* begin = nullptr;  // null: not found
  const char* end = nullptr;
  std::string described;  // where nothing was found: what is nearest
};

struct Checks {
  bool shared_races = true, global_races = false;
  bool unwritten_shared = true;  // reads of shared memory before it is written
};

struct Launch {
  const Module* module = nullptr;
  const Function* kernel = nullptr;
  Dim3 blocks, threads;
  std::uint32_t dynamic_shared = 0;
  std::vector<char> params;
  // Where [address, address + bytes) may be read and written: the allocation around it.
  std::function<Extent(const char* address, std::size_t bytes)> allocation;
  std::uint32_t seed = 1;
  std::uint64_t most_steps = std::uint64_t{4} << 30;
  Checks checks;
};

// How many instructions have run. Throws Fault and Unsupported.
std::uint64_t run(const Launch& launch);

struct Grid {
  const Launch& launch;
  std::mt19937 random;
  GlobalShadow shadow;
  Extent last[4];  // allocations found before
  unsigned next = 0;
  std::uint64_t steps = 0;
  bool moved = false;  // since the round began

  explicit Grid(const Launch& l) : launch(l), random(l.seed) {}
};

// The host's address of what an instruction accesses: checked for range, alignment and races.
enum class Access : std::uint8_t { read, write, update };
char* reach(Thread& t, const Instruction& i, std::uint64_t address, std::uint32_t bytes, Access access);

// A fence of the thread's; `release` and `acquire` at a location that it accesses strongly.
void release(Thread& t, std::uint64_t address);
void acquire(Thread& t, std::uint64_t address);

// The kernel's name as C++ has it, shortened.
std::string readable(const std::string& mangled);

}  // namespace ptx
