#pragma once

#include <cublas_v2.h>

// The part of cuSOLVER (13) that nax's host code calls, as cuda_runtime.h beside it; runtime/solver.cpp
// defines it.
extern "C" {

typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef struct cusolverDnParams* cusolverDnParams_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 } cusolverEigMode_t;
typedef enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4, CUDA_C_64F = 5 } cudaDataType;

typedef enum {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7
} cusolverStatus_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* options);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t options);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                            cusolverEigMode_t right, long n, cudaDataType type_a,
                                            const void* a, long lda, cudaDataType type_w, const void* w,
                                            cudaDataType type_vl, const void* vl, long ldvl,
                                            cudaDataType type_vr, const void* vr, long ldvr,
                                            cudaDataType computed, size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, long n, cudaDataType type_a, void* a, long lda,
                                 cudaDataType type_w, void* w, cudaDataType type_vl, void* vl, long ldvl,
                                 cudaDataType type_vr, void* vr, long ldvr, cudaDataType computed,
                                 void* device_work, size_t on_device, void* host_work, size_t on_host,
                                 int* info);

#define STAND_IN_ITERATIONS(T, R, L, orthogonal, symmetric)                                                  \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t, int m, int n, T* a, int lda,          \
                                                   int* size);                                               \
  cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t, int m, int n, T* a, int lda, T* scales, T* work, \
                                        int size, int* info);                                                \
  cusolverStatus_t cusolverDn##L##orthogonal##gqr_bufferSize(                                                \
      cusolverDnHandle_t, int m, int n, int k, const T* a, int lda, const T* scales, int* size);             \
  cusolverStatus_t cusolverDn##L##orthogonal##gqr(cusolverDnHandle_t, int m, int n, int k, T* a, int lda,    \
                                                  const T* scales, T* work, int size, int* info);            \
  cusolverStatus_t cusolverDn##L##symmetric##evd_bufferSize(cusolverDnHandle_t, cusolverEigMode_t,           \
                                                            cublasFillMode_t, int n, const T* a, int lda,    \
                                                            const R* w, int* size);                          \
  cusolverStatus_t cusolverDn##L##symmetric##evd(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t,    \
                                                 int n, T* a, int lda, R* w, T* work, int size, int* info);  \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t, int m, int n, int* size);             \
  cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t, signed char left, signed char right, int m,      \
                                        int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt, T* work, \
                                        int size, R* more, int* info);
STAND_IN_ITERATIONS(float, float, S, or, sy)
STAND_IN_ITERATIONS(double, double, D, or, sy)
STAND_IN_ITERATIONS(cuComplex, float, C, un, he)
STAND_IN_ITERATIONS(cuDoubleComplex, double, Z, un, he)
#undef STAND_IN_ITERATIONS

#define STAND_IN_SOLVER(T, L)                                                                                \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int n, T* a,        \
                                                   int lda, int* size);                                      \
  cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t, cublasFillMode_t, int n, T* a, int lda, T* work, \
                                        int size, int* info);                                                \
  cusolverStatus_t cusolverDn##L##potrfBatched(cusolverDnHandle_t, cublasFillMode_t, int n, T* a[], int lda, \
                                               int* info, int batch);                                        \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t, int m, int n, T* a, int lda,          \
                                                   int* size);                                               \
  cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t, int m, int n, T* a, int lda, T* work,            \
                                        int* swaps, int* info);                                              \
  cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t, cublasOperation_t, int n, int columns,           \
                                        const T* a, int lda, const int* swaps, T* b, int ldb, int* info);
STAND_IN_SOLVER(float, S)
STAND_IN_SOLVER(double, D)
STAND_IN_SOLVER(cuComplex, C)
STAND_IN_SOLVER(cuDoubleComplex, Z)
#undef STAND_IN_SOLVER
}
