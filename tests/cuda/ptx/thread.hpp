#pragma once

#include <bit>
#include <cstring>
#include <random>

#include "cuda/ptx/module.hpp"
#include "cuda/ptx/races.hpp"

// A grid while it runs.
//
//   Grid    the launch: resident blocks, which take turns
//   Block   warps, shared memory, sixteen barriers
//   Warp    up to 32 threads, each with its own program counter
//   Thread  frames of slots, local memory, and whether it waits
//
// A thread runs until it waits (barrier, instruction of a warp), ends, or has used its time slice of steps.
namespace ptx {

struct Grid;
struct Block;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

enum class State : std::uint8_t { ready, at_barrier, at_warp, ended };

struct Frame {
  const Function* function = nullptr;
  std::uint32_t pc = 0, base = 0, local = 0;  // of the caller: where it goes on
  const Call* call = nullptr;
};

// A copy that has begun.
struct Copy {
  const Instruction* instruction;
  std::uint32_t to;
  std::uint64_t from;
  std::uint32_t bytes;
};

struct Thread {
  std::uint64_t* r = nullptr;  // the frame's slots
  const Function* function = nullptr;
  std::uint32_t pc = 0;
  State state = State::ready;
  bool carry = false, yields = false, unfenced = false;
  std::uint32_t base = 0, local_base = 0;  // of the frame, in `slots` and `local`
  std::uint32_t mask = 0;                  // of the warp's instruction that it waits for
  const Instruction* waits = nullptr;
  std::uint32_t barrier = 0;
  std::uint64_t voted = 0;
  std::vector<std::uint64_t> slots;
  std::vector<char> local;
  std::vector<Frame> frames;
  std::vector<Copy> copies;  // that have not ended
  Warp* warp = nullptr;
  Block* block = nullptr;
  Grid* grid = nullptr;
  std::uint32_t index = 0, lane = 0;
  Dim3 tid;

  template <class T>
  T get(std::uint32_t slot) const {
    T value;
    std::memcpy(&value, &r[slot], sizeof value);
    return value;
  }
  template <class T>
  void put(std::uint32_t slot, T value) {
    if constexpr (std::is_integral_v<T>) {
      r[slot] = static_cast<std::uint64_t>(value);  // with its sign
    } else {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      r[slot] = bits;
    }
  }
  std::uint64_t grid_steps() const;
  bool predicate(std::uint32_t slot) const { return r[slot] & 1; }
  [[noreturn]] void fault(const std::string& problem) const;
};

struct Warp {
  Block* block = nullptr;
  std::uint32_t index = 0, first = 0, size = 0;
  std::uint32_t ended = 0;  // lanes
  LaneClocks clocks;
  Thread& thread(std::uint32_t lane);
  std::uint32_t all() const { return size == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << size) - 1; }
};

struct Barrier {
  std::vector<std::uint32_t> arrived;
  std::uint32_t expected = 0;  // threads; 0: all of the block that have not ended
  std::uint32_t waiting = 0;
};

struct Block {
  Grid* grid = nullptr;
  std::uint64_t number = 0;
  Dim3 ctaid;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<char> shared;
  SharedShadow shadow;
  BlockClocks clocks;
  Barrier barriers[16];
  std::uint32_t ended = 0;
};

inline Thread& Warp::thread(std::uint32_t lane) { return block->threads[first + lane]; }

// Makes a frame of `function` the current one.
void enter(Thread& t, const Function& function, std::uint32_t local_base);

}  // namespace ptx
