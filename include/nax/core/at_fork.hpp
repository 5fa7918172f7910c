#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "nax/core/os/os.hpp"

// fork() takes only the calling thread along: a child has nax's locks as they were, and none of its threads.
NAX_BEGIN
namespace detail {

// The number of forks between the process in which nax began and this one. State made under another number
// belongs to threads that this process does not have.
inline std::atomic<unsigned> process_generation{0};

// Calls these around every fork from now on, where not null: `before` and `in_parent` in the process that
// forks, `in_child` in the new one.
NAX_ENGINE void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

// A lock that is free in a child of fork(), what it guards as between two holders: a fork waits until it
// holds all such locks. Its holders neither fork nor call functions of users, and are done in a short time. A
// lock of what a child cannot go on with (threads, devices, a request or a pass in progress) is a std::mutex.
class ForkMutex : public std::mutex {
 public:
  NAX_ENGINE ForkMutex();
  NAX_ENGINE ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

 private:
  friend struct ForkLocks;
  ForkMutex *previous_ = nullptr, *next_ = nullptr;
};

// A lock that objects of a family share: there may be more of them than a fork should take locks. A holder
// takes no second lock of its family.
template <class Family>
ForkMutex& fork_mutex_of() {
  static auto& locks = *new std::array<ForkMutex, 8>;
  static std::atomic<std::size_t> given{0};
  return locks[given.fetch_add(1, std::memory_order_relaxed) % locks.size()];
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include <thread>

NAX_BEGIN
namespace detail {

NAX_ENGINE void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  [[maybe_unused]] static const bool counts =
      (os::around_fork(nullptr, nullptr, [] { process_generation.fetch_add(1, std::memory_order_relaxed); }),
       true);
  os::around_fork(before, in_parent, in_child);
}

// The list of all ForkMutexes.
struct ForkLocks {
  std::mutex mutex;
  ForkMutex* first = nullptr;

  static ForkLocks& instance() {
    static ForkLocks* const all = [] {
      auto* const made = new ForkLocks;
      at_fork([] { instance().hold(); }, [] { instance().release(); }, [] { instance().release(); });
      return made;
    }();
    return *all;
  }
  void add(ForkMutex& lock) {
    const std::lock_guard guard(mutex);
    lock.next_ = first;
    if (first) first->previous_ = &lock;
    first = &lock;
  }
  void remove(ForkMutex& lock) {
    const std::lock_guard guard(mutex);
    if (lock.next_) lock.next_->previous_ = lock.previous_;
    (lock.previous_ ? lock.previous_->next_ : first) = lock.next_;
  }
  // In any order: where one is held all are given back, so that its holder can take others.
  void hold() {
    for (;; std::this_thread::yield()) {
      mutex.lock();
      ForkMutex* lock = first;
      while (lock && lock->try_lock()) lock = lock->next_;
      if (!lock) return;
      for (ForkMutex* held = first; held != lock; held = held->next_) held->unlock();
      mutex.unlock();
    }
  }
  void release() {
    for (ForkMutex* lock = first; lock; lock = lock->next_) lock->unlock();
    mutex.unlock();
  }
};

NAX_ENGINE ForkMutex::ForkMutex() { ForkLocks::instance().add(*this); }
NAX_ENGINE ForkMutex::~ForkMutex() { ForkLocks::instance().remove(*this); }

}  // namespace detail
NAX_END
#endif
