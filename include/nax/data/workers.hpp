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
namespace nax::inline NAX_ABI::data::detail {

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

}  // namespace nax::inline NAX_ABI::data::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::data::detail {

NAX_ENGINE int check_threads(const char* function, int threads) {
  if (threads < auto_tune || threads > most_stage_threads)
    raise<ValueError>({function, ": threads must be between 0 and ", most_stage_threads,
                       " or data::auto_tune, not ", threads});
  return threads;
}

NAX_ENGINE bool Workers::take(std::size_t& slot) {
  if (recording.tape)
    recorded_since_ = recording.tape->first_serial();
  else
    recorded_since_ = recording.since;
  if (is_forked())
    raise<Error>({name_,
                  ": the process was forked while this iterator had threads at work, which stayed behind; "
                  "make a new iterator in the child"});
  std::unique_lock lock(shared_->mutex);
  if (shared_->threads.empty() && !stop_) grow(begin_with_);
  slot = static_cast<std::size_t>(taken_) % slots_.size();
  while (!slots_[slot].done && !(ended_ && taken_ == given_)) {
    const auto started = static_cast<int>(shared_->threads.size());
    if (!stop_ && started < most_ && given_ - taken_ >= started) grow(1);  // all at work, and the loop waits
    const profile::Span waits(profile::Kind::wait_data, "wait for ", name_.c_str());
    shared_->ready.wait(lock);
  }
  if (!slots_[slot].done) return false;
  if (slots_[slot].error) {
    const std::exception_ptr error = std::exchange(slots_[slot].error, nullptr);
    lock.unlock();
    release(slot);
    std::rethrow_exception(error);
  }
  return true;
}

NAX_ENGINE void Workers::release(std::size_t slot) {
  {
    const std::lock_guard lock(shared_->mutex);
    slots_[slot].done = false;
    ++taken_;
  }
  shared_->room.notify_one();
}

NAX_ENGINE unsigned Workers::this_generation() {
  static const bool counts = (at_fork(nullptr, nullptr, nullptr), true);
  static_cast<void>(counts);
  return process_generation.load(std::memory_order_relaxed);
}

NAX_ENGINE void Workers::stop() {
  if (is_forked()) {
    static_cast<void>(shared_.release());
    return;
  }
  {
    const std::lock_guard lock(shared_->mutex);
    stop_ = true;
  }
  shared_->room.notify_all();
  for (std::thread& thread : shared_->threads) thread.join();
  shared_->threads.clear();
}

NAX_ENGINE void Workers::grow(int more) {
  for (int i = 0; i < more; ++i) {
    try {
      shared_->threads.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      if (shared_->threads.empty()) throw;
      return;
    }
  }
}

NAX_ENGINE void Workers::run() noexcept {
  const ThreadLimit alone(1);  // there are as many of these as there is work for
  const ReadsFor loop(stopped_.get());
  profile::name_thread(name_.c_str());
  for (std::size_t slot; begin(slot);) {
    if (slot == none) continue;  // the input threw
    std::exception_ptr error;
    try {
      finish(slot);
    } catch (...) {
      error = std::current_exception();
    }
    mark_done(slot, std::move(error));
  }
}

NAX_ENGINE void Workers::watch_recorded() const {
  static const Tape other;
  recording.since = recorded_since_.load(std::memory_order_relaxed);
  recording.caller = recording.since != 0 ? &other : nullptr;
}

NAX_ENGINE bool Workers::begin(std::size_t& slot) noexcept {
  std::unique_lock pulling(shared_->pull_mutex, std::try_to_lock);
  if (!pulling) {
    const profile::Span waits(profile::Kind::idle, "another thread pulls");
    pulling.lock();
  }
  {
    std::unique_lock lock(shared_->mutex);
    const bool full = !stop_ && !ended_ && given_ - taken_ >= count();
    const profile::Span waits = full ? profile::Span(profile::Kind::idle, "no room") : profile::Span();
    shared_->room.wait(lock, [this] { return stop_ || ended_ || given_ - taken_ < count(); });
    if (stop_ || ended_) return false;
    slot = static_cast<std::size_t>(given_) % slots_.size();
  }
  bool more = false;
  std::exception_ptr error;
  watch_recorded();
  try {
    more = !is_stopped() && pull(slot);
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(shared_->mutex);
    if (more || error) ++given_;
    if (!more && !error) ended_ = true;
  }
  if (error) {
    mark_done(slot, std::move(error));
    slot = none;
  } else if (!more) {
    shared_->ready.notify_all();
    shared_->room.notify_all();
  }
  return more || slot == none;
}

NAX_ENGINE void Workers::mark_done(std::size_t slot, std::exception_ptr error) noexcept {
  bool awaited;
  {
    const std::lock_guard lock(shared_->mutex);
    slots_[slot].error = std::move(error);
    slots_[slot].done = true;
    awaited = slot == static_cast<std::size_t>(taken_) % slots_.size();
  }
  if (awaited) shared_->ready.notify_one();
}

}  // namespace nax::inline NAX_ABI::data::detail
#endif
