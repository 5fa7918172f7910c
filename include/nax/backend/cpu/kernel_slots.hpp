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
// compiles the kernels of its own types; nax::compiled holds all of them. Where the engine brings kernels for
// the processor that it runs on, slots are full before main (core/further_kernels.hpp).
NAX_BEGIN
namespace cpu {

template <class Kernel>
inline constinit std::atomic<typename Kernel::Function*> kernel_slots[dtype_count] = {};

void provide_library_kernels();  // fills all slots; there in nax::compiled only

#if defined(NAX_CALLS_KERNELS)
inline constinit std::atomic<bool> kernels_provided = false;

inline void provide_library() {
  if (!kernels_provided.load(std::memory_order_acquire)) [[unlikely]] {
    provide_library_kernels();
    kernels_provided.store(true, std::memory_order_release);
  }
}
template <class Kernel, class T>
void provide() {
  provide_library();
}
#else
// A name of its own: in a program that links the library, its sources must not call the function above.
inline namespace holds_kernels {
template <class Kernel, class T>
void provide() {
  auto& slot = kernel_slots<Kernel>[static_cast<std::size_t>(dtype_of<T>)];
  if (!slot.load(std::memory_order_relaxed)) slot.store(&Kernel::template run<T>, std::memory_order_release);
}
}  // namespace holds_kernels
#endif

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
