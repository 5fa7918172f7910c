#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/device.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/data/remote.hpp"
#include "nax/data/stage.hpp"
#include "nax/tape/tape.hpp"

// Threads that work ahead of a loop, and hand it what they made in order.
//
// Elements go round a ring of slots. A thread that finds room pulls the next input into a slot (one thread at
// a time, so that inputs have an order), works on it beside the others, and marks it done; the loop takes the
// slots in the order in which they were pulled. So the order is that of the inputs, however many threads
// there are, and no more elements exist than the ring has slots.
//
// Threads start with the first element that is asked for. Whoever leaves early stops them: each ends with the
// element that it is at.
NAX_BEGIN
namespace data::detail {

// As an option: as many threads as the loop turns out to need, up to num_threads().
inline constexpr int auto_tune = -1;

inline constexpr int most_stage_threads = 512;

NAX_ENGINE int check_threads(const char* function, int threads);

class Workers {
 public:
  // `name` is the stage's, in profiles; `capacity` 0: twice the number of threads.
  Workers(const Context& context, std::string name, int threads, std::int64_t capacity)
      : name_(std::move(name)),
        stopped_(context.stopped),
        most_(threads < 0 ? num_threads() : threads),
        begin_with_(threads < 0 ? 1 : threads),
        slots_(static_cast<std::size_t>(capacity > 0 ? capacity : 2 * most_)) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  virtual ~Workers() = default;  // whoever derives from it calls stop()

 protected:
  // The next input into the slot; false at the end. By one thread at a time.
  virtual bool pull(std::size_t slot) = 0;
  // The work on it.
  virtual void finish(std::size_t slot) = 0;

  std::size_t capacity() const { return slots_.size(); }

  // Waits for the next slot of the order; none at the end. Throws what its work threw. The caller empties it
  // and calls release().
  bool take(std::size_t& slot);
  void release(std::size_t slot);

  void stop();
  // Did the threads stay behind in the process that this one was forked from?
  bool is_forked() const {
    return generation_ != process_generation && !(shared_ && shared_->threads.empty());
  }
  // State that those threads may have been changing: never destroyed.
  template <class T>
  static void leave_behind(T& what) {
    static_cast<void>(new T(std::move(what)));
  }
  bool is_stopped() const { return stopped_ && stopped_->load(std::memory_order_relaxed); }

 private:
  struct Slot {
    bool done = false;
    std::exception_ptr error;
  };
  // A forked child has these as they were at that moment, held by threads that it does not have.
  struct Shared {
    std::mutex pull_mutex;  // before mutex
    std::mutex mutex;
    std::condition_variable room, ready;
    std::vector<std::thread> threads;
  };

  // Under the lock. Where the system has no more threads those that are there do the work.
  void grow(int more);

  static unsigned this_generation();

  void run() noexcept;

  // Claims a slot and fills it (`none` where the input threw); false when there is nothing more to do.
  bool begin(std::size_t& slot) noexcept;

  // Refuses arrays that the loop's thread differentiates: what this thread does with them it cannot record.
  void watch_recorded() const;

  void mark_done(std::size_t slot, std::exception_ptr error) noexcept;

  std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }

  static constexpr std::size_t none = ~std::size_t{0};
  const std::string name_;
  const std::shared_ptr<std::atomic<bool>> stopped_;
  const int most_, begin_with_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  const unsigned generation_ = this_generation();
  std::vector<Slot> slots_;
  std::int64_t given_ = 0, taken_ = 0;  // slots pulled into, slots taken by the loop
  bool ended_ = false, stop_ = false;
  std::atomic<std::uint64_t> recorded_since_{0};  // by the loop's thread, where it differentiates; else 0
};

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/data/workers-inl.hpp"
#endif
