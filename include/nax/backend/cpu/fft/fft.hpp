#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/loops/fft_lines.hpp"

// Discrete Fourier transforms of lines of an array. What computes them is in fft_kernels.hpp, which programs
// that have it in a library do not read.
NAX_BEGIN
namespace cpu {

using loops::FftKind, loops::FftLines;

// R is float or double; n at least 1.
template <class R>
void fft(const FftLines& lines, const void* from, void* to);

struct FftKernel {
  static constexpr const char* name = "fft";
  using Function = void(const FftLines&, const void* from, void* to);
  template <class R>
  static void run(const FftLines& lines, const void* from, void* to) {
    fft<R>(lines, from, to);
  }
};

}  // namespace cpu
NAX_END
