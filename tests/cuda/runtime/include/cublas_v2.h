#pragma once

#include <cuda_runtime.h>
#include <vector_types.h>

// The part of cuBLAS (13) that nax's host code calls beside cuBLASLt, as cuda_runtime.h beside it;
// runtime/cublas.cpp defines it.
extern "C" {

typedef struct cublasContext* cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;

typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

#define cublasStrsm cublasStrsm_v2
#define cublasDtrsm cublasDtrsm_v2
#define cublasCtrsm cublasCtrsm_v2
#define cublasZtrsm cublasZtrsm_v2
#define STAND_IN_BLAS(T, L)                                                                                 \
  cublasStatus_t cublas##L##trsm(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,     \
                                 cublasDiagType_t, int m, int n, const T* alpha, const T* a, int lda, T* b, \
                                 int ldb);                                                                  \
  cublasStatus_t cublas##L##trsmBatched(cublasHandle_t, cublasSideMode_t, cublasFillMode_t,                 \
                                        cublasOperation_t, cublasDiagType_t, int m, int n, const T* alpha,  \
                                        const T* const a[], int lda, T* const b[], int ldb, int batch);     \
  cublasStatus_t cublas##L##getrfBatched(cublasHandle_t, int n, T* const a[], int lda, int* swaps,          \
                                         int* info, int batch);                                             \
  cublasStatus_t cublas##L##getrsBatched(cublasHandle_t, cublasOperation_t, int n, int columns,             \
                                         const T* const a[], int lda, const int* swaps, T* const b[],       \
                                         int ldb, int* info, int batch);
STAND_IN_BLAS(float, S)
STAND_IN_BLAS(double, D)
STAND_IN_BLAS(cuComplex, C)
STAND_IN_BLAS(cuDoubleComplex, Z)
#undef STAND_IN_BLAS
}
