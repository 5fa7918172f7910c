#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "formula/formulas.hpp"
#include "nax/formula/text.hpp"

// Kernels of formulas in one text, so that a compiler runs once for many.
namespace texts {

using nax::formula::Formula;

// Replaces every `from` in `text`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

inline constexpr int per_16_bytes(nax::DType type) { return type == nax::DType::float32 ? 4 : 2; }

// A loop of one axis whose operands lie in rows.
inline std::string text_of(const Formula& lowered) {
  const std::size_t count = static_cast<std::size_t>(lowered.inputs) + lowered.results.size();
  const std::vector<nax::formula::TextOperand> operands(count, {lowered.type, nax::formula::TextAccess::row});
  return nax::formula::kernel_text({&lowered, lowered.inputs, 0, operands, 1, per_16_bytes(lowered.type)});
}

// Its parameters for n elements at these addresses, inputs first.
inline std::vector<std::uint64_t> words_of(const Formula& lowered, const std::vector<const void*>& operands,
                                           std::int64_t n) {
  const int per = per_16_bytes(lowered.type);
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>((n + per - 1) / per),
                                   static_cast<std::uint64_t>(n),
                                   static_cast<std::uint64_t>((n + per - 1) / per)};
  for (const void* operand : operands) {
    words.push_back(reinterpret_cast<std::uintptr_t>(operand));
    words.push_back(0);
  }
  return words;
}

// Kernel k is formula_k, and on the host call_k.
class TextFile {
 public:
  int add(const Formula& lowered) {
    const std::string number = std::to_string(count_);
    std::string one = text_of(lowered).substr(std::strlen(nax::formula::detail::text_prologue));
    one = replaced(replaced(one, "nax_formula", "formula_" + number), "nax_call", "call_" + number);
    text_ += "namespace kernel_" + number + " {\n" + one + "}\n";
    return count_++;
  }
  int count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = nax::formula::detail::text_prologue;
  int count_ = 0;
};

// An operation with operands from its domain.
struct Case {
  std::string name;
  Formula lowered;
  bool by_library = false;  // calls a function of the compiler's library
  bool random = false;
};

inline bool calls(const Formula& f) {
  for (const auto& step : f.steps)
    if (step.operation == nax::formula::Operation::call || step.operation == nax::formula::Operation::rescue)
      return true;
  return false;
}

// Every operation of two to four numbers of type T whose text there is.
template <class T>
std::vector<Case> cases() {
  using namespace nax::formula;
  std::vector<Case> all;
  const auto add = [&](std::string name, Recorder& recorder, std::vector<int> results) {
    Formula f = recorder.finish(results);
    f.inputs = 3;
    const Formula low = nax::formula::lowered(f);
    all.push_back({std::move(name), low, calls(low)});
  };
  for (int at = 0; at < static_cast<int>(std::size(operation_facts)); ++at) {
    const Operation operation = static_cast<Operation>(at);
    const OperationFacts& about = facts(operation);
    if (about.arity == 0 || about.types == nax::formula::OperandTypes::several)
      continue;  // (texts are of one type)
    Recorder recorder(formulas::type_of<T>);
    using V = Symbol<T>;
    const V x = V::input(0), y = V::input(1), z = V::input(2);
    int operands[] = {x.at, y.at, z.at};
    switch (operation) {
      case Operation::both:
      case Operation::either:
      case Operation::differ:
      case Operation::opposite:
        operands[0] = (x < y).at;
        operands[1] = (y < z).at;
        break;
      case Operation::select:
      case Operation::keep:
      case Operation::unless_ended:
        operands[0] = (x < y).at;
        break;
      case Operation::polygamma:
        operands[0] = rint(min(abs(x), V(3))).at;
        break;
      case Operation::scale:
        operands[1] = rint(max(min(y, V(100)), V(-100))).at;
        break;
      case Operation::with_sign:
      case Operation::mantissa:
      case Operation::exponent:
        operands[0] = abs(x).at;
        break;
      default:
        break;
    }
    for (std::uint64_t detail = 0; detail < (operation == Operation::bit ? 2u : 1u); ++detail) {
      const int made = about.arity == 1 ? recorder.record(operation, {operands[0]}, detail)
                       : about.arity == 2
                           ? recorder.record(operation, {operands[0], operands[1]})
                           : recorder.record(operation, {operands[0], operands[1], operands[2]});
      add(std::string(about.name) + (detail ? "1" : ""), recorder, {made});
    }
  }
  {
    Recorder recorder(formulas::type_of<T>);
    const auto x = Symbol<T>::input(0);
    std::vector<int> results{x.at, recorder.constant(-0.0), recorder.truth(true)};
    for (const double number :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN(), 0.1, -1e-40})
      results.push_back(Symbol<T>(number).at);
    add("constants", recorder, results);
  }
  return all;
}

inline constexpr std::int64_t length = 1003;
template <class T>
std::vector<std::vector<T>> case_inputs() {
  return {formulas::numbers<T>(length, 1), formulas::numbers<T>(length, 2), formulas::numbers<T>(length, 3)};
}

// Runs a kernel on case_inputs<T>() by `call(words)`; one vector for each result.
template <class T, class Call>
std::vector<std::vector<T>> results_by(const Formula& lowered, const std::vector<std::vector<T>>& inputs,
                                       const Call& call) {
  std::vector<std::vector<T>> results(lowered.results.size(), std::vector<T>(length + 1, T(-7)));
  std::vector<const void*> operands;
  for (const auto& input : inputs) operands.push_back(input.data());
  for (auto& result : results) operands.push_back(result.data());
  call(words_of(lowered, operands, length));
  return results;
}
template <class T>
std::vector<std::vector<T>> expected_results(const Formula& lowered,
                                             const std::vector<std::vector<T>>& inputs) {
  std::vector<nax::formula::Line> lines;
  for (const auto& input : inputs) lines.push_back({input.data(), 1});
  std::vector<std::vector<T>> results(lowered.results.size(), std::vector<T>(length + 1, T(-7)));
  std::vector<nax::formula::Target> targets;
  for (auto& result : results) targets.push_back({result.data(), 1});
  nax::formula::interpret(lowered, lines.data(), targets.data(), length);
  return results;
}

// Units in the last place between two numbers; 0 for two NaN.
template <class T>
double ulps_between(T a, T b) {
  if (formulas::same_bits(a, b) || a == b) return 0;
  if (a != a || b != b || a - a != 0 || b - b != 0) return std::numeric_limits<double>::infinity();
  const T size = std::max({std::abs(a), std::abs(b), std::numeric_limits<T>::min()});
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) /
         static_cast<double>(std::nextafter(size, std::numeric_limits<T>::infinity()) - size);
}
template <class T>
double worst_ulps(const std::vector<std::vector<T>>& a, const std::vector<std::vector<T>>& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i) worst = std::max(worst, ulps_between(a[k][i], b[k][i]));
  return worst;
}

}  // namespace texts
