#include <cublasLt.h>

#include <cstring>
#include <vector>

#include "cuda/runtime/runtime.hpp"
#include "nax/core/half.hpp"

// A stand-in of cuBLASLt: the products that nax asks for, as loops on the host when the stream gets there.
namespace blas_stand_in {

// Contents of the library's opaque structs.
struct Product {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
};
struct Layout {
  cudaDataType type;
  std::int64_t rows, columns, lead, stride;
  std::int32_t batches;
};

template <class T>
T& as(void* opaque) {
  static_assert(sizeof(T) <= 64);
  return *static_cast<T*>(opaque);
}

template <class T>
double element(const char* data, const Layout& x, std::int64_t batch, std::int64_t row, std::int64_t column,
               bool turned) {
  if (turned) std::swap(row, column);
  T value;
  std::memcpy(&value,
              data + (batch * x.stride + column * x.lead + row) * static_cast<std::int64_t>(sizeof(T)),
              sizeof value);
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(value);
  else
    return value;
}

template <class T>
void multiply(const Product& p, const char* a, const Layout& la, const char* b, const Layout& lb, double beta,
              char* c, const Layout& lc) {
  const bool ta = p.a == CUBLAS_OP_T, tb = p.b == CUBLAS_OP_T;
  const std::int64_t inner = ta ? la.rows : la.columns;
  for (std::int64_t batch = 0; batch < lc.batches; ++batch)
    for (std::int64_t row = 0; row < lc.rows; ++row)
      for (std::int64_t column = 0; column < lc.columns; ++column) {
        double sum = beta == 0 ? 0 : beta * element<T>(c, lc, batch, row, column, false);
        for (std::int64_t k = 0; k < inner; ++k)
          sum += element<T>(a, la, batch, row, k, ta) * element<T>(b, lb, batch, k, column, tb);
        T result;
        if constexpr (sizeof(T) == 2)
          result = static_cast<T>(static_cast<float>(sum));
        else
          result = static_cast<T>(sum);
        std::memcpy(c + (batch * lc.stride + column * lc.lead + row) * static_cast<std::int64_t>(sizeof(T)),
                    &result, sizeof result);
      }
}

}  // namespace blas_stand_in

using namespace blas_stand_in;

extern "C" {

const char* cublasLtGetStatusName(cublasStatus_t) { return "cublasStatus"; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "of the stand-in"; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new char);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t lead) {
  if (lead < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  as<Layout>(layout) = {type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), lead, 0,
                        1};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, const void* value,
                                                size_t) {
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    std::memcpy(&as<Layout>(layout).batches, value, 4);
  else if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    std::memcpy(&as<Layout>(layout).stride, value, 8);
  else
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t product, size_t, cublasComputeType_t,
                                               cudaDataType_t) {
  as<Product>(product) = Product();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which, const void* value,
                                              size_t) {
  if (which == CUBLASLT_MATMUL_DESC_TRANSA)
    std::memcpy(&as<Product>(product).a, value, sizeof(cublasOperation_t));
  else if (which == CUBLASLT_MATMUL_DESC_TRANSB)
    std::memcpy(&as<Product>(product).b, value, sizeof(cublasOperation_t));
  else
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t, const void*,
                                                    size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  results[0] = {};
  results[0].workspaceSize = 512;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void*, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void*, cublasLtMatrixLayout_t, void* c,
                              cublasLtMatrixLayout_t c_layout, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
  const Product p = as<Product>(product);
  const Layout la = as<Layout>(a_layout), lb = as<Layout>(b_layout), lc = as<Layout>(c_layout);
  const double old = lc.type == CUDA_R_64F ? *static_cast<const double*>(beta)
                                           : static_cast<double>(*static_cast<const float*>(beta));
  const auto run = [=]<class T>(T) {
    multiply<T>(p, static_cast<const char*>(a), la, static_cast<const char*>(b), lb, old,
                static_cast<char*>(c), lc);
  };
  const cudaError_t code = stand_in::launch(stream, [=] {
    if (lc.type == CUDA_R_64F) run(double());
    if (lc.type == CUDA_R_32F) run(float());
    if (lc.type == CUDA_R_16F) run(nax::half());
    if (lc.type == CUDA_R_16BF) run(nax::bfloat16());
  });
  return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
