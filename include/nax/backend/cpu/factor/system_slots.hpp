#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/loops/linear_systems.hpp"

// Solves batches of linear systems; found by dtype. Defined in system_kernels.hpp.
NAX_BEGIN
namespace cpu {

struct SystemKernel {
  static constexpr const char* name = "solve";
  using Function = void(const loops::LinearSystems&, const void* a, const void* b, void* x);
  template <class T>
  static void run(const loops::LinearSystems& systems, const void* a, const void* b, void* x);
};

}  // namespace cpu
NAX_END
