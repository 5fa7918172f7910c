#pragma once

#include <pthread.h>

#include "nax/core/abi.hpp"

// Objects of which each thread has its own, and which may be used to the very end.
//
// Destructors of static and thread_local objects may call nax, when C++ has destroyed thread_local objects
// already. So these are destroyed by a key of the system's threads, after everything that C++ destroys; those
// of the main thread, which lives as long as the process, never. What is asked for even later is made anew.
namespace nax::inline NAX_ABI::detail {

struct PerThreadObject {
  PerThreadObject* next = nullptr;
  virtual ~PerThreadObject() = default;
};
inline thread_local constinit PerThreadObject* per_thread_objects = nullptr;

[[gnu::cold]] NAX_COMPILED_ONCE void keep_per_thread(PerThreadObject* object) noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void*) {
      while (PerThreadObject* const last = per_thread_objects) {
        per_thread_objects = last->next;
        delete last;
      }
    });
    return made;
  }();
  object->next = per_thread_objects;
  per_thread_objects = object;
  pthread_setspecific(key, object);  // where it fails the objects stay, which harms nobody
}

template <class T, class Name>
struct PerThread final : PerThreadObject {
  T value{};
  ~PerThread() override { here = nullptr; }

  static inline thread_local constinit T* here = nullptr;
  [[gnu::cold, gnu::noinline]] static T& make() {
    auto* const made = new PerThread;
    here = &made->value;
    keep_per_thread(made);
    return *here;
  }
};

// The calling thread's T of that name, made when it first asks.
template <class T, class Name = T>
T& per_thread() {
  T* const here = PerThread<T, Name>::here;
  return here ? *here : PerThread<T, Name>::make();
}

}  // namespace nax::inline NAX_ABI::detail
