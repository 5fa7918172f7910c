#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/loops/factoring.hpp"

// Factorisations of batches of matrices that the host's operations find by kind and dtype. Those of Eigen are
// defined in factor_kernels.hpp, the others in files of their own.
NAX_BEGIN
namespace cpu {

using loops::Factoring, loops::Factorisation;
using FactorFunction = void(const Factoring&, const void* from, void* const* to);

template <Factorisation kind>
struct FactorKernel {
  static constexpr const char* name = "linalg";
  using Function = FactorFunction;
  template <class T>
  static void run(const Factoring& f, const void* from, void* const* to);
};

// x of a x + x b = q, each a batch of row-major matrices.
struct SylvesterKernel {
  static constexpr const char* name = "solve_sylvester";
  using Function = void(std::int64_t batch, std::int64_t m, std::int64_t n, const void* a, const void* b,
                        const void* q, void* x);
  template <class T>
  static void run(std::int64_t batch, std::int64_t m, std::int64_t n, const void* a, const void* b,
                  const void* q, void* x);
};

inline FactorFunction* factor_kernel(Factorisation kind, DType dtype) {
  switch (kind) {
#define NAX_FACTOR(name)    \
  case Factorisation::name: \
    return kernel_for<FactorKernel<Factorisation::name>>(dtype);
    NAX_FACTOR(lu)
    NAX_FACTOR(cholesky)
    NAX_FACTOR(qr)
    NAX_FACTOR(svd)
    NAX_FACTOR(eigh)
    NAX_FACTOR(eig)
    NAX_FACTOR(triangle)
    NAX_FACTOR(det)
    NAX_FACTOR(slogdet)
    NAX_FACTOR(adjugate)
    NAX_FACTOR(schur)
    NAX_FACTOR(sqrtm)
#undef NAX_FACTOR
  }
  return nullptr;
}

// f(first matrix, one past the last) on several threads where the work is worth it.
template <class F>
void for_each_factored(const Factoring& what, const F& f) {
  const std::int64_t side = what.m > what.n ? what.m : what.n;
  parallel_for(what.batch, 1 + (std::int64_t{1} << 15) / (side * side * side + 1), f);
}

}  // namespace cpu
NAX_END
