#pragma once

#include <vector>

#include "nax/expr/evaluation/as_dtype.hpp"
#include "nax/loops/leaf_steps.hpp"

// Steps of an optimiser that a GPU does for all leaves of a tree in one launch. Leaves are taken one after
// the other; nothing happens before run(), which launches once for each device and dtype. A leaf is not
// taken, and its step is the caller's, where it lies on the host or in a program, is recorded, has other axes
// than its gradient or does not lie in a row.
NAX_BEGIN
namespace detail {

class LeafSteps {
 public:
  // `rate` (float32) and `count` (int32), of no axes, go before the numbers' own where they are given.
  LeafSteps(const loops::StepNumbers& numbers, const ArrayBase* rate, const ArrayBase* count);

  // The step of one leaf: `result` becomes the next params or the update, `averages` are brought up to date.
  // `params` may be null for rules that do not read them. Arrays without another holder are written over.
  bool take(const ArrayBase& gradient, const ArrayBase* params, ArrayBase& result, ArrayBase* const* averages,
            int average_count);
  void run();

 private:
  struct Group {
    Device device;
    DType dtype;
    std::vector<loops::LeafStep> leaves;
  };

  Group& group_of(Device device, DType dtype);
  // The array to write in place of `old`; what is read is held until run().
  char* target(ArrayBase& old, bool reads, const ArrayBase& like);

  loops::StepNumbers numbers_;
  const ArrayBase *rate_, *count_;
  std::vector<Group> groups_;
  std::vector<ArrayBase> held_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/evaluation/leaf_steps-inl.hpp"
#endif
