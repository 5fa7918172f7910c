#pragma once

#include "nax/devices/cuda/launch/launch.hpp"

#if defined(NAX_CUDA_EMULATED)
#include "nax/backend/cpu/fft/fft_kernels.hpp"
#else
#include "nax/devices/cuda/fft/fft.hpp"
#endif

// Fourier transforms: by cuFFT, on the emulated device by the CPU's.
NAX_BEGIN
namespace cuda {

#if defined(NAX_CUDA_EMULATED)
inline void launch_fft(Device device, const loops::FftLines& lines, DType real, const char* from, char* to) {
  launch(device, 1, [=](std::int64_t) {
    if (real == DType::float64)
      cpu::fft<double>(lines, from, to);
    else
      cpu::fft<float>(lines, from, to);
  });
}
#endif

}  // namespace cuda
NAX_END
