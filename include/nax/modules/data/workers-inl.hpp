#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "nax/modules/data/workers.hpp"

NAX_BEGIN
namespace data::detail {
namespace os = nax::detail::os;

NAX_ENGINE int check_threads(const char* function, int threads) {
  if (threads < auto_tune || threads > most_stage_threads)
    raise<ValueError>({function, ": threads must be between 0 and ", most_stage_threads,
                       " or data::auto_tune, not ", threads});
  return threads;
}

struct Workers::Shared {
  std::mutex pull_mutex;  // before mutex
  std::mutex mutex;
  std::condition_variable room, ready;
  std::vector<std::thread> threads;
};

NAX_ENGINE Workers::Workers(const Context& context, std::string name, const Crew& crew, std::int64_t capacity,
                            std::shared_ptr<Bell> bell)
    : name_(std::move(name)),
      stopped_(context.stopped),
      automatic_(crew.threads < 0),
      ordered_(crew.ordered || context.ordered),
      cores_(num_threads()),
      most_(automatic_ ? std::max(cores_, most_waiting_threads) : crew.threads),
      begin_with_(automatic_ ? 1 : crew.threads),
      shared_(std::make_unique<Shared>()),
      slots_(static_cast<std::size_t>(capacity > 0 ? capacity : 2 * most_)),
      bell_(std::move(bell)) {
  if (ordered_) return;
  done_.reserve(slots_.size());
  for (std::size_t slot = slots_.size(); slot-- > 0;) free_.push_back(slot);
}

NAX_ENGINE Workers::~Workers() = default;

NAX_ENGINE bool Workers::is_started() const { return !shared_->threads.empty(); }

NAX_ENGINE bool Workers::is_forked() const {
  return !shared_ || (!shared_->threads.empty() && started_in_ != process_generation);
}

NAX_ENGINE bool Workers::find_done(std::size_t& slot) const {
  if (ordered_) {
    slot = static_cast<std::size_t>(taken_) % slots_.size();
    return slots_[slot].done;
  }
  if (done_.empty()) return false;
  slot = done_.front();
  return true;
}

NAX_ENGINE std::size_t Workers::next_slot() const {
  return ordered_ ? static_cast<std::size_t>(given_) % slots_.size() : free_.back();
}

NAX_ENGINE std::int64_t Workers::most_held() const {
  const auto threads = static_cast<std::int64_t>(shared_->threads.size());
  return automatic_ ? std::min(count(), 2 * std::max<std::int64_t>(threads, 1)) : count();
}

NAX_ENGINE int threads_for(double seconds, double computing, int cores, int most) {
  if (seconds <= 0 || computing > 0.5 * seconds) return std::min(most, cores);
  const double wanted = cores * seconds / std::max(computing, 1e-3 * seconds);
  return static_cast<int>(std::min<double>(most, wanted));
}

NAX_ENGINE void Workers::start() {
  if (recording.tape)
    recorded_since_ = recording.tape->first_serial();
  else
    recorded_since_ = recording.since;
  if (is_started()) return;
  const std::lock_guard lock(shared_->mutex);
  started_in_ = this_generation();
  if (!stop_) grow(begin_with_);
}

NAX_ENGINE bool Workers::is_ready() const {
  const std::lock_guard lock(shared_->mutex);
  std::size_t slot;
  return find_done(slot) || (ended_ && taken_ == given_);
}

NAX_ENGINE void Workers::refuse_in_child() const {
  raise<Error>({name_,
                ": the process was forked while this iterator had threads at work, which stayed behind; make "
                "a new iterator in the child"});
}

NAX_ENGINE bool Workers::take(std::size_t& slot) {
  if (is_forked()) refuse_in_child();
  start();
  std::unique_lock lock(shared_->mutex);
  while (!find_done(slot) && !(ended_ && taken_ == given_)) {
    const auto started = static_cast<int>(shared_->threads.size());
    // All are at work, and the loop waits.
    if (automatic_ && !stop_ && started < useful_threads() && given_ - taken_ >= started) {
      grow(1);
      shared_->room.notify_all();
    }
    const profile::Span waits(profile::Kind::wait_data, "wait for ", name_.c_str());
    shared_->ready.wait(lock);
  }
  if (!find_done(slot)) return false;
  if (!ordered_) done_.erase(done_.begin());
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
    if (!ordered_) free_.push_back(slot);
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

// Measures how long this thread computed or waited for a processor, rather than for something else.
class ThreadClock {
 public:
  explicit ThreadClock(bool is_needed)
      : waits_(is_needed ? os::open_file("/proc/thread-self/schedstat", os::Open::to_read) : -1) {}
  double seconds() const {
    const double computed = os::thread_seconds();
    char text[64] = {};
    unsigned long long waited = 0;  // stays 0 on systems that do not count it
    if (waits_.get() >= 0 && os::read_some_at(waits_.get(), text, sizeof text - 1, 0) > 0)
      std::sscanf(text, "%*u %llu", &waited);
    return computed + 1e-9 * static_cast<double>(waited);
  }

 private:
  io::detail::Descriptor waits_;
};

NAX_ENGINE void Workers::run() noexcept {
  const ThreadLimit alone(1);  // there are as many of these as there is work for
  const io::detail::ReadsFor loop(stopped_.get());
  profile::name_thread(name_.c_str());
  const ThreadClock clock(automatic_);
  for (std::size_t slot; begin(slot);) {
    if (slot == none) continue;  // the input threw
    std::exception_ptr error;
    const auto begun = std::chrono::steady_clock::now();
    const double computed = automatic_ ? clock.seconds() : 0;
    try {
      finish(slot);
    } catch (...) {
      error = std::current_exception();
    }
    if (automatic_) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
      mark_done(slot, std::move(error), seconds.count(), clock.seconds() - computed);
    } else {
      mark_done(slot, std::move(error));
    }
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
    const bool full = !stop_ && !ended_ && given_ - taken_ >= most_held();
    const profile::Span waits = full ? profile::Span(profile::Kind::idle, "no room") : profile::Span();
    shared_->room.wait(lock, [this] { return stop_ || ended_ || given_ - taken_ < most_held(); });
    if (stop_ || ended_) return false;
    slot = next_slot();
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
    if (more || error) {
      ++given_;
      if (!ordered_) std::erase(free_, slot);  // others may have come behind it
    }
    if (!more && !error) ended_ = true;
  }
  if (error) {
    mark_done(slot, std::move(error));
    slot = none;
  } else if (!more) {
    shared_->ready.notify_all();
    shared_->room.notify_all();
    if (bell_) bell_->ring();
  }
  return more || slot == none;
}

NAX_ENGINE void Workers::mark_done(std::size_t slot, std::exception_ptr error, double seconds,
                                   double computing) noexcept {
  bool awaited = true;
  {
    const std::lock_guard lock(shared_->mutex);
    slots_[slot].error = std::move(error);
    slots_[slot].done = true;
    if (ordered_)
      awaited = slot == static_cast<std::size_t>(taken_) % slots_.size();
    else
      done_.push_back(slot);
    if (static_cast<int>(shared_->threads.size()) <= cores_) {
      constexpr double kept = 0.9;
      seconds_ = kept * seconds_ + seconds, computing_ = kept * computing_ + computing;
    }
  }
  if (awaited) shared_->ready.notify_one();
  if (bell_) bell_->ring();
}

}  // namespace data::detail
NAX_END
