#include "faults/injector.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace faults {
namespace {

std::atomic<std::int64_t> live{0}, until_failure{-1};
std::atomic<bool> failed{false};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (until_failure.load(std::memory_order_relaxed) >= 0 && until_failure.fetch_sub(1) == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  void* const block = alignment <= alignof(std::max_align_t)
                          ? std::malloc(bytes == 0 ? 1 : bytes)
                          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!block) throw std::bad_alloc();
  ++live;
  return block;
}
void* allocate_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  try {
    return allocate(bytes, alignment);
  } catch (...) {
    return nullptr;
  }
}
void deallocate(void* block) noexcept {
  if (block) --live;
  std::free(block);
}
std::atomic<std::int64_t> until_no_thread{-1};

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

std::int64_t live_blocks() { return live; }
void fail_allocation(std::int64_t n) {
  failed = false;
  until_failure = n;
}
bool stop_failing() {
  until_failure = -1;
  return failed;
}

void fail_thread(std::int64_t n) { until_no_thread = n; }

}  // namespace faults

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  using faults::until_no_thread;
  if (until_no_thread.load() >= 0 && until_no_thread.fetch_sub(1) == 0) return EAGAIN;
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}

using faults::allocate, faults::allocate_or_null, faults::deallocate, faults::number;

void* operator new(std::size_t n) { return allocate(n, 1); }
void* operator new[](std::size_t n) { return allocate(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate(n, number(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate(n, number(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_null(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_null(n, 1); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_null(n, number(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_null(n, number(a));
}
void operator delete(void* p) noexcept { deallocate(p); }
void operator delete[](void* p) noexcept { deallocate(p); }
void operator delete(void* p, std::size_t) noexcept { deallocate(p); }
void operator delete[](void* p, std::size_t) noexcept { deallocate(p); }
void operator delete(void* p, std::align_val_t) noexcept { deallocate(p); }
void operator delete[](void* p, std::align_val_t) noexcept { deallocate(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { deallocate(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { deallocate(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { deallocate(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { deallocate(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { deallocate(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { deallocate(p); }
