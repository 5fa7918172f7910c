#pragma once

#include "nax/devices/cuda/factor/solver_kernels.hpp"

#if defined(NAX_CUDA_EMULATED)
#include "nax/devices/cuda/factor/solver_emulated.hpp"
#else
#include "nax/devices/cuda/factor/solver_cholesky.hpp"
#include "nax/devices/cuda/factor/solver_eigen.hpp"
#include "nax/devices/cuda/factor/solver_qr.hpp"
#include "nax/devices/cuda/factor/solver_svd.hpp"
#include "nax/devices/cuda/factor/solver_systems.hpp"
#endif

// Factorisations and linear systems by cuSOLVER and cuBLAS (where the host runs the kernels: by the host's
// operations).
NAX_BEGIN
namespace cuda {

#if !defined(NAX_CUDA_EMULATED)
inline void launch_solver(Device device, const loops::Factoring& f, DType dtype, const char* from,
                          void* const* to) {
  const char* const name = name_of(f.kind);
  with_solver_type(name, dtype, [&]<class T>(std::type_identity<T>) {
    const T* const a = reinterpret_cast<const T*>(from);
    switch (f.kind) {
      case loops::Factorisation::lu:
        return factorise_lu(device, f, a, to);
      case loops::Factorisation::cholesky:
        return factorise_cholesky(device, f, a, to);
      case loops::Factorisation::det:
      case loops::Factorisation::slogdet:
        return factorise_det(device, f, a, to);
      case loops::Factorisation::qr:
        return factorise_qr(device, f, a, to);
      case loops::Factorisation::svd:
        return factorise_svd(device, f, a, to);
      case loops::Factorisation::eigh:
        return factorise_eigh(device, f, a, to);
      case loops::Factorisation::eig:
        return factorise_eig(device, f, a, to);
      case loops::Factorisation::adjugate:
        return factorise_adjugate(device, f, a, to);
      case loops::Factorisation::triangle:  // a kernel of nax's
      case loops::Factorisation::schur:     // of the host alone
      case loops::Factorisation::sqrtm:
        break;
    }
  });
}
#endif

inline void launch_factorise(Device device, const loops::Factoring& f, DType dtype, const char* from,
                             void* const* to) {
  if (f.batch == 0) return;
  if (f.kind == loops::Factorisation::triangle)
    return launch_triangle(device, f, dtype, from, static_cast<char*>(to[0]));
  launch_solver(device, f, dtype, from, to);
}

}  // namespace cuda
NAX_END
