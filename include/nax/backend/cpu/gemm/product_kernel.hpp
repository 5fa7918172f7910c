#pragma once

#include <algorithm>

#include "nax/backend/cpu/gemm/gemm.hpp"
#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/core/small_vector.hpp"
#include "nax/loops/product.hpp"

// The host's product of matrices over the axes before them, found by dtype.
NAX_BEGIN
namespace cpu {

class MatmulKernel {
  using Product = loops::Product;
  using BatchAxis = loops::BatchAxis;

 public:
  static constexpr const char* name = "matmul";
  using Function = void(const Product& p, const BatchAxis* axes, int count, const void* a, const void* b,
                        void* c, bool accumulate);
  template <class T>
  static void run(const Product& p, const BatchAxis* axes, int count, const void* a_, const void* b_,
                  void* c_, bool accumulate) {
    const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
    T* const c = static_cast<T*>(c_);
    if (count > 0 && !accumulate && sums_many<T>(axes, count)) return run_long(p, axes, count, a, b, c);
    run_batch(p, axes, count, a, b, c, accumulate);
  }

 private:
  // The products over the axes left, the last kept one in one batched call.
  template <class T>
  static void run_batch(const Product& p, const BatchAxis* axes, int count, const T* a, const T* b, T* c,
                        bool accumulate) {
    if (count == 0)
      return gemm<T>(p.m, p.n, p.k, a, p.a_row, p.a_column, b, p.b_row, p.b_column, c, p.c_row, p.c_column,
                     accumulate);
    const BatchAxis& x = axes[0];
    if (count == 1 && !x.summed)
      return gemm_batched<T>(x.extent, p.m, p.n, p.k, a, x.a, p.a_row, p.a_column, b, x.b, p.b_row,
                             p.b_column, c, x.c, p.c_row, p.c_column, accumulate);
    for (std::int64_t i = 0; i < x.extent; ++i)
      run_batch(p, axes + 1, count - 1, a + i * x.a, b + i * x.b, c + i * x.c,
                accumulate || (x.summed && i > 0));
  }

  // Are so many products added up that they are joined in wide sums?
  template <class T>
  static bool sums_many(const BatchAxis* axes, int count) {
    constexpr std::int64_t many = sizeof(T) == 2 ? 1 : 64;
    if constexpr (std::is_same_v<T, wide_t<T>>) return false;
    std::int64_t terms = 1;
    for (int i = 0; i < count; ++i)
      if (axes[i].summed) terms *= axes[i].extent;
    return terms > many;
  }
  template <class T>
  [[gnu::noinline]] static void run_long(const Product& p, const BatchAxis* given, int count, const T* a,
                                         const T* b, T* c) {
    SmallVector<BatchAxis, 4> axes;
    axes.append(given, given + count);
    const int summed = static_cast<int>(
        std::stable_partition(axes.begin(), axes.end(), [](const BatchAxis& x) { return x.summed; }) -
        axes.begin());
    std::int64_t size = p.m * p.n, terms = 1;
    for (const BatchAxis& x : axes) (x.summed ? terms : size) *= x.extent;
    constexpr std::int64_t block = sizeof(T) == 2 ? 1 : 32;
    using Wide = wide_t<T>;
    const Scratch<Wide> totals(size);
    for (std::int64_t i = 0; i < size; ++i) totals[i] = Wide(0);
    for (std::int64_t term = 0; term < terms; ++term) {
      std::int64_t rest = term, from_a = 0, from_b = 0;
      for (int axis = summed; axis-- > 0; rest /= axes[axis].extent) {
        from_a += rest % axes[axis].extent * axes[axis].a;
        from_b += rest % axes[axis].extent * axes[axis].b;
      }
      run_batch(p, axes.begin() + summed, count - summed, a + from_a, b + from_b, c, term % block != 0);
      if (term % block + 1 == block || term + 1 == terms)
        for (std::int64_t i = 0; i < size; ++i) totals[i] += static_cast<Wide>(c[i]);
    }
    for (std::int64_t i = 0; i < size; ++i) c[i] = static_cast<T>(totals[i]);
  }
};

// Calls the dtype's kernel, and notes it in a profile where the kernel cannot (core/further_kernels.hpp).
inline void multiply_matrices(DType dtype, const loops::Product& p, const loops::BatchAxis* axes, int count,
                              const void* a, const void* b, void* c, bool accumulate) {
  const auto kernel = kernel_for<MatmulKernel>(dtype);
  if (!nax_shared::further_kernels) [[likely]]
    return kernel(p, axes, count, a, b, c, accumulate);
  const nax::detail::profile::Span span(nax::detail::profile::Kind::operation, "matmul");
  if (span.event()) {
    std::int64_t m = p.m;
    for (int axis = 0; axis < count; ++axis) m *= axes[axis].extent;
    describe_product(*span.event(), m, p.n, p.k, dtype_size(dtype));
  }
  kernel(p, axes, count, a, b, c, accumulate);
}

}  // namespace cpu
NAX_END
