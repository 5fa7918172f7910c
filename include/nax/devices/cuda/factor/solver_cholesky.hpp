#pragma once

#include "nax/devices/cuda/factor/solver_lu.hpp"

NAX_BEGIN
namespace cuda {

// Row-major L are, column-major, the L^T of a^T = (L^T)^T L^T: its upper triangle is computed, in place.
// (Complex: the conj(a) = U^H U, and L = U^T.)
template <class T>
void factorise_cholesky(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using E = solver_element_t<T>;
  using Calls = SolverCalls<T>;
  using R = real_t<T>;
  if (f.n == 0) return;
  const char* const name = "cholesky";
  T* const factors = static_cast<T*>(to[0]);
  const std::int64_t size = f.n * f.n;
  const int n = int_of(name, f.n);
  const UsedSolver used(name, device);
  const cusolverDnHandle_t solver = used;
  copy_matrices(device, dtype_of<T>, Dims(1, f.batch), f.n, f.n, from, row_major(f.n, f.n), factors,
                row_major(f.n, f.n));
  const Room<int> info(device, f.batch);
  if (f.batch > 1) {
    const MatrixList<T> list(device, Dims(1, f.batch), factors, Dims(1, size));
    Calls::potrf_batched(solver, CUBLAS_FILL_MODE_UPPER, n, list.data(), n, info.data(),
                         int_of(name, f.batch));
  } else {
    E* const a = reinterpret_cast<E*>(factors);
    int room = 0;
    Calls::potrf_size(solver, CUBLAS_FILL_MODE_UPPER, n, a, n, &room);
    const Room<E> work(device, room);
    Calls::potrf(solver, CUBLAS_FILL_MODE_UPPER, n, a, n, work.data(), room, info.data());
  }
  R* const reals = reals_of<R>(factors);
  constexpr int parts = real_parts<T>;
  launch_teams(device, f.batch, row_threads(f.n), CheckDefinite<R, parts>{reals, f.n, info.data()});
  launch(device, f.batch * size, FinishCholesky<R, parts>{reals, f.n, info.data()});
}

}  // namespace cuda
NAX_END
