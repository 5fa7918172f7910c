#pragma once

#include "nax/backend/cpu/factor/system_kernels.hpp"
#include "nax/backend/cpu/factor/triangle_kernel.hpp"
#include "nax/numpy/products/matmul.hpp"

// Shared by the functions of linalg: square matrices in the last two axes, all axes before them a batch.
NAX_BEGIN
namespace detail {

template <class T>
inline constexpr bool is_linalg_v = std::is_same_v<T, float> || std::is_same_v<T, double> || is_complex_v<T>;

// Integers are computed as float.
template <class X>
using linalg_t = inexact_t<typename X::value_type>;

// At the door: square matrices on a device that has factorisations.
NAX_ENGINE void check_square(const char* function, const ArrayBase& a);

// Factors the matrices of a into these results, of which some may be null.
NAX_ENGINE void factorise(loops::Factoring what, const ArrayBase& a,
                          std::initializer_list<const ArrayBase*> results);

// The solutions of equations whose leading axes broadcast to these. Not recorded.
NAX_ENGINE ArrayBase solved_sylvester(const ops::Sylvester& form, const ArrayBase& a, const ArrayBase& b,
                                      const ArrayBase& q, const Frame& leading);

// At the door: devices that have the operation. Throws DeviceError that names it.
template <class Form, class... A>
void need_form(const Form& form, const A&... array) {
  const auto check = [&](const ArrayBase& a) {
    if (!backend::has(a.device(), form)) throw_no_device_form(form.name(), a.device());
  };
  (check(array), ...);
}

// The lower or upper triangle, the diagonal times `diagonal`; zeros elsewhere. Linear, and recorded.
NAX_ENGINE ArrayBase triangle(const ArrayBase& x, bool lower, double diagonal);
template <class T>
Array<T> triangle(const Array<T>& x, bool lower, T diagonal) {
  cpu::provide<cpu::FactorKernel<loops::Factorisation::triangle>, T>();
  return typed<T>(triangle(handle_of(x), lower, static_cast<double>(std::real(diagonal))));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/linalg/matrices-inl.hpp"
#endif
