#pragma once

#include <atomic>
#include <initializer_list>
#include <string>

#include "nax/core/array_base.hpp"

// Finds the operation that makes the first NaN.
NAX_BEGIN

// Switches on or off, for all threads, that an operation which makes a NaN from operands without one throws
// FloatingPointError: with its name, its formula and the shapes. It looks at every element of operands and
// results, so it is for debugging. Elementwise formulas, their gradients, reductions, products, convolutions,
// softmax and what ends in linalg or fft are looked at. The environment variable NAX_DEBUG_NANS=1 switches it
// on from the start.
NAX_ENGINE void debug_nans(bool on);
// Switches on or off that an operation which makes an infinity from operands without one throws, likewise;
// NAX_DEBUG_INFS=1.
NAX_ENGINE void debug_infs(bool on);

namespace detail {

// Bits: numbers that are looked for, and numbers that an array holds.
enum OddNumbers : unsigned { no_odd_numbers = 0, odd_nan = 1, odd_inf = 2 };

NAX_ENGINE unsigned odd_numbers_asked_for();
inline std::atomic<unsigned> odd_numbers_watched{odd_numbers_asked_for()};
inline bool watches_numbers() { return odd_numbers_watched.load(std::memory_order_relaxed) != 0; }

// The numbers in the array that are looked for; none while a graph is recorded, when nothing is computed.
NAX_ENGINE unsigned odd_numbers_in(const ArrayBase& a);
NAX_ENGINE unsigned odd_numbers_in(const ArrayBase* const* arrays, int count);

// One part of a formula, before its operands: a function (arity > 0), an array (0) or a number (-1).
struct FormulaPart {
  const char* name;
  int arity;
  DType dtype;
};
inline constexpr std::size_t formula_slot = 16;  // bytes of each number
// `log(subtract(x0, 1.5))`.
NAX_ENGINE std::string formula_text(const FormulaPart* formula, const void* constants);

// Throws where the result has what the operands had not (`before`). The formula may be none.
NAX_ENGINE void check_numbers(const char* name, const char* kind, unsigned before, const ArrayBase& result,
                              const ArrayBase* const* operands, int count,
                              const FormulaPart* formula = nullptr, const void* constants = nullptr);

// Checks a result of these operands, whose elements are still there. One branch where nothing is watched.
inline void check_result(const char* name, const ArrayBase& result,
                         std::initializer_list<const ArrayBase*> operands) {
  if (watches_numbers()) [[unlikely]]
    check_numbers(name, "", odd_numbers_in(operands.begin(), static_cast<int>(operands.size())), result,
                  operands.begin(), static_cast<int>(operands.size()));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/debug_nans-inl.hpp"
#endif
