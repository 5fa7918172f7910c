#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

// The operations of formulas. A value is a number or a truth.
NAX_BEGIN
namespace formula {

// name, operands, whether the result is a truth, of which numbers (OperandTypes)
#define NAX_FORMULA_OPERATIONS(X)                                                                           \
  X(input, 0, false, any)                                                                                   \
  X(constant, 0, false, any)                                                                                \
  X(known, 0, true, any) /* a truth that is the same everywhere */                                          \
  X(add, 2, false, any)                                                                                     \
  X(subtract, 2, false, any)                                                                                \
  X(multiply, 2, false, any)                                                                                \
  X(divide, 2, false, real)                                                                                 \
  X(negative, 1, false, any)                                                                                \
  X(absolute, 1, false, any)                                                                                \
  X(sqrt, 1, false, real)                                                                                   \
  X(floor, 1, false, real)                                                                                  \
  X(ceil, 1, false, real)                                                                                   \
  X(trunc, 1, false, real)                                                                                  \
  X(rint, 1, false, real)                                                                                   \
  X(maximum, 2, false, any) /* NaN where either is */                                                       \
  X(minimum, 2, false, any)                                                                                 \
  X(at_least, 2, false, any) /* the greater of x and a bound; x where it is NaN */                          \
  X(at_most, 2, false, any)                                                                                 \
  X(copysign, 2, false, real)                                                                               \
  X(with_sign, 2, false, real) /* copysign for a first operand that is not negative */                      \
  X(fma, 3, false, real)       /* x y + z */                                                                \
  X(fms, 3, false, real)       /* x y - z */                                                                \
  X(fnma, 3, false, real)      /* z - x y */                                                                \
  X(scale, 2, false, real)     /* x 2^y for whole y, rounded once */                                        \
  X(mantissa, 1, false, real)  /* in [3/4, 3/2); NaN for negative numbers */                                \
  X(exponent, 1, false, real)  /* that goes with it; infinite for 0 and infinity */                         \
  X(limited, 1, false, real)   /* x, or 1/2 with its sign where that is smaller or x is NaN */              \
  X(equal, 2, true, any)                                                                                    \
  X(not_equal, 2, true, any)                                                                                \
  X(less, 2, true, any)                                                                                     \
  X(less_equal, 2, true, any)                                                                               \
  X(sign_bit, 1, true, real)                                                                                \
  X(bit, 1, true, real) /* a bit of the representation; which: 0 or 1 */                                    \
  X(both, 2, true, any)                                                                                     \
  X(either, 2, true, any)                                                                                   \
  X(differ, 2, true, any)                                                                                   \
  X(opposite, 1, true, any)                                                                                 \
  X(select, 3, false, any)  /* the second where the first, a truth, holds; else the third */                \
  X(keep, 2, false, any)    /* the second where the first holds; else 0 */                                  \
  X(call, 0, false, real)   /* a function of lanes */                                                       \
  X(rescue, 0, false, real) /* the second where the first holds; else a function of the further operands */ \
  NAX_FORMULA_WRITTEN(X) NAX_FORMULA_TYPED(X)

// Operations of formulas of several types, or of whole numbers.
#define NAX_FORMULA_TYPED(X)                                                               \
  X(convert, 1, false, several) /* to the step's type; of a 16-bit float: rounded to it */ \
  X(truth_as, 1, true, several) /* a truth beside numbers of the step's type */            \
  X(bit_and, 2, false, several)                                                            \
  X(bit_or, 2, false, several) X(bit_xor, 2, false, several) X(bit_not, 1, false, several)

// Operations that are written down as several of those above before a formula runs.
#define NAX_FORMULA_WRITTEN(X)                                                                              \
  X(guarded, 2, false, real)      /* x y, and 0 where x is 0 */                                             \
  X(unless_ended, 2, false, real) /* keep, of shares of a cotangent that is not 0 where the first holds. */ \
  /* A share is linear in the cotangent, so its derivative is not ended by a zero there. */                 \
  NAX_FORMULA_FUNCTIONS_1(X) NAX_FORMULA_FUNCTIONS_2(X)
// clang-format off
#define NAX_FORMULA_FUNCTIONS_1(X) \
  X(exp, 1, false, real) X(exp2, 1, false, real) X(expm1, 1, false, real) X(expit, 1, false, real) \
  X(log, 1, false, real) X(log2, 1, false, real) X(log10, 1, false, real) X(log1p, 1, false, real) \
  X(tanh, 1, false, real) X(sinh, 1, false, real) X(cosh, 1, false, real) X(asinh, 1, false, real) \
  X(acosh, 1, false, real) X(atanh, 1, false, real) X(sin, 1, false, real) X(cos, 1, false, real) \
  X(tan, 1, false, real) X(atan, 1, false, real) X(asin, 1, false, real) X(acos, 1, false, real) \
  X(one_minus_square, 1, false, real) X(erf, 1, false, real) X(erfc, 1, false, real) X(cbrt, 1, false, real) \
  X(lgamma, 1, false, real) X(tgamma, 1, false, real)
#define NAX_FORMULA_FUNCTIONS_2(X) \
  X(atan2, 2, false, real) X(hypot, 2, false, real) X(pow, 2, false, real) X(fmod, 2, false, real) \
  X(remainder, 2, false, real) X(nextafter, 2, false, real) X(polygamma, 2, false, real)
// clang-format on

enum class Operation : unsigned char {
#define NAX_ONE(name, ...) name,
  NAX_FORMULA_OPERATIONS(NAX_ONE)
#undef NAX_ONE
};

// Real numbers alone; whole ones, too; or those of formulas of several types, which have conversions.
enum class OperandTypes : unsigned char { real, any, several };
struct OperationFacts {
  const char* name;
  int arity;  // call and rescue have what their function takes
  bool truth;
  OperandTypes types;
};
inline constexpr OperationFacts operation_facts[] = {
#define NAX_ONE(name, arity, truth, types) {#name, arity, truth, OperandTypes::types},
    NAX_FORMULA_OPERATIONS(NAX_ONE)
#undef NAX_ONE
};
constexpr const OperationFacts& facts(Operation operation) {
  return operation_facts[static_cast<int>(operation)];
}
constexpr bool is_written(Operation operation) {
  return operation >= Operation::guarded && operation < Operation::convert;
}

// A function that runs on lanes: out[i] = f(in[0][i], ...). Its address names it.
struct LaneFunction {
  const char* name;
  int arity;
  void (*run)(const void* const* in, void* out, std::int64_t n);
};

}  // namespace formula
NAX_END
