#pragma once

#include <cstdint>

#include "nax/core/dtype.hpp"

// Factorisations of one dense matrix by Eigen, of float, double or complex; their bodies, and Eigen's modules
// with them, are in factorisations_kernels.hpp, which files that call the engine do not read.
//
// Matrices are row-major and dense, sizes may be 0. A matrix with a NaN or an infinity, or one for which an
// iteration does not converge, gives NaN in every element of the results.
NAX_BEGIN
namespace cpu {

// a (m x n) = q r: Householder, with LAPACK's signs. k = min(m, n), or m where `complete`: q is m x k, r is
// k x n. q may be null.
template <class T>
void qr(const T* a, std::int64_t m, std::int64_t n, bool complete, T* q, T* r);

// a (m x n) = u diag(s) vh, s descending. u is m x k and vh k x n with k = min(m, n), or m x m and n x n
// where `full`. Both may be null.
template <class T>
void svd(const T* a, std::int64_t m, std::int64_t n, bool full, T* u, real_t<T>* s, T* vh);

// Eigenvalues, ascending, and orthonormal eigenvectors (the columns of v, which may be null) of the Hermitian
// matrix of which a holds the lower triangle, or the upper one.
template <class T>
void eigh(const T* a, std::int64_t n, bool lower, real_t<T>* w, T* v);

// Eigenvalues, and eigenvectors (the columns of v, which may be null) of Euclidean norm 1 whose largest
// component is real; `largest` marks it by a one among zeros.
template <class T>
void eig(const T* a, std::int64_t n, complex_t<T>* w, complex_t<T>* v, real_t<T>* largest);

// a = z t z^H, z unitary, t upper triangular; for real matrices with 2 x 2 blocks on its diagonal.
template <class T>
void schur(const T* a, std::int64_t n, T* t, T* z);

// x (m x n), which holds q on entry, becomes the solution of a x + x b = q: by the Schur forms of a and b
// (Bartels and Stewart 1972). Not finite where an eigenvalue of a is one of -b.
template <class T>
void solve_sylvester(const T* a, std::int64_t m, const T* b, std::int64_t n, T* x);

// The principal square root of a complex matrix, by its Schur form (Bjorck and Hammarling 1983).
template <class T>
void sqrtm(const T* a, std::int64_t n, T* root);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/factor/factorisations_kernels.hpp"
#endif
