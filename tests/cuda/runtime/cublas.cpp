#include "cuda/runtime/solver.hpp"
#include "cuda/runtime/world.hpp"
#include "nax/backend/cpu/factor/eigen_dense.hpp"

// cuBLAS' triangular solves and batched LU factors, on the stand-in of the runtime.
using namespace stand_in;

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t bytes = 0;
  int card = stand_in::current;
};

namespace stand_in {

bool submit(cudaStream_t stream, Library library, std::function<void()> work) {
  const cudaError_t before = latest_error;
  const cudaError_t result = call([&](World& w, auto&) {
    if (!w.streams.count(stream) || stream->device != current) return cudaErrorInvalidResourceHandle;
    if (stream->capture && library == Library::not_captured) {
      stream->capture->invalid = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    return w.enqueue(stream, std::move(work));
  });
  latest_error = before;  // libraries have statuses of their own
  return result == cudaSuccess;
}
void made_handle() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.refuse_in_capture();
}
void count_violation() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  ++w.violations;
}

}  // namespace stand_in

namespace {

cublasStatus_t refused() { return CUBLAS_STATUS_INVALID_VALUE; }
cublasStatus_t submitted(cublasHandle_t handle, std::function<void()> work) {
  // The workspace is written: nothing else may lie there.
  void* const workspace = handle->workspace;
  const std::size_t bytes = handle->bytes;
  const bool done = submit(handle->stream, Library::captured, [=, work = std::move(work)] {
    if (workspace) std::memset(workspace, 0xEE, bytes);
    work();
  });
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

struct Triangle {
  bool right, upper, unit;
  cublasOperation_t operation;
  int m, n;
};
template <class T>
void solve_triangle(const Triangle& t, T alpha, const T* a, std::int64_t lda, T* b, std::int64_t ldb) {
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Strided = Eigen::Map<Dense, 0, Eigen::OuterStride<>>;
  const std::int64_t k = t.right ? t.n : t.m;
  Dense x = Dense::Zero(k, k);
  for (std::int64_t j = 0; j < k; ++j)  // the other triangle is not read
    for (std::int64_t i = t.upper ? 0 : j; i < (t.upper ? j + 1 : k); ++i)
      x(i, j) = i == j && t.unit ? T(1) : a[j * lda + i];
  if (t.operation == CUBLAS_OP_T) x.transposeInPlace();
  if (t.operation == CUBLAS_OP_C) x.adjointInPlace();
  Strided sides(b, t.m, t.n, Eigen::OuterStride<>(ldb));
  Dense y = alpha * sides;
  const bool upper = t.upper == (t.operation == CUBLAS_OP_N);
  const auto solve = [&](const auto& triangle) {
    if (t.right)
      triangle.template solveInPlace<Eigen::OnTheRight>(y);
    else
      triangle.template solveInPlace<Eigen::OnTheLeft>(y);
  };
  if (upper)
    solve(x.template triangularView<Eigen::Upper>());
  else
    solve(x.template triangularView<Eigen::Lower>());
  sides = y;
}

template <class T>
cublasStatus_t trsm(cublasHandle_t handle, const Triangle& t, const T* alpha, const T* a, int lda, T* b,
                    int ldb) {
  const int k = t.right ? t.n : t.m;
  if (!handle || !alpha || t.m < 0 || t.n < 0 || lda < std::max(1, k) || ldb < std::max(1, t.m) ||
      !lie_on_card({{a, extent(k, k, lda)}, {b, extent(t.m, t.n, ldb)}}))
    return refused();
  return submitted(handle,
                   [=, by = *numbers(alpha)] { solve_triangle(t, by, numbers(a), lda, numbers(b), ldb); });
}
template <class T>
cublasStatus_t trsm_batched(cublasHandle_t handle, const Triangle& t, const T* alpha, const T* const a[],
                            int lda, T* const b[], int ldb, int batch) {
  const int k = t.right ? t.n : t.m;
  if (!handle || !alpha || t.m < 0 || t.n < 0 || batch < 0 || lda < std::max(1, k) ||
      ldb < std::max(1, t.m) || !lie_on_card({{a, batch}, {b, batch}}))
    return refused();
  return submitted(handle, [=, by = *numbers(alpha)] {
    for (int i = 0; i < batch; ++i) {
      if (!lie_on_card({{a[i], extent(k, k, lda)}, {b[i], extent(t.m, t.n, ldb)}})) return count_violation();
      solve_triangle(t, by, numbers(a[i]), lda, numbers(b[i]), ldb);
    }
  });
}

template <class T>
cublasStatus_t getrf_batched(cublasHandle_t handle, int n, T* const a[], int lda, int* swaps, int* info,
                             int batch) {
  if (!handle || n < 0 || batch < 0 || lda < std::max(1, n) ||
      !lie_on_card({{a, batch}, {swaps, std::int64_t{n} * batch}, {info, batch}}))
    return refused();
  return submitted(handle, [=] {
    for (int i = 0; i < batch; ++i) {
      if (!lie_on_card({{a[i], extent(n, n, lda)}})) return count_violation();
      info[i] = factor_lu(n, n, numbers(a[i]), lda, swaps + std::int64_t{i} * n);
    }
  });
}
template <class T>
cublasStatus_t getrs_batched(cublasHandle_t handle, cublasOperation_t operation, int n, int columns,
                             const T* const a[], int lda, const int* swaps, T* const b[], int ldb, int* info,
                             int batch) {
  if (!handle || operation != CUBLAS_OP_N || n < 0 || columns < 0 || batch < 0 || lda < std::max(1, n) ||
      ldb < std::max(1, n) || !info || lie_on_card({{info, 1}}) ||  // info is the host's here
      !lie_on_card({{a, batch}, {b, batch}, {swaps, std::int64_t{n} * batch}}))
    return refused();
  return submitted(handle, [=] {
    for (int i = 0; i < batch; ++i) {
      if (!lie_on_card({{a[i], extent(n, n, lda)}, {b[i], extent(n, columns, ldb)}}))
        return count_violation();
      solve_lu(n, columns, numbers(a[i]), lda, swaps + std::int64_t{i} * n, numbers(b[i]), ldb);
    }
  });
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  made_handle();
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  cudaDeviceSynchronize();
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (card_of_stream(stream) != handle->card) return CUBLAS_STATUS_EXECUTION_FAILED;
  handle->stream = stream;
  handle->workspace = nullptr, handle->bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0 ||
      !lie_on_card({{static_cast<const char*>(workspace), static_cast<std::int64_t>(bytes)}}))
    return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace, handle->bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    default:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
  }
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE ? "an argument is refused" : "the call failed";
}

#define STAND_IN_BLAS(T, L)                                                                                  \
  cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,        \
                                 cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,       \
                                 const T* alpha, const T* a, int lda, T* b, int ldb) {                       \
    return trsm(handle,                                                                                      \
                {side == CUBLAS_SIDE_RIGHT, fill == CUBLAS_FILL_MODE_UPPER, diagonal == CUBLAS_DIAG_UNIT,    \
                 operation, m, n},                                                                           \
                alpha, a, lda, b, ldb);                                                                      \
  }                                                                                                          \
  cublasStatus_t cublas##L##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                                        cublasOperation_t operation, cublasDiagType_t diagonal, int m,       \
                                        int n, const T* alpha, const T* const a[], int lda, T* const b[],    \
                                        int ldb, int batch) {                                                \
    return trsm_batched(handle,                                                                              \
                        {side == CUBLAS_SIDE_RIGHT, fill == CUBLAS_FILL_MODE_UPPER,                          \
                         diagonal == CUBLAS_DIAG_UNIT, operation, m, n},                                     \
                        alpha, a, lda, b, ldb, batch);                                                       \
  }                                                                                                          \
  cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* swaps,    \
                                         int* info, int batch) {                                             \
    return getrf_batched(handle, n, a, lda, swaps, info, batch);                                             \
  }                                                                                                          \
  cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, int n,          \
                                         int columns, const T* const a[], int lda, const int* swaps,         \
                                         T* const b[], int ldb, int* info, int batch) {                      \
    return getrs_batched(handle, operation, n, columns, a, lda, swaps, b, ldb, info, batch);                 \
  }
STAND_IN_BLAS(float, S)
STAND_IN_BLAS(double, D)
STAND_IN_BLAS(cuComplex, C)
STAND_IN_BLAS(cuDoubleComplex, Z)
#undef STAND_IN_BLAS
}
