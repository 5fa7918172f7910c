#pragma once

#include "nax/core/os/os.hpp"

// Objects that each thread has one of, usable until the thread ends.
//
// Destructors of static and thread_local objects may call nax after C++ has destroyed its thread_local
// objects. So a key of the system's destroys these, after everything that C++ destroys. Those of the main
// thread are never destroyed. An object that is needed even later is made anew.
NAX_BEGIN
namespace detail {

struct PerThreadObject {
  PerThreadObject* next = nullptr;
  virtual ~PerThreadObject() = default;
};
inline thread_local constinit PerThreadObject* per_thread_objects = nullptr;

[[gnu::cold]] NAX_COMPILED_ONCE void keep_per_thread(PerThreadObject* object) noexcept {
  static const os::ThreadKey key([](void* newest) {
    if (!newest) return;
    // (Emulated thread_local variables are zero by now.)
    per_thread_objects = static_cast<PerThreadObject*>(newest);
    while (PerThreadObject* const last = per_thread_objects) {
      per_thread_objects = last->next;
      delete last;
    }
    key.set(nullptr);  // which destructors may have set
  });
  object->next = per_thread_objects;
  per_thread_objects = object;
  key.set(object);  // if it fails, the objects leak, which is harmless
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

}  // namespace detail
NAX_END
