#pragma once

#include <array>

#include "nax/backend/cpu/factor/factor_kernels.hpp"
#include "nax/backend/operations.hpp"
#include "nax/devices/cuda/launch/launch.hpp"

// Factorisations and linear systems of the emulated device: by the host's operations.
NAX_BEGIN
namespace cuda {

inline void launch_solver(Device device, const loops::Factoring& f, DType dtype, const char* from,
                          void* const* to) {
  // roots() asks for these alone, and does not read Eigen.
  if (f.kind == loops::Factorisation::eig && dtype == DType::complex128)
    cpu::provide<cpu::FactorKernel<loops::Factorisation::eig>, std::complex<double>>();
  std::array<void*, 3> results{};
  for (int i = 0; i < loops::result_count(f.kind); ++i) results[static_cast<std::size_t>(i)] = to[i];
  launch(device, 1, [=](std::int64_t) {
    backend::run(Device(), ops::Factorise{f, dtype}, {from, results[0], results[1], results[2]});
  });
}

inline void launch_solve(Device device, const loops::LinearSystems& systems, DType dtype, const char* a,
                         const char* b, char* x) {
  launch(device, 1, [=](std::int64_t) { backend::run(Device(), ops::Solve{systems, dtype}, {a, b, x}); });
}

}  // namespace cuda
NAX_END
