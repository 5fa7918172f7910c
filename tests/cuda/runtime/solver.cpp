#include <cmath>

#include "cuda/runtime/solver_calls.hpp"

// cuSOLVER's factorisations on the stand-in of the runtime. Its calls are no part of graphs: they invalidate
// a capture. Work areas are overwritten, so that nothing else may lie there.
using namespace stand_in;

namespace {

cusolverStatus_t tell_size(cusolverDnHandle_t handle, int m, int n, int lda, int* size) {
  if (!handle || m < 0 || n < 0 || lda < std::max(1, m) || !size) return refused();
  *size = work_size(m, n);
  return CUSOLVER_STATUS_SUCCESS;
}

// a = U^H U or L L^H of the triangle; returns the order of the first leading matrix that is not positive.
template <class T>
int factor_cholesky(bool upper, std::int64_t n, T* a, std::int64_t lead) {
  const auto conjugate = [](T x) {
    if constexpr (std::is_floating_point_v<T>)
      return x;
    else
      return std::conj(x);
  };
  // Element (i, j) of the lower factor.
  const auto get = [&](std::int64_t i, std::int64_t j) {
    return upper ? conjugate(a[i * lead + j]) : a[j * lead + i];
  };
  const auto set = [&](std::int64_t i, std::int64_t j, T x) {
    (upper ? a[i * lead + j] : a[j * lead + i]) = upper ? conjugate(x) : x;
  };
  for (std::int64_t j = 0; j < n; ++j) {
    auto d = std::real(get(j, j));
    for (std::int64_t k = 0; k < j; ++k) d -= std::norm(get(j, k));
    if (!(d > 0)) return static_cast<int>(j + 1);
    d = std::sqrt(d);
    set(j, j, T(d));
    for (std::int64_t i = j + 1; i < n; ++i) {
      T x = get(i, j);
      for (std::int64_t k = 0; k < j; ++k) x -= get(i, k) * conjugate(get(j, k));
      set(i, j, x / d);
    }
  }
  return 0;
}

template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t handle, bool upper, int n, T* a, int lda, T* work, int size,
                       int* info) {
  if (!handle || n < 0 || lda < std::max(1, n) || size < work_size(n, n) ||
      !lie_on_card({{a, extent(n, n, lda)}, {work, size}, {info, 1}}))
    return refused();
  return submitted(handle, [=] {
    spoil(work, size);
    *info = factor_cholesky(upper, n, numbers(a), lda);
  });
}
template <class T>
cusolverStatus_t potrf_batched(cusolverDnHandle_t handle, bool upper, int n, T* a[], int lda, int* info,
                               int batch) {
  if (!handle || n < 0 || batch < 0 || lda < std::max(1, n) || !lie_on_card({{a, batch}, {info, batch}}))
    return refused();
  return submitted(handle, [=] {
    for (int i = 0; i < batch; ++i) {
      if (!lie_on_card({{a[i], extent(n, n, lda)}})) return count_violation();
      info[i] = factor_cholesky(upper, n, numbers(a[i]), lda);
    }
  });
}
template <class T>
cusolverStatus_t getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work, int* swaps,
                       int* info) {
  if (!handle || m < 0 || n < 0 || lda < std::max(1, m) ||
      !lie_on_card({{a, extent(m, n, lda)}, {work, work_size(m, n)}, {swaps, std::min(m, n)}, {info, 1}}))
    return refused();
  return submitted(handle, [=] {
    spoil(work, work_size(m, n));
    *info = factor_lu(m, n, numbers(a), lda, swaps);
  });
}
template <class T>
cusolverStatus_t getrs(cusolverDnHandle_t handle, cublasOperation_t operation, int n, int columns, const T* a,
                       int lda, const int* swaps, T* b, int ldb, int* info) {
  if (!handle || operation != CUBLAS_OP_N || n < 0 || columns < 0 || lda < std::max(1, n) ||
      ldb < std::max(1, n) ||
      !lie_on_card({{a, extent(n, n, lda)}, {swaps, n}, {b, extent(n, columns, ldb)}, {info, 1}}))
    return refused();
  return submitted(handle, [=] {
    solve_lu(n, columns, numbers(a), lda, swaps, numbers(b), ldb);
    *info = 0;
  });
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  made_handle();
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  cudaDeviceSynchronize();
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (card_of_stream(stream) != handle->card) return CUSOLVER_STATUS_EXECUTION_FAILED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

#define STAND_IN_SOLVER(T, L)                                                                              \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int n, T*, \
                                                   int lda, int* size) {                                   \
    return tell_size(handle, n, n, lda, size);                                                             \
  }                                                                                                        \
  cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a,     \
                                        int lda, T* work, int size, int* info) {                           \
    return potrf(handle, fill == CUBLAS_FILL_MODE_UPPER, n, a, lda, work, size, info);                     \
  }                                                                                                        \
  cusolverStatus_t cusolverDn##L##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,    \
                                               T* a[], int lda, int* info, int batch) {                    \
    return potrf_batched(handle, fill == CUBLAS_FILL_MODE_UPPER, n, a, lda, info, batch);                  \
  }                                                                                                        \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T*, int lda,   \
                                                   int* size) {                                            \
    return tell_size(handle, m, n, lda, size);                                                             \
  }                                                                                                        \
  cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work,   \
                                        int* swaps, int* info) {                                           \
    return getrf(handle, m, n, a, lda, work, swaps, info);                                                 \
  }                                                                                                        \
  cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t operation, int n,     \
                                        int columns, const T* a, int lda, const int* swaps, T* b, int ldb, \
                                        int* info) {                                                       \
    return getrs(handle, operation, n, columns, a, lda, swaps, b, ldb, info);                              \
  }
STAND_IN_SOLVER(float, S)
STAND_IN_SOLVER(double, D)
STAND_IN_SOLVER(cuComplex, C)
STAND_IN_SOLVER(cuDoubleComplex, Z)
#undef STAND_IN_SOLVER
}
