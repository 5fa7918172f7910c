#pragma once

#include <cstring>

#include "nax/core/error.hpp"
#include "nax/formula/text.hpp"
#include "nax/formula/text_polygamma.hpp"
#include "nax/formula/text_prologue.hpp"
#include "nax/formula/text_steps.hpp"

NAX_BEGIN
namespace formula {
namespace detail {

// Writes the loop around a body: parameters, positions, loads and stores.
class KernelText {
 public:
  KernelText(const TextBody& body, const std::vector<TextOperand>& operands, int rank, int per)
      : body_(body), operands_(operands), rank_(rank), per_(per), rank_text_(std::to_string(rank)) {
    std::size_t count = body.results.size();
    for (const TextBody::Input& input : body.inputs) {
      count += input.number.empty();
      numbers_ += !input.number.empty();
    }
    if (operands.size() != count)
      throw ValueError("formula: the operands of a text are not those of its formula");
    if (per > 1 && rank == 0) throw ValueError("formula: a text of no axes takes no pieces");
  }

  std::string text() const {
    const std::string per = std::to_string(per_);
    std::string text = text_prologue + body_.functions + parameters();
    text += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(text_block_threads) +
            ") nax_formula(const nax_parameters p) {\n"
            "  for (long long i = NAX_FIRST; i < p.positions; i += NAX_STEP) {\n" +
            position() + loads();
    for (std::size_t k = 0; k < body_.results.size(); ++k)
      text += "    " + body_.results[k].type + " y" + std::to_string(k) + "[" + per + "];\n";
    text += "#pragma unroll\n    for (int j = 0; j < " + per + "; ++j) {\n" + body_.statements;
    for (std::size_t k = 0; k < body_.results.size(); ++k)
      text += "      y" + std::to_string(k) + "[j] = " + body_.results[k].value + ";\n";
    text += "    }\n" + stores() + "  }\n}\n";
    return text +
           "#if !defined(__CUDACC__)\nextern \"C\" void nax_call(const void* words) {\n"
           "  nax_formula(*static_cast<const nax_parameters*>(words));\n}\n#endif\n";
  }

 private:
  std::string parameters() const {
    std::string text = "struct nax_operand {\n  char* data;\n";
    if (rank_ > 0) text += "  long long strides[" + rank_text_ + "];\n";
    text += "};\nstruct nax_parameters {\n  long long positions, elements;\n";
    if (rank_ > 0) text += "  long long extents[" + rank_text_ + "];\n";
    if (rank_ > 1) text += "  unsigned long long magic[" + rank_text_ + "], shift[" + rank_text_ + "];\n";
    text += "  nax_operand operands[" + std::to_string(operands_.size()) + "];\n";
    if (numbers_ > 0) text += "  unsigned long long numbers[" + std::to_string(numbers_) + "];\n";
    return text + "};\n";
  }
  // The index along each axis: i0, i1, ...
  std::string position() const {
    std::string text;
    if (rank_ == 1) text += "    const long long i0 = i;\n";
    if (rank_ > 1) {
      text += "    const unsigned rest" + rank_text_ + " = static_cast<unsigned>(i);\n";
      for (int axis = rank_ - 1; axis > 0; --axis) {
        const std::string a = std::to_string(axis), above = std::to_string(axis + 1);
        text += "    const unsigned rest" + a + " = nax_quotient(rest" + above + ", p.magic[" + a +
                "], p.shift[" + a + "]);\n    const long long i" + a + " = rest" + above + " - rest" + a +
                " * static_cast<unsigned>(p.extents[" + a + "]);\n";
      }
      text += "    const long long i0 = rest1;\n";
    }
    const std::string per = std::to_string(per_);
    if (rank_ == 1 && per_ > 1)
      text += "    const long long left = p.elements - i * " + per + ";\n    const int count = left < " +
              per + " ? static_cast<int>(left) : " + per + ";\n";
    else
      text += "    const int count = " + per + ";\n";
    return text;
  }
  std::string address(std::size_t o) const {
    const std::string operand = "p.operands[" + std::to_string(o) + "]";
    std::string text = operand + ".data";
    for (int axis = 0; axis < rank_; ++axis) {
      const std::string a = std::to_string(axis);
      if (axis < rank_ - 1 || operands_[o].access == TextAccess::strided)
        text += " + i" + a + " * " + operand + ".strides[" + a + "]";
      else if (operands_[o].access == TextAccess::row)
        text += " + i" + a + " * " + std::to_string(per_ * static_cast<int>(dtype_size(operands_[o].stored)));
    }
    return text;
  }
  std::string loads() const {
    std::string text;
    const std::string per = std::to_string(per_);
    int number = 0;
    std::size_t operand = 0;
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) {
      const TextBody::Input& input = body_.inputs[i];
      const std::string name = "x" + std::to_string(i);
      if (input.read) text += "    " + input.type + " " + name + "[" + per + "];\n";
      if (!input.number.empty()) {
        std::string value = input.number;
        value.replace(value.find('$'), 1, "p.numbers[" + std::to_string(number++) + "]");
        if (input.read)
          text += "    for (int j = 0; j < " + per + "; ++j) " + name + "[j] = " + value + ";\n";
        continue;
      }
      const std::size_t o = operand++;
      if (!input.read) continue;
      const bool repeats = operands_[o].access == TextAccess::repeated;
      text += std::string(repeats ? "    nax_repeat<" : "    nax_load<") + stored_text(operands_[o].stored) +
              ">(" + name + ", " + address(o) + (repeats ? ");\n" : ", count);\n");
    }
    return text;
  }
  std::string stores() const {
    std::string text;
    const std::size_t first = operands_.size() - body_.results.size();
    for (std::size_t k = 0; k < body_.results.size(); ++k)
      text += "    nax_store<" + std::string(stored_text(operands_[first + k].stored)) + ">(y" +
              std::to_string(k) + ", " + address(first + k) + ", count);\n";
    return text;
  }

  const TextBody& body_;
  const std::vector<TextOperand>& operands_;
  int rank_, per_, numbers_ = 0;
  const std::string rank_text_;
};

}  // namespace detail

NAX_ENGINE TextBody text_body(const Formula& f, int leaves, int numbers) {
  if (f.inputs < leaves + numbers)
    throw ValueError("formula: the operands of a text are not those of its formula");
  if (f.type == Formula::mixed) throw ValueError("formula: a text has numbers of one type");
  TextBody body;
  for (const Step& step : f.steps)
    if (step.operation == Operation::call && std::strcmp(step.function().name, "polygamma") == 0 &&
        body.functions.empty())
      body.functions = detail::text_polygamma;
  body.functions += std::string("typedef ") + detail::stored_text(f.type) + " number;\n";
  for (int i = 0; i < f.inputs; ++i)
    body.inputs.push_back(
        {"number", i >= leaves && i < leaves + numbers ? "number(nax_of_bits($))" : "", false});
  for (const Step& step : f.steps)
    if (step.operation == Operation::input) body.inputs[step.detail].read = true;
  const detail::StepText steps(f);
  body.statements = steps.statements();
  for (int result : f.results) body.results.push_back({"number", "number(" + steps.named(result) + ")"});
  return body;
}
NAX_ENGINE std::string kernel_text(const TextBody& body, const std::vector<TextOperand>& operands, int rank,
                                   int per) {
  return detail::KernelText(body, operands, rank, per).text();
}
NAX_ENGINE std::string kernel_text(const TextRequest& r) {
  return kernel_text(text_body(*r.formula, r.leaves, r.numbers), r.operands, r.rank, r.per);
}

}  // namespace formula
NAX_END
