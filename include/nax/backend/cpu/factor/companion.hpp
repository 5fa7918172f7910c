#pragma once

#include <complex>
#include <cstdint>

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"

NAX_BEGIN
namespace cpu {

// The roots of p[0] x^n + ... + p[n], as eigenvalues of its companion matrix. NaN where a coefficient is not
// finite or p[0] is 0. Real polynomials have real roots and conjugate pairs, exactly. A template, of double,
// so that it costs only those who call it.
template <class T>
void polynomial_roots(const std::complex<T>* p, std::int64_t n, std::complex<T>* roots);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/factor/companion_kernels.hpp"
#endif
