#pragma once

#include <cuda_runtime.h>
#include <vector_types.h>

// The part of cuFFT (12) that nax's host code calls, with its names, types and signatures. ../fft.cpp defines
// it; where the toolkit is installed that is compiled against its cufft.h as well.
extern "C" {

typedef enum cufftResult_t {
  CUFFT_SUCCESS = 0x0,
  CUFFT_INVALID_PLAN = 0x1,
  CUFFT_ALLOC_FAILED = 0x2,
  CUFFT_INVALID_TYPE = 0x3,
  CUFFT_INVALID_VALUE = 0x4,
  CUFFT_INTERNAL_ERROR = 0x5,
  CUFFT_EXEC_FAILED = 0x6,
  CUFFT_SETUP_FAILED = 0x7,
  CUFFT_INVALID_SIZE = 0x8,
  CUFFT_UNALIGNED_DATA = 0x9,
  CUFFT_INVALID_DEVICE = 0xB,
  CUFFT_NO_WORKSPACE = 0xD,
  CUFFT_NOT_IMPLEMENTED = 0xE,
  CUFFT_NOT_SUPPORTED = 0x10
} cufftResult;

typedef enum cufftType_t {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType;

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef int cufftHandle;

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates);
cufftResult cufftSetWorkArea(cufftHandle plan, void* work);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long int* n, long long int* from_embedded,
                                long long int from_stride, long long int from_distance,
                                long long int* to_embedded, long long int to_stride,
                                long long int to_distance, cufftType type, long long int batch,
                                size_t* work_bytes);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* from, cufftComplex* to, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* from, cufftComplex* to);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* from, cufftReal* to);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleComplex* to, int direction);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* from, cufftDoubleComplex* to);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleReal* to);
}
