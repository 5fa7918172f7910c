#pragma once

#include <atomic>
#include <cstddef>

#include "nax/core/compiled_once.hpp"
#include "nax/core/dtype.hpp"
#include "nax/core/error.hpp"

// Kernels that are found by dtype.
//
// A kernel is a struct with a type `Function` and a static template `run<T>` of that type. The host's
// operations call it through a slot per dtype, and so need no type of C++. A public function, which knows its
// element type, fills the slot of that type first: provide<Kernel, T>(). A program that is headers only thus
// compiles the kernels of its own types; one that links the engine links those of them that the engine has
// (nax/compiled/kernel_lists.hpp). Where the engine brings kernels for the processor that it runs on, slots
// are full before main (core/further_kernels.hpp).
NAX_BEGIN
namespace cpu {

template <class Kernel>
inline constinit std::atomic<typename Kernel::Function*> kernel_slots[dtype_count] = {};

// The engine's kernel, whose body a user's file need not read.
template <class Kernel, class T>
typename Kernel::Function* kernel_of_library();
#if defined(NAX_CALLS_KERNELS)
inline constexpr bool calls_kernels = true;
#else
inline constexpr bool calls_kernels = false;
#if defined(NAX_IS_LIBRARY)
template <class Kernel, class T>
typename Kernel::Function* kernel_of_library() {
  return &Kernel::template run<T>;
}
#endif
#endif

template <class Kernel, class T, bool in_library = calls_kernels>
void provide() {
  auto& slot = kernel_slots<Kernel>[static_cast<std::size_t>(dtype_of<T>)];
  if (slot.load(std::memory_order_relaxed)) [[likely]]
    return;
  if constexpr (in_library)
    slot.store(kernel_of_library<Kernel, T>(), std::memory_order_release);
  else
    slot.store(&Kernel::template run<T>, std::memory_order_release);
}

[[noreturn, gnu::cold]] inline void throw_no_kernel(const char* name, DType dtype) {
  raise<Error>({name, ": this program has no kernel for ", dtype_name(dtype)});
}

// The kernel for elements of this dtype; null where no function has provided it.
template <class Kernel>
typename Kernel::Function* find_kernel(DType dtype) {
  return kernel_slots<Kernel>[static_cast<std::size_t>(dtype)].load(std::memory_order_acquire);
}
// The kernel for elements of this dtype. Throws Error where no function has provided it.
template <class Kernel>
typename Kernel::Function* kernel_for(DType dtype) {
  const auto kernel = find_kernel<Kernel>(dtype);
  if (!kernel) [[unlikely]]
    throw_no_kernel(Kernel::name, dtype);
  return kernel;
}

}  // namespace cpu
NAX_END
