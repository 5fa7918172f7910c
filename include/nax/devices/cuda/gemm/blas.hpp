#pragma once

#include <optional>

#include "nax/core/matmul_precision.hpp"
#include "nax/core/profile.hpp"
#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/device/streams.hpp"
#include "nax/devices/cuda/gemm/blas_plan.hpp"
#include "nax/devices/cuda/places/copy_kernels.hpp"
#include "nax/loops/linear.hpp"
#include "nax/loops/product.hpp"

// Products of floating matrices by cuBLASLt. It wants matrices whose rows or columns are runs that do not
// overlap; others (flipped, broadcast or sliding views) are first copied. 16-bit types accumulate in float32.
// Complex matrices are multiplied as they are, not conjugated.
NAX_BEGIN
namespace cuda {

using loops::Matrix;

inline Matrix transposed(const Matrix& x) { return {x.data, x.batch, x.column, x.row}; }

// The matrix as cuBLAS can take it, if it can.
inline std::optional<BlasMatrix> as_blas(const Matrix& x, std::int64_t rows, std::int64_t columns) {
  if (x.batch < 0) return std::nullopt;
  if ((columns == 1 || x.column == 1) && (rows == 1 || x.row >= columns))
    return BlasMatrix{x.data, x.batch, rows == 1 ? columns : x.row, false};
  if ((rows == 1 || x.row == 1) && (columns == 1 || x.column >= rows))
    return BlasMatrix{x.data, x.batch, columns == 1 ? rows : x.column, true};
  return std::nullopt;
}

// Row-major copies of a batch of matrices, for a time. A matrix that is the same for the whole batch is
// copied once.
class RowMajor {
 public:
  RowMajor(Device device, DType dtype, const Matrix& x, std::int64_t batches, std::int64_t rows,
           std::int64_t columns)
      : device_(device),
        dtype_(dtype),
        theirs_(x),
        memory_(device,
                static_cast<std::size_t>((x.batch == 0 ? 1 : batches) * rows * columns) * dtype_size(dtype)),
        own_{memory_.data(), x.batch == 0 ? 0 : rows * columns, columns, 1} {
    shape_.push_back(x.batch == 0 ? 1 : batches);
    shape_.push_back(rows);
    shape_.push_back(columns);
  }
  void fetch() { launch_copy(device_, shape_, operand(theirs_), operand(own_)); }
  void give_back() { launch_copy(device_, shape_, operand(own_), operand(theirs_)); }
  const Matrix& matrix() const { return own_; }

 private:
  loops::Operand operand(const Matrix& x) const {
    Dims strides(1, x.batch);
    strides.push_back(x.row);
    strides.push_back(x.column);
    return {x.data, strides, dtype_, dtype_};
  }
  Device device_;
  DType dtype_;
  Matrix theirs_;
  Scratch memory_;
  Matrix own_;
  Dims shape_;
};

// Returns false, and does nothing, where no kernel does this.
inline bool run_blas(Device device, const BlasProblem& p) {
  const StreamInUse stream = use(device);
  const BlasPlan& plan = plan_for(device, p);
  if (!plan.found) return false;
  std::optional<Scratch> workspace;
  if (plan.workspace > 0) workspace.emplace(device, plan.workspace);
  const double one[] = {1, 0, 0};  // 1 and 0, real or complex
  const float one_float[] = {1, 0, 0};
  const bool wide = has_double_scalars(p.dtype);
  const void* const alpha = wide ? static_cast<const void*>(&one[0]) : &one_float[0];
  const int old = p.added ? 0 : 1;
  const void* const beta = wide ? static_cast<const void*>(&one[old]) : &one_float[old];
  // Descriptors are read, though the interface takes them as if they were written.
  BlasPlan& parts = const_cast<BlasPlan&>(plan);
  cublasLtMatmulDescOpaque_t product = plan.product;
  set_addresses(product, p.epilogue);
  check(cublasLtMatmul(BlasHandles::of(device), &product, alpha, p.b.data, &parts.b, p.a.data, &parts.a, beta,
                       p.old(), &parts.c, p.c.data, &parts.c, &parts.algorithm,
                       workspace ? workspace->data() : nullptr, plan.workspace, stream),
        "cublasLtMatmul");
  return true;
}

inline void launch_float_matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m,
                                std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                                const Matrix& c, bool accumulate) {
  constexpr std::int64_t most_batches = 65535;  // in a grid's third axis
  if (batch > most_batches) {
    const auto from = [&](const Matrix& x, std::int64_t i) {
      return Matrix{x.data + i * x.batch * static_cast<std::int64_t>(dtype_size(dtype)), x.batch, x.row,
                    x.column};
    };
    for (std::int64_t i = 0; i < batch; i += most_batches)
      launch_float_matmul(device, dtype, std::min(most_batches, batch - i), m, n, k, from(a, i), from(b, i),
                          from(c, i), accumulate);
    return;
  }
  const auto out = as_blas(c, m, n);
  if (!out) {
    RowMajor copy(device, dtype, c, batch, m, n);
    if (accumulate) copy.fetch();
    launch_float_matmul(device, dtype, batch, m, n, k, a, b, copy.matrix(), accumulate);
    return copy.give_back();
  }
  if (out->transposed)
    return launch_float_matmul(device, dtype, batch, n, m, k, transposed(b), transposed(a), transposed(c),
                               accumulate);

  std::optional<RowMajor> own_a, own_b;
  auto left = as_blas(a, m, k), right = as_blas(b, k, n);
  if (!left) {
    own_a.emplace(device, dtype, a, batch, m, k).fetch();
    left = as_blas(own_a->matrix(), m, k);
  }
  if (!right) {
    own_b.emplace(device, dtype, b, batch, k, n).fetch();
    right = as_blas(own_b->matrix(), k, n);
  }
  const bool fast = detail::uses_tensor_float32(dtype);
  const char* const added = accumulate ? out->data : nullptr;
  if (!run_blas(device, {dtype, batch, m, n, k, *left, *right, *out, added, fast}))
    raise<DeviceError>({"cublasLtMatmulAlgoGetHeuristic: no kernel multiplies ", std::to_string(batch),
                        " pairs of (", std::to_string(m), ", ", std::to_string(k), ") by (",
                        std::to_string(k), ", ", std::to_string(n), ") on ", device});
}

// Of the bias, and of sums.
inline constexpr std::uint32_t epilogue_alignment = 16;

inline bool has_epilogues(DType dtype) { return dtype != DType::float64 && !is_complex(dtype); }

// One product of matrices that cuBLASLt takes as they lie, with an epilogue; it has none for float64 and
// complex numbers. None for other matrices.
inline std::optional<BlasProblem> with_epilogue(DType dtype, const loops::Product& p, const char* a,
                                                const char* b, char* c, const char* added,
                                                const BlasEpilogue& epilogue) {
  const auto left = as_blas({const_cast<char*>(a), 0, p.a_row, p.a_column}, p.m, p.k),
             right = as_blas({const_cast<char*>(b), 0, p.b_row, p.b_column}, p.k, p.n),
             out = as_blas({c, 0, p.c_row, p.c_column}, p.m, p.n);
  if (!left || !right || !out || out->transposed) return std::nullopt;
  if (alignment_of(epilogue.bias) < epilogue_alignment) return std::nullopt;
  return BlasProblem{
      dtype, 1, p.m, p.n, p.k, *left, *right, *out, added, detail::uses_tensor_float32(dtype), epilogue};
}
inline bool has_kernel(Device device, const std::optional<BlasProblem>& problem) {
  if (!problem) return false;
  const StreamInUse stream = use(device);
  return plan_for(device, *problem).found;
}

// Of ops::Linear. `bias`: where it lies, aligned. cuBLASLt writes what gelu is applied to in rows of eight.
inline std::optional<BlasProblem> linear_problem(DType dtype, const loops::Product& p, const loops::Linear& f,
                                                 const char* bias) {
  BlasEpilogue epilogue{CUBLASLT_EPILOGUE_BIAS, bias, f.before};
  switch (f.activation) {
    case loops::Activation::identity:
      break;
    case loops::Activation::relu:
      epilogue.kind = CUBLASLT_EPILOGUE_RELU_BIAS;
      break;
    case loops::Activation::gelu:
      epilogue.kind = f.before ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
      if (f.before && p.n % 8 != 0) return std::nullopt;
      break;
    case loops::Activation::gelu_exact:  // which cuBLASLt has not
      return std::nullopt;
  }
  if (f.before && f.activation != loops::Activation::gelu) return std::nullopt;
  return with_epilogue(dtype, p, f.a, f.b, f.c, f.added, epilogue);
}
inline bool has_linear(Device device, DType dtype, const loops::Product& p, const loops::Linear& f) {
  // Scratch memory has the alignment of this address.
  const char* const scratch = reinterpret_cast<const char*>(std::uintptr_t{256});
  return has_kernel(
      device, linear_problem(dtype, p, f, alignment_of(f.bias) < epilogue_alignment ? scratch : f.bias));
}
inline void launch_linear(Device device, DType dtype, const loops::Product& p, const loops::Linear& f) {
  std::optional<Scratch> aligned;
  const char* bias = f.bias;
  if (alignment_of(bias) < epilogue_alignment) {
    aligned.emplace(device, static_cast<std::size_t>(p.n) * dtype_size(dtype));
    const Dims run(1, 1);
    launch_copy(device, Dims(1, p.n), {const_cast<char*>(bias), run, dtype, dtype},
                {aligned->data(), run, dtype, dtype});
    bias = aligned->data();
  }
  run_blas(device, *linear_problem(dtype, p, f, bias));
}

// Of ops::ProductAndSums. The first factor of cuBLAS is b's transpose.
inline std::optional<BlasProblem> product_and_sums(DType dtype, const loops::Product& p, const char* a,
                                                   const char* b, char* c, char* sums) {
  return with_epilogue(dtype, p, a, b, c, nullptr, {CUBLASLT_EPILOGUE_BGRADA, sums, nullptr});
}
inline bool has_product_and_sums(Device device, DType dtype, const loops::Product& p, const char* a,
                                 const char* b, char* c, char* sums) {
  return has_kernel(device, product_and_sums(dtype, p, a, b, c, sums));
}
inline void launch_product_and_sums(Device device, DType dtype, const loops::Product& p, const char* a,
                                    const char* b, char* c, char* sums) {
  run_blas(device, *product_and_sums(dtype, p, a, b, c, sums));
}

}  // namespace cuda
NAX_END
