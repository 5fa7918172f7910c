#pragma once

#include <cstddef>

// Kernels of further instructions. A library for any x86-64 brings objects with the kernels of x86-64-v3 and
// x86-64-v4 (CMake's NAX_KERNELS_FOR). When a program starts, it takes those of the best level that the
// processor has.
//
// Each object shows one function, nax_kernels_x86_v3 or _v4. All other names in it are local, so that the
// linker gives none of its code to files of fewer instructions. Its kernels allocate memory and decide the
// number of threads by functions of the library: limits, statistics and errors are those of the program.
namespace nax_shared {

struct FurtherKernel {
  const char* name;
  int dtype;
  void (*function)();  // of the kernel's type; null where the object lacks it
};
struct FurtherReducer {
  int kind, from, to;
  const void* reducer;
};
// In the order of kernel_lists.hpp.
struct FurtherKernels {
  const FurtherKernel* kernels;
  int kernel_count;
  const FurtherReducer* reducers;
  int reducer_count;
};

// Functions that kernels of an object call; set before the first of them is called.
struct FurtherHost {
  void* (*allocate)(std::size_t bytes);
  void (*deallocate)(void* pointer, std::size_t bytes) noexcept;
  void (*decide_threads)();
};
inline constinit FurtherHost further_host = {};

// The level of those that the program took; null: none.
inline constinit const char* further_kernels = nullptr;

}  // namespace nax_shared
