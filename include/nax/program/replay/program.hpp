#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "nax/program/record/recording.hpp"

// A recorded function, ready to run again: steps in order, each with the addresses of its operands. What lies
// between arguments and results shares one block of memory, the arena, planned once.
NAX_BEGIN
namespace program {

struct Output {
  int slot = Place::constant;
  std::int64_t offset = 0;  // in elements
  Layout layout;
  DType dtype{};
  ArrayBase constant;  // where the function's result does not depend on its arguments
};

class Program {
  struct Arena;

 public:
  NAX_ENGINE Program(Recorded&& recorded, std::vector<Output> outputs);
  NAX_ENGINE ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Results of these row-major arguments, which are like those of the recording. Throws Unforeseen where
  // elements are not such as the steps are made for. Safe on several threads.
  NAX_ENGINE void run(const ArrayBase* const* arguments, ArrayBase* results) const;

  // Runs again and again on addresses, with one arena. Results are row-major and of their own memory.
  class Runner {
   public:
    NAX_ENGINE explicit Runner(const Program& program);
    NAX_ENGINE ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;
    NAX_ENGINE void run(void* const* arguments, void* const* results);

    // An address that is `now` in the first turn, `next` in the second, and each `step` bytes further two
    // turns later.
    struct Motion {
      char *now, *next;
      std::int64_t step;
      void advance() {
        char* const after = now + step;
        now = next;
        next = after;
      }
    };
    // Runs so many times. Arguments that are not null in `first` lie there in the first turn.
    NAX_ENGINE void run_turns(std::int64_t turns, void* const* first, const Motion* arguments,
                              const Motion* results);

   private:
    const Program& program_;
    std::unique_ptr<Arena> arena_;
  };

  std::size_t result_count() const { return outputs_.size(); }
  std::size_t argument_count() const { return arguments_.size(); }
  // Bytes at the address of an argument, or a result, that is given to a Runner.
  std::int64_t argument_bytes(std::size_t i) const {
    return static_cast<std::int64_t>(slots_[static_cast<std::size_t>(arguments_[i].slot)].bytes);
  }
  std::int64_t result_bytes(std::size_t i) const {
    return outputs_[i].layout.size() * static_cast<std::int64_t>(dtype_size(outputs_[i].dtype));
  }
  // May a step throw Unforeseen?
  NAX_ENGINE bool is_unforeseen() const;
  // Does a step use the argument?
  NAX_ENGINE bool uses(std::size_t argument) const;
  // Is the argument read as a run of elements? Where not, its first element's address serves.
  bool reads_run(std::size_t argument) const { return reads_run_[argument]; }
  std::size_t step_count() const { return steps_.size(); }
  // Operations with floating numbers, and bytes that steps read and write.
  double flops() const { return flops_; }
  NAX_ENGINE double traffic() const;
  // Of memory between the calls.
  std::size_t bytes() const { return arena_bytes_ + constant_bytes_; }
  // One line a step; the programs that a step runs follow it, indented.
  NAX_ENGINE std::string text(const std::string& indent = "") const;

 private:
  struct Call {
    const Work* work;
    std::size_t first;  // of its addresses
  };
  // A block of memory, and the steps' addresses in it.
  struct Arena {
    nax::detail::BufferRef memory;
    std::vector<void*> addresses;
    std::vector<nax::detail::BufferRef> results;
  };
  // An address that is another one in each call.
  struct Patch {
    std::size_t at;
    bool result;
    int number;         // of the result or argument
    std::size_t given;  // to a Runner
    std::int64_t offset;
  };
  // A Runner's result that steps do not write where it belongs.
  struct ResultCopy {
    std::size_t to;
    Slot::Kind kind;
    std::size_t given;
    const void* data;
    std::size_t bytes;
  };
  // Where a Runner is given the address of a result or an argument.
  std::size_t given_number(const Slot& s) const {
    const std::size_t number = static_cast<std::size_t>(s.number);
    return s.kind == Slot::Kind::result ? first_outputs_[number] : number;
  }
  // Runs the passes over the steps. Returns the outputs' slots.
  NAX_ENGINE std::vector<int> simplify();
  NAX_ENGINE void plan(const std::vector<int>& results);
  NAX_ENGINE std::unique_ptr<Arena> make_arena() const;
  NAX_ENGINE std::unique_ptr<Arena> take_arena() const;
  NAX_ENGINE void give_back(std::unique_ptr<Arena> arena) const;

  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<Argument> arguments_;
  std::vector<bool> reads_run_;  // by argument
  std::vector<Output> outputs_;
  std::vector<nax::detail::BufferRef> kept_;
  std::vector<std::shared_ptr<const char[]>> constants_;
  std::vector<std::size_t> result_bytes_, first_outputs_;  // by result
  std::vector<int> donations_;                             // to results
  std::vector<std::int64_t> offsets_;                      // of temporary slots in the arena
  std::vector<Call> calls_;
  std::vector<Patch> patches_;
  std::vector<ResultCopy> copies_;
  double flops_ = 0;
  std::size_t address_count_ = 0, arena_bytes_ = 0, constant_bytes_ = 0;
  mutable std::atomic<Arena*> idle_{nullptr};
};

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/replay/program-inl.hpp"
#include "nax/program/replay/text-inl.hpp"
#endif
