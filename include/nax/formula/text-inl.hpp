#pragma once

#include <cstdio>
#include <cstring>

#include "nax/core/error.hpp"
#include "nax/formula/text.hpp"
#include "nax/formula/text_polygamma.hpp"
#include "nax/formula/text_prologue.hpp"

NAX_BEGIN
namespace formula {
namespace detail {

inline const char* stored_text(DType type) {
  switch (type) {
    case DType::boolean:
      return "nax_bool";
    case DType::float16:
      return "nax_half";
    case DType::bfloat16:
      return "nax_bfloat16";
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    default:
      throw ValueError("formula: no text for elements of " + std::string(dtype_name(type)));
  }
}

// The functions that C and CUDA have, and their arguments are those of the LaneFunction.
inline bool has_text(const LaneFunction& function) {
  for (const char* name : {"sin", "cos", "tan", "erfc", "lgamma", "tgamma", "pow", "fmod", "remainder",
                           "nextafter", "polygamma"})
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

// Writes the loop around the steps: parameters, positions, loads and stores.
class KernelText {
 public:
  explicit KernelText(const TextRequest& request)
      : r_(request), f_(*request.formula), rank_(std::to_string(request.rank)) {
    const std::size_t inputs = static_cast<std::size_t>(f_.inputs - r_.numbers);
    if (f_.inputs < r_.leaves + r_.numbers || r_.operands.size() != inputs + f_.results.size())
      throw ValueError("formula: the operands of a text are not those of its formula");
    if (r_.per > 1 && r_.rank == 0) throw ValueError("formula: a text of no axes takes no pieces");
  }

  std::string text() const {
    std::string text = text_prologue;
    if (calls_polygamma()) text += text_polygamma;
    text += std::string("typedef ") + stored_text(f_.type) + " number;\n" + parameters();
    text += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(text_block_threads) +
            ") nax_formula(const nax_parameters p) {\n"
            "  for (long long i = NAX_FIRST; i < p.positions; i += NAX_STEP) {\n" +
            position() + loads();
    for (std::size_t k = 0; k < f_.results.size(); ++k)
      text += "    number y" + std::to_string(k) + "[" + std::to_string(r_.per) + "];\n";
    const StepText steps(f_);
    text += "#pragma unroll\n    for (int j = 0; j < " + std::to_string(r_.per) + "; ++j) {\n" +
            steps.statements();
    for (std::size_t k = 0; k < f_.results.size(); ++k)
      text += "      y" + std::to_string(k) + "[j] = number(" + steps.named(f_.results[k]) + ");\n";
    text += "    }\n" + stores() + "  }\n}\n";
    return text +
           "#if !defined(__CUDACC__)\nextern \"C\" void nax_call(const void* words) {\n"
           "  nax_formula(*static_cast<const nax_parameters*>(words));\n}\n#endif\n";
  }

 private:
  bool calls_polygamma() const {
    for (const Step& step : f_.steps)
      if (step.operation == Operation::call && std::strcmp(step.function().name, "polygamma") == 0)
        return true;
    return false;
  }
  std::string parameters() const {
    std::string text = "struct nax_operand {\n  char* data;\n";
    if (r_.rank > 0) text += "  long long strides[" + rank_ + "];\n";
    text += "};\nstruct nax_parameters {\n  long long positions, elements;\n";
    if (r_.rank > 0) text += "  long long extents[" + rank_ + "];\n";
    if (r_.rank > 1) text += "  unsigned long long magic[" + rank_ + "], shift[" + rank_ + "];\n";
    text += "  nax_operand operands[" + std::to_string(r_.operands.size()) + "];\n";
    if (r_.numbers > 0) text += "  double numbers[" + std::to_string(r_.numbers) + "];\n";
    return text + "};\n";
  }
  // The index along each axis: i0, i1, ...
  std::string position() const {
    std::string text;
    if (r_.rank == 1) text += "    const long long i0 = i;\n";
    if (r_.rank > 1) {
      text += "    const unsigned rest" + rank_ + " = static_cast<unsigned>(i);\n";
      for (int axis = r_.rank - 1; axis > 0; --axis) {
        const std::string a = std::to_string(axis), above = std::to_string(axis + 1);
        text += "    const unsigned rest" + a + " = nax_quotient(rest" + above + ", p.magic[" + a +
                "], p.shift[" + a + "]);\n    const long long i" + a + " = rest" + above + " - rest" + a +
                " * static_cast<unsigned>(p.extents[" + a + "]);\n";
      }
      text += "    const long long i0 = rest1;\n";
    }
    const std::string per = std::to_string(r_.per);
    if (r_.rank == 1 && r_.per > 1)
      text += "    const long long left = p.elements - i * " + per + ";\n    const int count = left < " +
              per + " ? static_cast<int>(left) : " + per + ";\n";
    else
      text += "    const int count = " + per + ";\n";
    return text;
  }
  std::string address(std::size_t o) const {
    const std::string operand = "p.operands[" + std::to_string(o) + "]";
    std::string text = operand + ".data";
    for (int axis = 0; axis < r_.rank; ++axis) {
      const std::string a = std::to_string(axis);
      if (axis < r_.rank - 1 || r_.operands[o].access == TextAccess::strided)
        text += " + i" + a + " * " + operand + ".strides[" + a + "]";
      else if (r_.operands[o].access == TextAccess::row)
        text +=
            " + i" + a + " * " + std::to_string(r_.per * static_cast<int>(dtype_size(r_.operands[o].stored)));
    }
    return text;
  }
  std::string loads() const {
    std::string text;
    const std::string per = std::to_string(r_.per);
    std::vector<char> read(static_cast<std::size_t>(f_.inputs));
    for (const Step& step : f_.steps)
      if (step.operation == Operation::input) read[step.detail] = 1;
    for (int i = 0, o = 0; i < f_.inputs; ++i) {
      const bool number = i >= r_.leaves && i < r_.leaves + r_.numbers;
      const std::size_t operand = static_cast<std::size_t>(number ? 0 : o++);
      if (!read[static_cast<std::size_t>(i)]) continue;
      const std::string name = "x" + std::to_string(i);
      text += "    number " + name + "[" + per + "];\n";
      if (number)
        text += "    for (int j = 0; j < " + per + "; ++j) " + name + "[j] = static_cast<number>(p.numbers[" +
                std::to_string(i - r_.leaves) + "]);\n";
      else if (r_.operands[operand].access == TextAccess::repeated)
        text += "    nax_repeat<" + std::string(stored_text(r_.operands[operand].stored)) + ">(" + name +
                ", " + address(operand) + ");\n";
      else
        text += "    nax_load<" + std::string(stored_text(r_.operands[operand].stored)) + ">(" + name + ", " +
                address(operand) + ", count);\n";
    }
    return text;
  }
  std::string stores() const {
    std::string text;
    const std::size_t first = r_.operands.size() - f_.results.size();
    for (std::size_t k = 0; k < f_.results.size(); ++k)
      text += "    nax_store<" + std::string(stored_text(r_.operands[first + k].stored)) + ">(y" +
              std::to_string(k) + ", " + address(first + k) + ", count);\n";
    return text;
  }

  const TextRequest& r_;
  const Formula& f_;
  const std::string rank_;
};

}  // namespace detail

NAX_ENGINE std::string kernel_text(const TextRequest& request) { return detail::KernelText(request).text(); }

}  // namespace formula
NAX_END
