#include "cuda/runtime/blas.hpp"

#include <cublasLt.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "cuda/runtime/runtime.hpp"
#include "nax/core/half.hpp"

// A stand-in of cuBLASLt: the products that nax asks for, as loops on the host when the stream gets there.
namespace blas_stand_in {

bool refuses_epilogues = false, has_kernels = true;
long products = 0;

// Contents of the library's opaque structs.
struct Product {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  char *bias = nullptr, *aux = nullptr;
  std::int64_t aux_lead = 0;
};
struct Layout {
  cudaDataType type;
  std::int64_t rows, columns, lead, stride;
  std::int32_t batches;
  friend bool operator==(const Layout&, const Layout&) = default;
};

template <class T>
T& as(void* opaque) {
  static_assert(sizeof(T) <= 64 && sizeof(T) <= sizeof(cublasLtMatmulDescOpaque_t));
  return *static_cast<T*>(opaque);
}

// The type in which elements of type T are computed.
template <class T>
struct Wide {
  using type = double;
};
template <class R>
struct Wide<std::complex<R>> {
  using type = std::complex<double>;
};
template <class T>
using wide_t = typename Wide<T>::type;

template <class T>
wide_t<T> element(const char* data, const Layout& x, std::int64_t batch, std::int64_t row,
                  std::int64_t column, bool turned) {
  if (turned) std::swap(row, column);
  T value;
  std::memcpy(&value,
              data + (batch * x.stride + column * x.lead + row) * static_cast<std::int64_t>(sizeof(T)),
              sizeof value);
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(value);
  else
    return wide_t<T>(value);
}

template <class T>
T rounded(wide_t<T> x) {
  if constexpr (sizeof(T) == 2)
    return static_cast<T>(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

// Which parts an epilogue has.
struct Parts {
  bool bias, relu, gelu, aux, sums;
};
std::optional<Parts> parts_of(cublasLtEpilogue_t epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      return Parts{false, false, false, false, false};
    case CUBLASLT_EPILOGUE_BIAS:
      return Parts{true, false, false, false, false};
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      return Parts{true, true, false, false, false};
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      return Parts{true, false, true, false, false};
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
      return Parts{true, false, true, true, false};
    case CUBLASLT_EPILOGUE_BGRADA:
      return Parts{false, false, false, false, true};
    default:
      return std::nullopt;  // nax asks for no others
  }
}
constexpr std::size_t workspace_bytes = 520;  // (a block of the pool that is no power of two)

bool is_aligned(const char* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }
// Checks the limits that cuBLASLt documents: operands are given, of floating types up to 32 bits, gelu's in
// rows of eight elements that hold those of the result.
bool is_valid(const Product& p, const Layout& result) {
  const auto parts = parts_of(p.epilogue);
  if (!parts || result.batches > 65535) return false;
  if (p.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return !p.bias && !p.aux;
  const bool has_epilogues =
      result.type == CUDA_R_32F || result.type == CUDA_R_16F || result.type == CUDA_R_16BF;
  return has_epilogues && result.batches == 1 && p.bias && is_aligned(p.bias) &&
         (p.aux != nullptr) == parts->aux &&
         (!parts->aux || (p.aux_lead % 8 == 0 && p.aux_lead >= result.rows));
}

// The sums over the inner index of the first factor, one for each row of the result.
template <class T>
void add_up(const Product& p, const char* a, const Layout& la) {
  const bool turned = p.a == CUBLAS_OP_T;
  for (std::int64_t row = 0; row < (turned ? la.columns : la.rows); ++row) {
    double sum = 0;
    for (std::int64_t k = 0; k < (turned ? la.rows : la.columns); ++k)
      sum += element<T>(a, la, 0, row, k, turned);
    const T result = rounded<T>(sum);
    std::memcpy(p.bias + row * static_cast<std::int64_t>(sizeof(T)), &result, sizeof result);
  }
}

template <class T>
double with_epilogue(const Product& p, const Parts& parts, double x, std::int64_t row, std::int64_t column) {
  if (parts.bias) {
    T bias;
    std::memcpy(&bias, p.bias + row * static_cast<std::int64_t>(sizeof(T)), sizeof bias);
    x += static_cast<double>(static_cast<float>(bias));
  }
  if (parts.aux) {
    const T before = rounded<T>(x);
    std::memcpy(p.aux + (column * p.aux_lead + row) * static_cast<std::int64_t>(sizeof(T)), &before,
                sizeof before);
  }
  if (parts.relu) x = x > 0 ? x : 0;
  if (parts.gelu) x = .5 * x * (1 + std::tanh(.79788456080286535588 * (x + .044715 * x * x * x)));
  return x;
}

template <class T>
void multiply(const Product& p, const char* a, const Layout& la, const char* b, const Layout& lb,
              wide_t<T> beta, const char* old, char* c, const Layout& lc) {
  const bool ta = p.a == CUBLAS_OP_T, tb = p.b == CUBLAS_OP_T;
  const std::int64_t inner = ta ? la.rows : la.columns;
  const Parts parts = *parts_of(p.epilogue);
  constexpr bool is_real = std::is_same_v<wide_t<T>, double>;
  if constexpr (is_real)
    if (parts.sums) add_up<T>(p, a, la);
  for (std::int64_t batch = 0; batch < lc.batches; ++batch)
    for (std::int64_t row = 0; row < lc.rows; ++row)
      for (std::int64_t column = 0; column < lc.columns; ++column) {
        wide_t<T> sum = beta == 0. ? wide_t<T>() : beta * element<T>(old, lc, batch, row, column, false);
        for (std::int64_t k = 0; k < inner; ++k)
          sum += element<T>(a, la, batch, row, k, ta) * element<T>(b, lb, batch, k, column, tb);
        if constexpr (is_real) sum = with_epilogue<T>(p, parts, sum, row, column);
        const T result = rounded<T>(sum);
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
  int* const card = new int;  // on which it was made
  *handle = reinterpret_cast<cublasLtHandle_t>(card);
  return cudaGetDevice(card) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  cudaDeviceSynchronize();
  delete reinterpret_cast<int*>(handle);
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
  else if (which == CUBLASLT_MATMUL_DESC_EPILOGUE)
    std::memcpy(&as<Product>(product).epilogue, value, sizeof(cublasLtEpilogue_t));
  else if (which == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
    std::memcpy(&as<Product>(product).bias, value, sizeof(char*));
  else if (which == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)
    std::memcpy(&as<Product>(product).aux, value, sizeof(char*));
  else if (which == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)
    std::memcpy(&as<Product>(product).aux_lead, value, sizeof(std::int64_t));
  else
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t wishes, size_t) {
  as<std::uint32_t>(wishes) = CUBLASLT_REDUCTION_SCHEME_MASK;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wishes,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* value, size_t) {
  if (which == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
    std::memcpy(&as<std::uint32_t>(wishes), value, sizeof(std::uint32_t));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t result,
                                              cublasLtMatmulPreference_t wishes, int,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  if (!is_valid(as<Product>(product), as<Layout>(result)) ||
      (refuses_epilogues && as<Product>(product).epilogue != CUBLASLT_EPILOGUE_DEFAULT)) {
    *found = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // A scheme that rounds parts of sums to 16 bits must not be allowed.
  const bool rounds = as<std::uint32_t>(wishes) & ~std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE};
  if (rounds) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  results[0].state = has_kernels ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  results[0].workspaceSize = workspace_bytes;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void*,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* added,
                              cublasLtMatrixLayout_t added_layout, void* c, cublasLtMatrixLayout_t c_layout,
                              const cublasLtMatmulAlgo_t*, void* workspace, size_t bytes,
                              cudaStream_t stream) {
  const Product p = as<Product>(product);
  const Layout la = as<Layout>(a_layout), lb = as<Layout>(b_layout), lc = as<Layout>(c_layout);
  if (!is_valid(p, lc) || as<Layout>(added_layout) != lc) return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes < workspace_bytes || reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  ++blas_stand_in::products;
  if (*reinterpret_cast<int*>(handle) != stand_in::card_of_stream(stream))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  // Read here: the caller's beta lives as long as the call. That of 16-bit types is a float.
  double old[2] = {};
  const auto read = [&]<class R>(R, int parts) {
    for (int i = 0; i < parts; ++i) old[i] = static_cast<const R*>(beta)[i];
  };
  const bool is_wide = lc.type == CUDA_R_64F || lc.type == CUDA_C_64F;
  const int scalar_parts = lc.type == CUDA_C_32F || lc.type == CUDA_C_64F ? 2 : 1;
  if (is_wide)
    read(double(), scalar_parts);
  else
    read(float(), scalar_parts);
  const auto run = [=]<class T>(T) {
    wide_t<T> factor;
    if constexpr (std::is_same_v<wide_t<T>, double>)
      factor = old[0];
    else
      factor = {old[0], old[1]};
    multiply<T>(p, static_cast<const char*>(a), la, static_cast<const char*>(b), lb, factor,
                static_cast<const char*>(added), static_cast<char*>(c), lc);
  };
  const cudaError_t code = stand_in::launch(stream, [=] {
    if (lc.type == CUDA_R_64F) run(double());
    if (lc.type == CUDA_R_32F) run(float());
    if (lc.type == CUDA_C_64F) run(std::complex<double>());
    if (lc.type == CUDA_C_32F) run(std::complex<float>());
    if (lc.type == CUDA_R_16F) run(nax::half());
    if (lc.type == CUDA_R_16BF) run(nax::bfloat16());
  });
  return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
