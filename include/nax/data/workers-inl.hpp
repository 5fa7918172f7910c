#pragma once

#include "nax/data/workers.hpp"

NAX_BEGIN
namespace data::detail {

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

}  // namespace data::detail
NAX_END
