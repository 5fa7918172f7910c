#pragma once

#include <cublas_v2.h>

// The part of cuSOLVER (13) that nax's host code calls, as cuda_runtime.h beside it; runtime/solver.cpp
// defines it.
extern "C" {

typedef struct cusolverDnContext* cusolverDnHandle_t;

typedef enum {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7
} cusolverStatus_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

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
