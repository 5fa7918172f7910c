#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/core/transfer.hpp"
#include "nax/parallel/communicator.hpp"
#include "nax/parallel/timeout.hpp"

// The communicator of devices that are threads of one process. They read each other's posted arrays in place.
//
// A meeting: each thread posts its arrays, and the last to arrive opens the door for all. For a reduction it
// also makes room for the results; then each thread combines its slice of every array, and a second meeting
// waits for all slices. A thread that fails calls abort, one that returns calls leave: a meeting that can no
// longer be complete then ends in an exception for everyone in it, now and later.
//
// A device that does not come within NAX_COLLECTIVE_TIMEOUT_S (300) is named on stderr, once a meeting: its
// program may be stuck, and the others go on waiting, since its thread cannot be ended.
NAX_BEGIN
namespace detail {

// Thrown into a meeting that another device's failure has ended; the failure itself is what the caller sees.
struct MeetingAborted : Error {
  MeetingAborted() : Error("pmap: another device failed") {}
  explicit MeetingAborted(const std::string& text) : Error(text) {}
};

class ThreadCommunicator final : public Communicator {
 public:
  // `devices`: by rank, for those who wait for one of them.
  explicit ThreadCommunicator(int size, const std::vector<Device>* devices = nullptr)
      : size_(size), devices_(devices), posts_(static_cast<std::size_t>(size)) {}

  int size() const override { return size_; }

  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> all_gather(int rank, const Collective& call,
                                                       const ArrayBase& x) override;

  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> all_reduce(int rank, const Collective& call,
                                                       const std::vector<ArrayBase>& x,
                                                       const std::vector<Combine>& combine) override;

  // All devices are in this collective with arrays of the same shapes and types, or this throws; `once` runs
  // in one of them, while the others wait.
  void agree(int rank, const Collective& call, std::vector<ArrayBase> arrays, FunctionRef<void()> once);

  // Calls `once` in one thread, with the arrays of every device, and returns this device's part of the
  // result.
  std::vector<ArrayBase> make_once(
      int rank, const Collective& call, std::vector<ArrayBase> arrays,
      FunctionRef<std::vector<ArrayBase>(const std::vector<std::vector<ArrayBase>>& everyone)> once);

  // Waits for nothing: who read other devices' arrays has waited, and the rest is in the order of the
  // streams.
  void finish(int) override {}
  void abort(const char* = "") noexcept override {
    if (left_by_fork()) return;
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }
  // The device's program has ended; a meeting that still waits for it never will be complete.
  void leave(int) override {
    if (left_by_fork()) return;
    const std::lock_guard lock(mutex_);
    ++left_;
    if (arrived_ > 0 && arrived_ + left_ == size_) incomplete_ = true;
    changed_.notify_all();
  }

 private:
  struct Post {
    const char* function = nullptr;
    std::string how;
    std::vector<ArrayBase> arrays;
    std::uint64_t meeting = ~std::uint64_t{0};
  };

  // Names those on stderr who have not come to this meeting.
  void name_missing(const char* function);

  // `open` runs once, in the last thread to arrive; `read` in every thread before any may post again.
  void meet(int rank, const Collective& call, std::vector<ArrayBase> arrays, FunctionRef<void()> open,
            FunctionRef<void()> read);

  void check(const char* function) const {
    if (aborted_ || !mismatch_.empty()) throw MeetingAborted();
    if (incomplete_)
      raise<DeviceError>({function, ": a device returned while others wait for it in this collective"});
  }

  // In a child that a device's function has forked the others are not there, and the mutex is as they left
  // it.
  bool left_by_fork() const { return process_generation.load(std::memory_order_relaxed) != generation_; }

  // All devices must be in the same collective with the same shapes and types.
  void check_alike();

  // Waits for the stream: other devices read this device's arrays, and it theirs, before the next meeting.
  static void finish_stream() { synchronize(current_device); }
  // On GPUs each device combines all for itself, in the order of the devices: nothing but the arrays travels.
  static ArrayBase reduce_here(const Layout& own, std::size_t array,
                               const std::vector<std::vector<ArrayBase>>& everyone, const Combine& combine);

  // Small arrays are combined by one thread, large ones by all.
  void reduce_slice(int rank, std::size_t array, const std::vector<std::vector<ArrayBase>>& everyone,
                    const ArrayBase& result, const Combine& combine) const;

  const int size_;
  const std::vector<Device>* const devices_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Post> posts_;
  std::vector<ArrayBase> results_;
  int arrived_ = 0, reading_ = 0, left_ = 0;
  std::atomic<std::uint64_t> meeting_{0};  // changes under the mutex
  std::atomic<bool> aborted_{false};       // changes under the mutex, too
  bool incomplete_ = false, types_differ_ = false;
  std::uint64_t named_ = ~std::uint64_t{0};  // the meeting whose missing devices have been named
  const unsigned generation_ = process_generation.load(std::memory_order_relaxed);
  std::string mismatch_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/parallel/threads-inl.hpp"
#endif
