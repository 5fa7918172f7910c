#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/device.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/io/file.hpp"
#include "nax/modules/data/stage.hpp"
#include "nax/tape/tape.hpp"

// Threads that work ahead of a loop, and hand it what they made: in order, or as it is ready.
//
// Elements go round a ring of slots. A thread that finds room pulls the next input into a slot (one thread at
// a time, so that inputs have an order), works on it beside the others, and marks it done; the loop takes the
// slots in the order in which they were pulled. So the order is that of the inputs, however many threads
// there are, and no more elements exist than the ring has slots. Without order the loop takes slots as they
// are done, and a slot is free for the next input once the loop has taken it.
//
// Threads start with the first element that is asked for. Leaving early stops them: each ends with the
// element that it is at.
NAX_BEGIN
namespace data::detail {

// As an option: as many threads as the loop turns out to need, up to num_threads(); beyond, up to 64, where
// their work waits (for a store, a disk, a lock) rather than computes.
inline constexpr int auto_tune = -1;

inline constexpr int most_stage_threads = 512;
inline constexpr int most_waiting_threads = 64;

NAX_ENGINE int check_threads(const char* function, int threads);

// More threads than that make nothing faster: `cores`, up to `most` where the work of these seconds spent at
// most half of them computing.
NAX_ENGINE int threads_for(double seconds, double computing, int cores, int most);

// Wakes a loop that waits for any of several Workers.
class Bell {
 public:
  std::uint64_t rings() const {
    const std::lock_guard lock(mutex_);
    return rings_;
  }
  void ring() {
    {
      const std::lock_guard lock(mutex_);
      ++rings_;
    }
    rung_.notify_all();
  }
  // Returns once it rang more often than that.
  void wait(std::uint64_t rings) {
    std::unique_lock lock(mutex_);
    rung_.wait(lock, [&] { return rings_ != rings; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  std::uint64_t rings_ = 0;
};

class Workers {
 public:
  // `name` is the stage's, in profiles; `capacity` 0: twice the number of threads. `bell` rings with every
  // element that is ready, and at the end.
  Workers(const Context& context, std::string name, const Crew& crew, std::int64_t capacity,
          std::shared_ptr<Bell> bell = nullptr);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  NAX_ENGINE_VIRTUAL virtual ~Workers();  // derived classes call stop()

 protected:
  // The next input into the slot; false at the end. By one thread at a time.
  virtual bool pull(std::size_t slot) = 0;
  // The work on it.
  virtual void finish(std::size_t slot) = 0;

  std::size_t capacity() const { return slots_.size(); }

  // Starts the threads, unless they work already; take() does so, too.
  void start();
  bool is_started() const;
  // Would take() return at once?
  bool is_ready() const;
  // Waits for the next slot of the order, or for any; none at the end. Throws what its work threw. The caller
  // empties it and calls release().
  bool take(std::size_t& slot);
  void release(std::size_t slot);

  void stop();
  // Was this process forked from that in which the iterator was made?
  bool in_child() const { return generation_ != process_generation; }
  // Did the threads stay behind in the process that started them?
  bool is_forked() const;
  [[noreturn]] void refuse_in_child() const;
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
  struct Shared;

  // Under the lock. Where the system has no more threads those that are there do the work.
  void grow(int more);
  bool find_done(std::size_t& slot) const;
  std::size_t next_slot() const;
  // Elements that may be there at once: for threads that grow in number, twice their number.
  std::int64_t most_held() const;
  int useful_threads() const { return automatic_ ? threads_for(seconds_, computing_, cores_, most_) : most_; }

  static unsigned this_generation();

  void run() noexcept;

  // Claims a slot and fills it (`none` where the input threw); false when there is nothing more to do.
  bool begin(std::size_t& slot) noexcept;

  // Refuses arrays that the loop's thread differentiates: what this thread does with them it cannot record.
  void watch_recorded() const;

  // Did the work, and how long it took, of which it computed.
  void mark_done(std::size_t slot, std::exception_ptr error, double seconds = 0,
                 double computing = 0) noexcept;

  std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }

  static constexpr std::size_t none = ~std::size_t{0};
  const std::string name_;
  const std::shared_ptr<std::atomic<bool>> stopped_;
  const bool automatic_, ordered_;
  const int cores_, most_, begin_with_;
  std::unique_ptr<Shared> shared_;
  const unsigned generation_ = this_generation();
  unsigned started_in_ = generation_;  // the process that the threads belong to
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_, done_;  // without order: slots to pull into, and for the loop
  std::int64_t given_ = 0, taken_ = 0;    // slots pulled into, slots taken by the loop
  // Of recent elements, while there were no more threads than cores: these wait for one another.
  double seconds_ = 0, computing_ = 0;
  const std::shared_ptr<Bell> bell_;
  bool ended_ = false, stop_ = false;
  std::atomic<std::uint64_t> recorded_since_{0};  // by the loop's thread, where it differentiates; else 0
};

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/workers-inl.hpp"
#endif
