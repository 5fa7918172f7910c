#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/expr/evaluation/evaluate.hpp"
#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/arithmetic.hpp"

// Arithmetic with numbers for functions over ArrayBase, found by dtype as the host's kernels are.
NAX_BEGIN
namespace detail {

// (The constants in this folder are 0-d arrays: with a C++ number each product would be a kernel of its own.)
template <class T>
Array<T> number_array(double value) {
  return Array<T>(static_cast<lane_t<T>>(static_cast<real_t<lane_t<T>>>(value)));
}

// x times a number, recorded.
template <class T>
Array<T> scaled(const Array<T>& x, double factor) {
  return evaluate(make_expr<rules::multiply>(x, number_array<T>(factor)));
}
struct ScaledKernel {
  static constexpr const char* name = "multiply";
  using Function = ArrayBase(const ArrayBase& x, double factor);
  template <class T>
  static ArrayBase run(const ArrayBase& x, double factor) {
    return scaled<T>(typed<T>(x), factor);
  }
};
inline ArrayBase scaled(const ArrayBase& x, double factor) {
  return cpu::kernel_for<ScaledKernel>(x.dtype())(x, factor);
}

// -x, recorded.
struct NegatedKernel {
  static constexpr const char* name = "negative";
  using Function = ArrayBase(const ArrayBase& x);
  template <class T>
  static ArrayBase run(const ArrayBase& x) {
    return evaluate(make_expr<rules::negative>(typed<T>(x)));
  }
};
inline ArrayBase negated(const ArrayBase& x) { return cpu::kernel_for<NegatedKernel>(x.dtype())(x); }

// Divides a fresh array by a number, in place where the host computes; not recorded.
struct DivideKernel {
  static constexpr const char* name = "divide";
  using Function = void(ArrayBase& x, double divisor);
  template <class T>
  static void run(ArrayBase& x, double divisor) {
    if (on_accelerator(x)) {
      x = evaluate(make_expr<rules::divide>(typed<T>(x), number_array<T>(divisor)));
      return;
    }
    T* const values = reinterpret_cast<T*>(raw_data(x));
    const real_t<T> by = static_cast<real_t<T>>(divisor);
    for (std::int64_t i = 0, n = layout_of(x).size(); i < n; ++i) values[i] /= by;
  }
};
inline void divide_by(ArrayBase& x, double divisor) { cpu::kernel_for<DivideKernel>(x.dtype())(x, divisor); }

}  // namespace detail
NAX_END
