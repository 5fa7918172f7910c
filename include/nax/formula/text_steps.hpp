#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "nax/core/error.hpp"
#include "nax/formula/formula.hpp"

// Types and steps as text.
NAX_BEGIN
namespace formula::detail {

// An element as it is stored.
inline const char* stored_text(DType type) {
  switch (type) {
    case DType::boolean:
      return "nax_bool";
    case DType::float16:
      return "nax_half";
    case DType::bfloat16:
      return "nax_bfloat16";
    case DType::int8:
      return "signed char";
    case DType::int16:
      return "short";
    case DType::int32:
      return "int";
    case DType::int64:
      return "long long";
    case DType::uint8:
      return "unsigned char";
    case DType::uint16:
      return "unsigned short";
    case DType::uint32:
      return "unsigned";
    case DType::uint64:
      return "unsigned long long";
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    case DType::complex64:
    case DType::complex128:
      break;
  }
  throw ValueError("formula: no text for elements of " + std::string(dtype_name(type)));
}
// As it is computed.
inline const char* lane_text(DType type) {
  if (type == DType::float16 || type == DType::bfloat16) return "float";
  return type == DType::boolean ? "bool" : stored_text(type);
}

// The functions that C and CUDA have, and their arguments are those of the LaneFunction.
inline bool has_text(const LaneFunction& function) {
  for (const char* name :
       {"sin", "cos", "tan", "lgamma", "tgamma", "pow", "fmod", "remainder", "nextafter", "polygamma"})
    if (std::strcmp(name, function.name) == 0) return true;
  return false;
}

// Writes the statements of a formula's steps.
class StepText {
 public:
  explicit StepText(const Formula& f) : f_(f), suffix_(f.type == DType::float32 ? "f" : "") {}

  std::string statements() const {
    std::string text;
    for (std::size_t i = 0; i < f_.steps.size(); ++i) {
      const Step& step = f_.steps[i];
      if (step.arity == 0) continue;
      text += std::string("      const ") + (step.truth() ? "bool" : "number") + " t" + std::to_string(i) +
              " = " + value(step) + ";\n";
    }
    return text;
  }
  std::string named(int at) const {
    const Step& step = f_.steps[static_cast<std::size_t>(at)];
    if (step.operation == Operation::input) return "x" + std::to_string(step.detail) + "[j]";
    if (step.operation == Operation::known) return step.detail != 0 ? "true" : "false";
    if (step.operation == Operation::constant) return literal(step.number());
    return "t" + std::to_string(at);
  }

 private:
  std::string literal(double x) const {
    if (x != x) return "nax_nan(number())";
    if (x - x != 0) return x > 0 ? "nax_infinity(number())" : "(-nax_infinity(number()))";
    char text[48];
    std::snprintf(text, sizeof text, std::signbit(x) ? "(%a%s)" : "%a%s", x, suffix_);
    return text;
  }
  std::string operand(const Step& step, int j) const {
    return named(step.operand[static_cast<std::size_t>(j)]);
  }
  // `pattern` with $0, $1, $2 replaced by operands and $f by the suffix of C's functions of the type.
  std::string filled(const Step& step, const char* pattern) const {
    std::string text;
    for (const char* c = pattern; *c != 0; ++c) {
      if (*c != '$')
        text += *c;
      else if (*++c == 'f')
        text += suffix_;
      else
        text += operand(step, *c - '0');
    }
    return text;
  }
  std::string called(const Step& step, int first) const {
    const LaneFunction& function = step.function();
    if (!has_text(function))
      throw ValueError(std::string("formula: no text of a function of lanes, ") + function.name);
    if (std::strcmp(function.name, "polygamma") == 0)
      return "number(nax_polygamma(" + operand(step, first) + ", " + operand(step, first + 1) + "))";
    std::string text = std::string(function.name) + suffix_ + "(";
    for (int j = first; j < step.arity; ++j) text += (j > first ? ", " : "") + operand(step, j);
    return text + ")";
  }
  std::string value(const Step& step) const {
    if (step.operation == Operation::call) return called(step, 0);
    if (step.operation == Operation::rescue) return filled(step, "$0 ? $1 : ") + called(step, 2);
    if (step.operation == Operation::bit)
      return filled(step, step.detail == 0 ? "nax_bit<0>($0)" : "nax_bit<1>($0)");
    return filled(step, pattern(step.operation));
  }
  static const char* pattern(Operation operation) {
    switch (operation) {
#define NAX_ONE(operation, text) \
  case Operation::operation:     \
    return text;
      NAX_ONE(add, "$0 + $1")
      NAX_ONE(subtract, "$0 - $1")
      NAX_ONE(multiply, "$0 * $1")
      NAX_ONE(divide, "$0 / $1")
      NAX_ONE(negative, "-$0")
      NAX_ONE(absolute, "fabs$f($0)")
      NAX_ONE(sqrt, "sqrt$f($0)")
      NAX_ONE(floor, "floor$f($0)")
      NAX_ONE(ceil, "ceil$f($0)")
      NAX_ONE(trunc, "trunc$f($0)")
      NAX_ONE(rint, "rint$f($0)")
      NAX_ONE(maximum, "nax_maximum($0, $1)")
      NAX_ONE(minimum, "nax_minimum($0, $1)")
      NAX_ONE(at_least, "$0 < $1 ? $1 : $0")
      NAX_ONE(at_most, "$1 < $0 ? $1 : $0")
      NAX_ONE(copysign, "copysign$f($0, $1)")
      NAX_ONE(with_sign, "nax_with_sign($0, $1)")
      NAX_ONE(fma, "fma$f($0, $1, $2)")
      NAX_ONE(fms, "fma$f($0, $1, -$2)")
      NAX_ONE(fnma, "fma$f(-$0, $1, $2)")
      NAX_ONE(scale, "nax_scale($0, $1)")
      NAX_ONE(mantissa, "nax_mantissa($0)")
      NAX_ONE(exponent, "nax_exponent($0)")
      NAX_ONE(limited, "nax_limited($0)")
      NAX_ONE(equal, "$0 == $1")
      NAX_ONE(not_equal, "$0 != $1")
      NAX_ONE(less, "$0 < $1")
      NAX_ONE(less_equal, "$0 <= $1")
      NAX_ONE(sign_bit, "nax_sign_bit($0)")
      NAX_ONE(both, "$0 && $1")
      NAX_ONE(either, "$0 || $1")
      NAX_ONE(differ, "$0 != $1")
      NAX_ONE(opposite, "!$0")
      NAX_ONE(select, "$0 ? $1 : $2")
      NAX_ONE(keep, "$0 ? $1 : number(0)")
#undef NAX_ONE
      default:
        throw ValueError(std::string("formula: no text of ") + facts(operation).name +
                         "; call lowered first");
    }
  }

  const Formula& f_;
  const char* suffix_;
};

}  // namespace formula::detail
NAX_END
