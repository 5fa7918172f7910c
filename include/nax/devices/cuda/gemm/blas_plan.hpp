#pragma once

#include <array>
#include <map>

#include "nax/core/dtype.hpp"
#include "nax/devices/cuda/gemm/blas_handle.hpp"
#include "nax/devices/cuda/launch/complex_parts.hpp"

// Which of cuBLASLt's kernels multiplies matrices of given shapes. Asking it takes longer than many products,
// so each thread keeps the answers.
NAX_BEGIN
namespace cuda {

// A matrix in row-major order (or its transpose is), `lead` elements from row to row.
struct BlasMatrix {
  char* data;
  std::int64_t batch, lead;
  bool transposed;
};

// Done to a product while its elements are in registers. `bias` has n elements: added to each row of c, or,
// for the sums of b's columns, written. `before` is laid out as c: what gelu is applied to.
struct BlasEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  void* before = nullptr;
};

// c = a b + added, c not transposed. `added` is laid out as c, may be c's own elements, or null.
struct BlasProblem {
  DType dtype;
  std::int64_t batches, m, n, k;
  BlasMatrix a, b, c;
  const char* added;
  bool tensor_float32;
  BlasEpilogue epilogue = {};

  const char* old() const { return added ? added : c.data; }
};

struct BlasPlan {
  bool found;  // false: no kernel does this
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t a, b, c;
  cublasLtMatmulAlgo_t algorithm;
  std::size_t workspace;
};

inline constexpr std::size_t most_workspace = std::size_t{32} << 20;

// The bytes to which an address is aligned, as far as kernels care.
inline std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 256;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

inline cudaDataType_t blas_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return CUDA_R_64F;
    case DType::float16:
      return CUDA_R_16F;
    case DType::bfloat16:
      return CUDA_R_16BF;
    case DType::float32:
      return CUDA_R_32F;
    case DType::complex64:
      return CUDA_C_32F;
    case DType::complex128:
      return CUDA_C_64F;
    case DType::boolean:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      break;
  }
  raise<DeviceError>({"matmul: no product of ", dtype_name(dtype), " by cuBLASLt"});
}

// Are alpha and beta of doubles? Of complex matrices they are complex.
constexpr bool has_double_scalars(DType dtype) { return part_type(dtype) == DType::float64; }

inline void describe(cublasLtMatrixLayoutOpaque_t& layout, const BlasProblem& p, const BlasMatrix& x,
                     std::int64_t rows, std::int64_t columns) {
  // cuBLAS thinks in columns: to it a row-major matrix is its transpose.
  if (x.transposed) std::swap(rows, columns);
  const char* const call = "cublasLtMatrixLayoutInit";
  check(cublasLtMatrixLayoutInit(&layout, blas_type(p.dtype), static_cast<std::uint64_t>(columns),
                                 static_cast<std::uint64_t>(rows), x.lead),
        call);
  const auto batches = static_cast<std::int32_t>(p.batches);
  check(
      cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches),
      call);
  check(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &x.batch,
                                         sizeof x.batch),
        call);
}

inline void set(cublasLtMatmulDescOpaque_t& product, cublasLtMatmulDescAttributes_t which,
                const auto& value) {
  check(cublasLtMatmulDescSetAttribute(&product, which, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}
// The addresses of an epilogue's operands; a plan is made with some, and run with others.
inline void set_addresses(cublasLtMatmulDescOpaque_t& product, const BlasEpilogue& epilogue) {
  if (epilogue.bias) set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.bias);
  if (epilogue.before) set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, epilogue.before);
}

inline BlasPlan make_plan(Device device, const BlasProblem& p) {
  BlasPlan plan;
  const bool wide = has_double_scalars(p.dtype);
  const cublasComputeType_t compute = wide               ? CUBLAS_COMPUTE_64F
                                      : p.tensor_float32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                         : CUBLAS_COMPUTE_32F;
  const cudaDataType_t scalars = is_complex(p.dtype) ? blas_type(p.dtype) : wide ? CUDA_R_64F : CUDA_R_32F;
  check(cublasLtMatmulDescInit(&plan.product, compute, scalars), "cublasLtMatmulDescInit");
  // The transpose of a b is what cuBLAS computes: b's transpose by a's.
  const cublasOperation_t first = p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(plan.product, CUBLASLT_MATMUL_DESC_TRANSA, first);
  set(plan.product, CUBLASLT_MATMUL_DESC_TRANSB, second);
  if (p.epilogue.kind != CUBLASLT_EPILOGUE_DEFAULT) {
    set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue.kind);
    if (p.epilogue.before) set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.c.lead);
    set_addresses(plan.product, p.epilogue);
  }
  describe(plan.a, p, p.a, p.m, p.k);
  describe(plan.b, p, p.b, p.k, p.n);
  describe(plan.c, p, p.c, p.m, p.n);

  cublasLtMatmulPreferenceOpaque_t wishes;
  check(cublasLtMatmulPreferenceInit(&wishes), "cublasLtMatmulPreferenceInit");
  const auto wish = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(&wishes, which, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  wish(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace);
  // Parts of a sum are added in the type of the computation, not in 16 bits.
  wish(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b.data));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a.data));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.old()));
  wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.c.data));

  cublasLtMatmulHeuristicResult_t best;
  int found = 0;
  const cublasStatus_t code = cublasLtMatmulAlgoGetHeuristic(
      BlasHandles::of(device), &plan.product, &plan.b, &plan.a, &plan.c, &plan.c, &wishes, 1, &best, &found);
  // An epilogue may be in conflict with the rest; its caller computes the parts then.
  const bool conflicts = code == CUBLAS_STATUS_INVALID_VALUE && p.epilogue.kind != CUBLASLT_EPILOGUE_DEFAULT;
  if (code != CUBLAS_STATUS_NOT_SUPPORTED && !conflicts) check(code, "cublasLtMatmulAlgoGetHeuristic");
  plan.found = code == CUBLAS_STATUS_SUCCESS && found > 0 && best.state == CUBLAS_STATUS_SUCCESS;
  if (plan.found) {
    plan.algorithm = best.algo;
    plan.workspace = best.workspaceSize;
  }
  return plan;
}

inline const BlasPlan& plan_for(Device device, const BlasProblem& p) {
  using Key = std::array<std::int64_t, 19>;
  auto& plans = detail::per_thread<std::map<Key, BlasPlan>>();
  const auto flags = (p.added != nullptr) | p.tensor_float32 << 1 | p.a.transposed << 2 | p.b.transposed << 3;
  const Key key{card_of(device),
                static_cast<std::int64_t>(p.dtype),
                flags,
                p.batches,
                p.m,
                p.n,
                p.k,
                p.a.batch,
                p.b.batch,
                p.c.batch,
                p.a.lead,
                p.b.lead,
                p.c.lead,
                alignment_of(p.a.data),
                alignment_of(p.b.data),
                alignment_of(p.c.data),
                alignment_of(p.old()),
                p.epilogue.kind,
                p.epilogue.bias ? alignment_of(p.epilogue.bias) | alignment_of(p.epilogue.before) << 16 : 0};
  if (const auto known = plans.find(key); known != plans.end()) return known->second;
  if (plans.size() >= 4096) plans.clear();  // a program whose shapes never repeat
  return plans.emplace(key, make_plan(device, p)).first->second;
}

}  // namespace cuda
NAX_END
