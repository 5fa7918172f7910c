#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"

NAX_BEGIN
namespace detail {

class ThreadCommunicator;
struct Span;

// Names a reduction for libraries that take it at run time. The sum of booleans is their or.
enum class Reduction : std::uint8_t { sum, product, max, min };

// How values of several devices become one, for the element type it is made for.
struct Combine {
  void (*on_host)(const void* from, void* to, std::int64_t stride,
                  std::int64_t n);                              // to[i * stride] joins from[i]
  ArrayBase (*arrays)(const ArrayBase& a, const ArrayBase& b);  // anywhere
  // For a mean: what has been combined is multiplied by one over the number of devices. Null otherwise.
  void (*scale_on_host)(void* x, double factor, std::int64_t n) = nullptr;
  ArrayBase (*scale)(const ArrayBase& x, double factor) = nullptr;
  Reduction kind = Reduction::sum;

  bool is_mean() const { return scale_on_host; }
};

// A collective, as all devices must name it: the function, and what its arguments say besides shapes and
// types, as in ", along axis 0".
struct Collective {
  const char* function;
  std::string how = {};

  Collective(const char* name) : function(name) {}
  Collective(const char* name, std::string arguments) : function(name), how(std::move(arguments)) {}
};

// A communicator that sends each part of an array to the one device that uses it.
// Arrays are plain: row-major, without hidden axes; where there are parts, axis 0 counts them.
class BlockCommunicator {
 public:
  // Gathers x of all devices along a new axis 0.
  virtual ArrayBase gather_blocks(int rank, const Collective& call, const ArrayBase& x) = 0;
  // Reduces x over all devices and returns part `rank` of the result.
  virtual ArrayBase reduce_scatter(int rank, const Collective& call, const ArrayBase& x,
                                   const Combine& combine) = 0;
  // Returns part `rank` of each device's x, in the order of the devices.
  virtual ArrayBase all_to_all(int rank, const Collective& call, const ArrayBase& x) = 0;
  // The x of the device that `pairs` {from, to} sends here; zeros where none does.
  virtual ArrayBase permute(int rank, const Collective& call, const ArrayBase& x,
                            const std::vector<std::pair<int, int>>& pairs) = 0;

 protected:
  ~BlockCommunicator() = default;
};

// How the devices of a pmap talk. All of them make the same calls in the same order; arrays are row-major,
// and a call concerns a list of them, so that a whole tree of gradients costs one meeting. Results belong to
// the caller.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;
  // The place along the axis of this process' first device. (`rank` is a place along the axis as well.)
  virtual int first() const { return 0; }
  // Whether reductions go on beside what the devices compute, and so begin with what is complete first.
  virtual bool overlaps() const { return false; }

  // Returns x of each device, in the order of the devices.
  virtual std::vector<ArrayBase> all_gather(int rank, const Collective& call, const ArrayBase& x) = 0;
  // Combined element by element, in the order of the devices, the same for all. `combine` tells the
  // operation, one for each array.
  virtual std::vector<ArrayBase> all_reduce(int rank, const Collective& call, const std::vector<ArrayBase>& x,
                                            const std::vector<Combine>& combine) = 0;
  // Null where arrays of others are read in place.
  virtual BlockCommunicator* blocks() { return nullptr; }

  // Called by the thread that runs the devices. A program that has ended finishes, and leaves; one that
  // failed aborts: devices that wait for it, now and later, get an exception. (No string: the failure may be
  // that there is no memory.)
  virtual void finish(int rank) = 0;
  virtual void leave(int rank) = 0;
  virtual void abort(const char* why) noexcept = 0;
  // Called by the thread that called pmap, when all programs have ended without a failure: meets the other
  // processes, and what is on its way yet is for it to watch.
  virtual void end(const std::string& /*axis_name*/) {}
};

// Libraries by which devices talk, where a program links one: each is asked for the devices of a run, and
// answers null where it does not serve them. `threads` are these devices' threads, `span` is the run over all
// processes, null for one of this process alone.
class CommunicatorProvider {
 public:
  virtual std::unique_ptr<Communicator> connect(const std::vector<Device>& devices,
                                                ThreadCommunicator& threads, const Span* span) = 0;

 protected:
  ~CommunicatorProvider() = default;
};
inline constinit CommunicatorProvider* nccl_provider = nullptr;

// For runs over all processes, in a program that is several.
class ProcessCommunicatorProvider {
 public:
  virtual std::unique_ptr<Communicator> connect(const std::vector<Device>& devices,
                                                const std::string& axis_name,
                                                ThreadCommunicator& threads) = 0;

 protected:
  ~ProcessCommunicatorProvider() = default;
};
inline constinit ProcessCommunicatorProvider* process_provider = nullptr;

}  // namespace detail
NAX_END
