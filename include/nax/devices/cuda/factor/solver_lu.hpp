#pragma once

#include <algorithm>
#include <optional>

#include "nax/devices/cuda/factor/solver_bodies.hpp"
#include "nax/devices/cuda/factor/solver_calls.hpp"
#include "nax/devices/cuda/factor/solver_kernels.hpp"

// LU factors of column-major matrices: by cuBLAS for many small ones, one after the other by cuSOLVER
// otherwise.
NAX_BEGIN
namespace cuda {

// Matrices that lie one after the other, over the axes of a batch.
inline loops::StridedMatrices over(const Dims& batches, loops::StridedMatrices each) {
  std::int64_t step = each.batch[0];
  each.batch = Dims(batches.size(), 0);
  for (std::size_t axis = batches.size(); axis-- > 0; step *= batches[axis]) each.batch[axis] = step;
  return each;
}

template <class R, class T>
R* reals_of(T* x) {
  return reinterpret_cast<R*>(x);
}
template <class T>
inline constexpr int real_parts = is_complex_v<T> ? 2 : 1;

template <class T>
void fill_identity(Device device, std::int64_t count, std::int64_t n, T* to) {
  using R = real_t<T>;
  launch(device, count * n * n, FillIdentity<R, real_parts<T>>{reals_of<R>(to), n});
}

// Addresses of the matrices of a batch, on the device, for a time.
template <class T>
class MatrixList {
 public:
  MatrixList(Device device, Dims batches, T* from, const Dims& strides)
      : addresses_(device, size_of(batches)) {
    loops::Operand operands[] = {{reinterpret_cast<char*>(from), strides, dtype_of<T>, dtype_of<T>}};
    loops::collapse(batches, operands, 1);
    const Loop<1> loop = make_loop<1>(batches, operands);
    launch(device, int_of("linalg", loop.size), ListMatrices<T>{loop, addresses_.data()});
  }
  solver_element_t<T>** data() const { return reinterpret_cast<solver_element_t<T>**>(addresses_.data()); }

 private:
  static std::int64_t size_of(const Dims& batches) {
    std::int64_t size = 1;
    for (const std::int64_t extent : batches) size *= extent;
    return size;
  }
  Room<T*> addresses_;
};

template <class T>
class LuFactors {
  using E = solver_element_t<T>;
  using Calls = SolverCalls<T>;
  static constexpr std::int64_t most_batched = 128;

 public:
  // `count` matrices (m, n); data() is to be filled.
  LuFactors(Device device, std::int64_t count, std::int64_t m, std::int64_t n)
      : device_(device),
        count_(count),
        m_(m),
        n_(n),
        k_(std::min(m, n)),
        batched_(m == n && (detail::graph_recording || (count > 1 && n <= most_batched))),
        matrices_(device, count * m * n),
        swaps_(device, count * k_),
        info_(device, count) {}
  T* data() const { return matrices_.data(); }
  const int* swaps() const { return swaps_.data(); }  // from 1

  // A zero pivot stays, and makes infinities later.
  void factor(const char* function) {
    if (k_ == 0) return;  // libraries refuse matrices without elements
    const int m = int_of(function, m_), n = int_of(function, n_);
    if (batched_) {
      list_.emplace(device_, Dims(1, count_), data(), Dims(1, n_ * n_));
      const UsedBlas blas(device_);
      return Calls::getrf_batched(blas.handle(), n, list_->data(), n, swaps_.data(), info_.data(),
                                  int_of(function, count_));
    }
    const UsedSolver used(function, device_);
    const cusolverDnHandle_t solver = used;
    if (m == n) CardHandles<Blas>::of(device_);  // a recording calls cuBLAS, and cannot make its handle
    int size = 0;
    Calls::getrf_size(solver, m, n, element(0), m, &size);
    const Room<E> work(device_, size);
    for (std::int64_t i = 0; i < count_; ++i)
      Calls::getrf(solver, m, n, element(i), m, work.data(), swaps_.data() + i * k_, info_.data() + i);
  }
  // As factor(), of row-major matrices.
  void factor_rows(const char* function, const T* from) {
    copy_matrices(device_, dtype_of<T>, Dims(1, count_), m_, n_, from, row_major(m_, n_), data(),
                  column_major(m_, n_));
    factor(function);
  }
  // `sides` (columns of m_ elements, `columns` of them a matrix) = a^-1 sides.
  void solve(const char* function, std::int64_t columns, T* sides) {
    if (n_ == 0 || columns == 0) return;
    const int n = int_of(function, n_), right = int_of(function, columns);
    if (batched_) {
      const MatrixList<T> list(device_, Dims(1, count_), sides, Dims(1, n_ * columns));
      const UsedBlas blas(device_);
      int info = 0;  // of the arguments: it is the host's
      return Calls::getrs_batched(blas.handle(), CUBLAS_OP_N, n, right, list_->data(), n, swaps_.data(),
                                  list.data(), n, &info, int_of(function, count_));
    }
    const UsedSolver used(function, device_);
    const cusolverDnHandle_t solver = used;
    for (std::int64_t i = 0; i < count_; ++i)
      Calls::getrs(solver, CUBLAS_OP_N, n, right, element(i), n, swaps_.data() + i * k_,
                   reinterpret_cast<E*>(sides + i * n_ * columns), n, info_.data() + i);
  }

 private:
  E* element(std::int64_t i) const { return reinterpret_cast<E*>(data() + i * m_ * n_); }

  Device device_;
  std::int64_t count_, m_, n_, k_;
  bool batched_;
  Room<T> matrices_;
  Room<int> swaps_, info_;
  std::optional<MatrixList<T>> list_;
};

template <class T>
void factorise_lu(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  LuFactors<T> lu(device, f.batch, f.m, f.n);
  lu.factor_rows("lu", from);
  copy_matrices(device, dtype_of<T>, Dims(1, f.batch), f.m, f.n, lu.data(), column_major(f.m, f.n), to[0],
                row_major(f.m, f.n));
  launch(device, f.batch * std::min(f.m, f.n),
         CountSwapsFromZero{lu.swaps(), static_cast<std::int32_t*>(to[1])});
}

template <class T>
void factorise_det(Device device, const loops::Factoring& f, const T* from, void* const* to) {
  using R = real_t<T>;
  const bool logarithm = f.kind == loops::Factorisation::slogdet;
  LuFactors<T> lu(device, f.batch, f.n, f.n);
  lu.factor_rows(logarithm ? "slogdet" : "det", from);
  const R* const factors = reals_of<const R>(lu.data());
  if (logarithm)
    launch(device, f.batch,
           AddLogarithms<R, real_parts<T>>{factors, lu.swaps(), static_cast<R*>(to[0]),
                                           static_cast<R*>(to[1]), f.n});
  else
    launch(device, f.batch,
           MultiplyPivots<R, real_parts<T>>{factors, lu.swaps(), static_cast<R*>(to[0]), f.n});
}

}  // namespace cuda
NAX_END
