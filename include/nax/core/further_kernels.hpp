#pragma once

// Kernels of other instructions, chosen when the program starts: a library for any x86-64 brings objects with
// the kernels of x86-64-v3 and x86-64-v4 (CMake's NAX_KERNELS_FOR), and takes those of the best that the
// processor has. Each object shows one function, nax_kernels_x86_v3 or _v4; all other names in it are its
// own, so that the linker gives none of its code to files of fewer instructions.
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

// The level of those that the program took; null: none.
inline constinit const char* further_kernels = nullptr;

}  // namespace nax_shared
