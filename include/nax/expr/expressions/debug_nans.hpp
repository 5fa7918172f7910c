#pragma once

#include <atomic>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/core/function_ref.hpp"

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
enum OddNumbers : unsigned {
  odd_nan = 1,
  odd_inf = 2,
  odd_numbers = 3,
  one_observer = 4,
  environment_unread = 1u << 31
};

inline constinit std::atomic<unsigned> odd_numbers_watched{environment_unread};
// Returns the bits, after it has read the environment.
NAX_ENGINE unsigned odd_numbers_asked_for();
// Is anything looked for, or does an observer want operations?
inline bool watches_operations() {
  return odd_numbers_watched.load(std::memory_order_relaxed) != 0 && odd_numbers_asked_for() != 0;
}
inline bool watches_numbers() {
  return odd_numbers_watched.load(std::memory_order_relaxed) != 0 &&
         (odd_numbers_asked_for() & odd_numbers) != 0;
}

// An operation of this thread, as an observer sees it when it is done.
struct ObservedOperation {
  const char* name;
  const ArrayBase& result;
  const ArrayBase* const* operands;
  int count;
  double flops;  // of products and convolutions: two for each multiply-add
};
using OperationObserver = FunctionRef<void(const ObservedOperation&)>;
inline thread_local constinit const OperationObserver* operation_observer = nullptr;

// Shows this thread's operations to an observer while this lives.
class Observing {
 public:
  explicit Observing(const OperationObserver& observer)
      : before_(std::exchange(operation_observer, &observer)) {
    odd_numbers_watched.fetch_add(one_observer);
  }
  ~Observing() {
    operation_observer = before_;
    odd_numbers_watched.fetch_sub(one_observer);
  }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  const OperationObserver* before_;
};

// The numbers in the array that are looked for; none while a graph is recorded, when nothing is computed.
NAX_ENGINE unsigned odd_numbers_in(const ArrayBase& a);
NAX_ENGINE unsigned odd_numbers_in(const ArrayBase* const* arrays, int count);

// One part of a formula, before its operands: a function (arity > 0), an array (0) or a number (-1), and the
// dtype of its elements.
struct FormulaPart {
  const char* name;
  int arity;
  DType dtype;
};
inline constexpr std::size_t formula_slot = 16;  // bytes of each number
// How many functions there are; none where the formula is none.
constexpr int count_functions(const FormulaPart* formula) {
  int count = 0;
  for (int open = formula ? 1 : 0; open > 0; --open, ++formula) {
    if (formula->arity <= 0) continue;
    open += formula->arity;
    ++count;
  }
  return count;
}
// `log(subtract(x0, 1.5))`; with the arrays' own names where there are some.
NAX_ENGINE std::string formula_text(const FormulaPart* formula, const void* constants,
                                    const std::vector<std::string>& names = {});

// Shows the operation to this thread's observer; throws where the result has what the operands had not
// (`before`). The formula may be none.
NAX_ENGINE void check_numbers(const char* name, const char* kind, unsigned before, const ArrayBase& result,
                              const ArrayBase* const* operands, int count,
                              const FormulaPart* formula = nullptr, const void* constants = nullptr,
                              double flops = 0);

// Checks a result of these operands, whose elements are still there. One branch where nothing is watched.
inline void check_result(const char* name, const ArrayBase& result,
                         std::initializer_list<const ArrayBase*> operands, double flops = 0) {
  if (watches_operations()) [[unlikely]]
    check_numbers(name, "", odd_numbers_in(operands.begin(), static_cast<int>(operands.size())), result,
                  operands.begin(), static_cast<int>(operands.size()), nullptr, nullptr, flops);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/expressions/debug_nans-inl.hpp"
#endif
