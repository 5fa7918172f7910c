#pragma once

#include <utility>
#include <vector>

#include "nax/backend/cpu/reduce/reducers.hpp"
#include "nax/core/small_vector.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/loops/operand.hpp"

// Runs a formula over arrays of any layout: all that computes by formulas calls it.
//
// Axes are merged as far as all operands allow, and each line along the last one is a call of the kernel,
// which walks strides itself; lines that follow one another in every operand are one call, and short ones go
// through tiles. Results are stored, or reduced: these go to tiles in the first cache, and from there to the
// result, line by line (its stride along the line is 0) or element by element. Threads share out elements
// where nothing is reduced, else the first axis: where a result lacks that, each part has accumulators of its
// own. How many parts there are depends on sizes alone, and so does the result.
NAX_BEGIN
namespace formula {

class ArrayLoop {
 public:
  static constexpr std::size_t most_reduced = 4;

  // Along one axis. `strides`: of inputs, then results, in elements. Fewer elements than `grain` stay in one
  // thread.
  NAX_ENGINE ArrayLoop(const Kernel& kernel, std::int64_t n, const std::int64_t* strides, std::int64_t grain);
  // `operands`: inputs, then results, whose strides alone are read. `reducers`: of the last results, which
  // are row-major without the axes in which their strides are 0, and have the reducers' types.
  NAX_ENGINE ArrayLoop(const Kernel& kernel, Dims shape, std::vector<loops::Operand> operands,
                       const std::vector<const cpu::Reducer*>& reducers = {});

  // Addresses of the inputs, then of the results.
  NAX_ENGINE void run(char* const* at) const;
  // The bytes that are touched of an operand: the first, counted from its address, and how many.
  NAX_ENGINE std::pair<std::int64_t, std::int64_t> reach(std::size_t operand) const;

 private:
  struct Reduced {
    const cpu::Reducer* reducer;
    std::int64_t size = 1, place = -1;  // the latter of accumulators, where it has others than the result
    bool wide = false, apart = false;   // does each part have its own?
    const cpu::Reducer& into() const { return wide ? *reducer->wide : *reducer; }
  };
  class Tiled;
  struct Tiles;

  std::size_t computed() const { return strides_.size() - reduced_.size(); }
  std::int64_t size_of(std::size_t operand) const {
    return static_cast<std::int64_t>(dtype_size(kernel_.types()[operand]));
  }
  const Dims& strides_of_reduced(std::size_t k) const { return operands_[computed() + k].strides; }
  void find_code();
  void plan_reductions(const std::vector<const cpu::Reducer*>& reducers);
  void call(char* const* at, std::int64_t n) const {
    void* const* const places = reinterpret_cast<void* const*>(at);
    kernel_.run(code_, places, places + kernel_.lowered().inputs, strides_.data(), n);
  }
  // Elements [begin, begin + n), in row-major order; those that are reduced go to tiles.
  void compute(char* const* at, std::int64_t begin, std::int64_t n, char* const* tiles) const;
  void run_part(char* const* at, char* const* sums, std::int64_t begin, std::int64_t end) const;
  void reduce(char* const* at) const;

  const Kernel& kernel_;
  const Code* code_ = nullptr;
  Dims shape_;
  std::vector<loops::Operand> operands_;  // none along one axis
  std::int64_t line_ = 1, size_ = 1, grain_;
  SmallVector<std::int64_t, 32> strides_;  // along the last axis, in bytes
  SmallVector<std::int64_t, 32> steps_;    // along the others, axis by axis
  bool together_ = true, tiled_ = false;   // do lines follow one another, or go through tiles?
  std::vector<Reduced> reduced_;
  std::int64_t parts_ = 1, shared_bytes_ = 0, part_bytes_ = 0;  // of accumulators
};

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/array_loop-inl.hpp"
#endif
