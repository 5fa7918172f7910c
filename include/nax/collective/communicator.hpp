#pragma once

#include <cstdint>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/core/function_ref.hpp"

namespace nax::inline NAX_ABI::detail {

class Communicator;

// How values of several devices become one, for the element type it is made for.
struct Combine {
  void (*on_host)(const void* from, void* to, std::int64_t stride,
                  std::int64_t n);                              // to[i * stride] joins from[i]
  ArrayBase (*arrays)(const ArrayBase& a, const ArrayBase& b);  // anywhere
  // For a mean: what has been combined is multiplied by one over the number of devices. Null otherwise.
  void (*scale_on_host)(void* x, double factor, std::int64_t n) = nullptr;
  ArrayBase (*scale)(const ArrayBase& x, double factor) = nullptr;
  // For arrays that are yet to be computed, one from each device, all of them seen by `waits`: their sum
  // times `factor`, yet to be computed as well. May be null.
  bool (*waits)(const ArrayBase& x) = nullptr;
  ArrayBase (*waiting)(Communicator& communicator, int rank, std::vector<ArrayBase> everyone,
                       double factor) = nullptr;
};

// How the devices of a pmap talk. All of them make the same calls in the same order; arrays are row-major,
// and a call concerns a list of them, so that a whole tree of gradients costs one meeting. Results belong to
// whoever called.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;

  // Everybody's array in the order of the devices.
  virtual std::vector<ArrayBase> all_gather(int rank, const char* function, const ArrayBase& x) = 0;
  // Combined element by element, in the order of the devices, the same for all. `combine` tells the
  // operation, one for each array.
  virtual std::vector<ArrayBase> all_reduce(int rank, const char* function, const std::vector<ArrayBase>& x,
                                            const std::vector<Combine>& combine) = 0;
  // Calls work(everybody's `mine`) on all devices at a time. Nobody returns, and nothing that the addresses
  // lead to goes, before all are done or have failed.
  virtual void work_together(int rank, const char* function, const void* mine,
                             FunctionRef<void(const std::vector<const void*>& everyone)> work) = 0;
};

}  // namespace nax::inline NAX_ABI::detail
