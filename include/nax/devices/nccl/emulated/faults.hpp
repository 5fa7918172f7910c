#pragma once

#include <atomic>

#include "nax/core/abi.hpp"

// Faults of NCCL on demand: a program that emulates GPUs arms a fault, and the n-th call, or
// the n-th operation that a rank puts on its stream, meets it.
NAX_BEGIN
namespace cuda::emulated_nccl {

enum class Fault {
  none,
  error,        // the call returns an error code
  async_error,  // the operation never ends, and its communicator reports an error
  stuck,        // the operation never ends
  dead          // the operation never ends, and the other ranks' communicators report that one is gone
};

class Faults {
 public:
  static Faults& instance() {
    static Faults faults;
    return faults;
  }
  // Counting begins anew.
  void arm(Fault fault, long at, int code = 2) {
    calls_ = operations_ = 0;
    at_ = at;
    code_ = code;
    struck_ = false;
    fault_ = fault;
  }
  void disarm() { arm(Fault::none, 0); }
  bool struck() const { return struck_; }
  long calls() const { return calls_; }
  long operations() const { return operations_; }
  int code() const { return code_; }

  // For NCCL's functions: does the fault strike here?
  bool strikes_call() { return calls_++ == at_ && fault_ == Fault::error && !struck_.exchange(true); }
  Fault strikes_operation() {
    if (operations_++ != at_ || fault_ == Fault::error || fault_ == Fault::none) return Fault::none;
    return struck_.exchange(true) ? Fault::none : fault_.load();
  }

 private:
  std::atomic<Fault> fault_{Fault::none};
  std::atomic<long> at_{0}, calls_{0}, operations_{0};
  std::atomic<int> code_{0};
  std::atomic<bool> struck_{false};
};

// Groups of calls that have been launched, and how many of them left ranks of a communicator to other groups.
inline std::atomic<long> launched_groups{0}, partial_groups{0};
// Communicators that were aborted outside of a group.
inline std::atomic<long> lone_aborts{0};

// Communicators that have been made and neither destroyed nor aborted.
inline std::atomic<int> live_communicators{0};

}  // namespace cuda::emulated_nccl
NAX_END
