#pragma once

#include "nax/devices/cuda/factor/solver_lu.hpp"

// Linear systems. Row-major right sides are, to cuBLAS, transposed: a triangular a has x^T a^T = b^T.
NAX_BEGIN
namespace cuda {

template <class T>
struct SystemAddresses {
  const T* a;
  const T* b;  // null for the identity
  T* x;
};

// Whether cuBLAS reads these matrices (n, n) as they lie: rows or columns are runs that do not overlap.
inline bool has_runs(const loops::StridedMatrices& x, std::int64_t n) {
  return n == 1 || (x.column == 1 && x.row >= n) || (x.row == 1 && x.column >= n);
}

// x = t^-1 b by cuBLAS, which computes in place.
template <class T>
void solve_triangles(Device device, const loops::LinearSystems& s, const SystemAddresses<T>& at) {
  using E = solver_element_t<T>;
  using Calls = SolverCalls<T>;
  const char* const name = "solve_triangular";
  const std::int64_t count = s.count();
  const int n = int_of(name, s.n), m = int_of(name, s.m);
  copy_matrices(device, dtype_of<T>, s.batches, s.n, s.m, at.b, s.b, at.x, over(s.batches, row_major(n, m)));
  loops::StridedMatrices layout = s.a;
  const T* a = at.a;
  std::optional<Room<T>> copy;
  if (!has_runs(layout, n)) {
    const loops::StridedMatrices own = over(s.batches, row_major(n, n));
    copy.emplace(device, count * n * n);
    copy_matrices(device, dtype_of<T>, s.batches, n, n, a, layout, copy->data(), own);
    layout = own, a = copy->data();
  }
  // A row-major t lies there as t^T, of which the other triangle is read.
  const bool rows = n == 1 || layout.column == 1;
  const int lead = int_of(name, n == 1 ? 1 : rows ? layout.row : layout.column);
  const cublasOperation_t as = rows ? CUBLAS_OP_N : CUBLAS_OP_T;
  const cublasFillMode_t triangle =
      is_lower(s.kind) == rows ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const cublasDiagType_t diagonal = is_unit(s.kind) ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const T one(1);
  const E* const alpha = reinterpret_cast<const E*>(&one);
  if (count == 1) {
    const UsedBlas blas(device);
    return Calls::trsm(blas.handle(), CUBLAS_SIDE_RIGHT, triangle, as, diagonal, m, n, alpha,
                       reinterpret_cast<const E*>(a), lead, reinterpret_cast<E*>(at.x), m);
  }
  const MatrixList<T> factors(device, s.batches, const_cast<T*>(a), layout.batch);
  const MatrixList<T> sides(device, Dims(1, count), at.x, Dims(1, s.n * s.m));
  const UsedBlas blas(device);
  Calls::trsm_batched(blas.handle(), CUBLAS_SIDE_RIGHT, triangle, as, diagonal, m, n, alpha, factors.data(),
                      lead, sides.data(), m, int_of(name, count));
}

// x = a^-1 b by LU factors. Matrices that are the same for the whole batch are factored once: the right
// sides are columns of one array then.
template <class T>
void solve_general(Device device, const loops::LinearSystems& s, const SystemAddresses<T>& at) {
  const std::int64_t count = s.count(), n = s.n, m = s.m;
  const bool shared = std::all_of(s.a.batch.begin(), s.a.batch.end(), [](std::int64_t b) { return b == 0; });
  const std::int64_t matrices = shared ? 1 : count;
  LuFactors<T> lu(device, matrices, n, n);
  if (shared)
    copy_matrices(device, dtype_of<T>, Dims(1, 1), n, n, at.a, {s.a.row, s.a.column, Dims(1, 0)}, lu.data(),
                  column_major(n, n));
  else
    copy_matrices(device, dtype_of<T>, s.batches, n, n, at.a, s.a, lu.data(),
                  over(s.batches, column_major(n, n)));
  lu.factor("solve");
  const Room<T> sides(device, count * n * m);
  const loops::StridedMatrices columns = over(s.batches, column_major(n, m));
  if (at.b)
    copy_matrices(device, dtype_of<T>, s.batches, n, m, at.b, s.b, sides.data(), columns);
  else
    fill_identity(device, count, n, sides.data());
  lu.solve("solve", shared ? count * m : m, sides.data());
  copy_matrices(device, dtype_of<T>, s.batches, n, m, sides.data(), columns, at.x,
                over(s.batches, row_major(n, m)));
}

inline void launch_solve(Device device, const loops::LinearSystems& s, DType dtype, const char* a,
                         const char* b, char* x) {
  const bool general = s.kind == loops::SystemKind::general;
  with_solver_type(general ? "solve" : "solve_triangular", dtype, [&]<class T>(std::type_identity<T>) {
    const SystemAddresses<T> at{reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                                reinterpret_cast<T*>(x)};
    if (general)
      solve_general(device, s, at);
    else
      solve_triangles(device, s, at);
  });
}

}  // namespace cuda
NAX_END
