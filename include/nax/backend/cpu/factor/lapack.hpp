#pragma once

#include <cstdint>

#include "nax/core/dtype.hpp"

// The seam to a LAPACK, which programs that link nax::lapack have: it takes the place of Eigen's
// factorisations for matrices that are large enough to gain from it.
//
// In no namespace of instructions (abi.hpp): kernels of all of them ask for it.
namespace nax_shared {

using nax::complex_t, nax::real_t;

// Arguments and results are those of the functions of the same names in factorisations.hpp; matrices are
// finite and not empty. False, with nothing to rely on in the results, where LAPACK fails: Eigen tries then.
template <class T>
struct Lapack {
  bool (*qr)(const T* a, std::int64_t m, std::int64_t n, bool complete, T* q, T* r);
  bool (*svd)(const T* a, std::int64_t m, std::int64_t n, bool full, T* u, real_t<T>* s, T* vh);
  bool (*eigh)(const T* a, std::int64_t n, bool lower, real_t<T>* w, T* v);
  bool (*eig)(const T* a, std::int64_t n, complex_t<T>* w, complex_t<T>* v);
  bool (*schur)(const T* a, std::int64_t n, T* t, T* z);
};

// None where the program has no LAPACK.
template <class T>
inline constinit const Lapack<T>* lapack = nullptr;

}  // namespace nax_shared

NAX_BEGIN
namespace cpu {

using nax_shared::Lapack, nax_shared::lapack;

// The LAPACK for a matrix whose shorter side is n, if there is one.
template <class T>
const Lapack<T>* lapack_for(std::int64_t n) {
  constexpr std::int64_t least = 32;  // below, what its calls cost outweighs what they save
  return n < least ? nullptr : lapack<T>;
}

}  // namespace cpu
NAX_END
