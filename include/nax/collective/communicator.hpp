#pragma once

#include <cstdint>
#include <vector>

#include "nax/core/array_base.hpp"

namespace nax::detail {

// How values of several devices become one, for the element type it is made for.
struct Combine {
  void (*on_host)(const void* from, void* to, std::int64_t stride,
                  std::int64_t n);                              // to[i * stride] joins from[i]
  ArrayBase (*arrays)(const ArrayBase& a, const ArrayBase& b);  // anywhere
  // For a mean: what has been combined is multiplied by one over the number of devices. Null otherwise.
  void (*scale_on_host)(void* x, double factor, std::int64_t n) = nullptr;
  ArrayBase (*scale)(const ArrayBase& x, double factor) = nullptr;
  // For arrays that are yet to be computed, one from each of `count` devices: part `part` of `count` of their
  // sum times `factor`; false where they are none. May be null.
  bool (*deferred_on_host)(const ArrayBase* const* arrays, int count, double factor, int part,
                           const ArrayBase& to) = nullptr;
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
};

}  // namespace nax::detail
