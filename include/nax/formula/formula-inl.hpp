#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>

#include "nax/formula/formula.hpp"

NAX_BEGIN
namespace formula {

NAX_ENGINE double Step::number() const {
  if (dtype_kind(type) == Kind::floating) return std::bit_cast<double>(detail);
  return type == DType::uint64 ? static_cast<double>(detail)
                               : static_cast<double>(static_cast<std::int64_t>(detail));
}
NAX_ENGINE const LaneFunction& Step::function() const {
  return *std::bit_cast<const LaneFunction*>(static_cast<std::uintptr_t>(detail));
}

namespace detail {
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t x) {
  hash = (hash ^ x) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
inline std::uint64_t hash_of(const Step& step, std::uint64_t hash) {
  hash = mixed(hash, static_cast<std::uint64_t>(step.operation) << 8 | step.arity);
  for (int j = 0; j < step.arity; ++j)
    hash = mixed(hash, static_cast<std::uint64_t>(step.operand[static_cast<std::size_t>(j)]));
  return mixed(hash, step.detail ^ static_cast<std::uint64_t>(step.type) << 56);
}
inline std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}
}  // namespace detail

NAX_ENGINE DType common_type(const std::vector<Step>& steps) {
  const DType type = steps.empty() ? DType::float32 : steps[0].type;
  const bool one = std::all_of(steps.begin(), steps.end(), [&](const Step& s) { return s.type == type; });
  return one && (type == DType::float32 || type == DType::float64) ? type : Formula::mixed;
}
NAX_ENGINE std::vector<DType> Formula::input_types() const {
  std::vector<DType> types(static_cast<std::size_t>(inputs), type);
  for (const Step& step : steps)
    if (step.operation == Operation::input) types[step.detail] = step.type;
  return types;
}
NAX_ENGINE std::vector<DType> Formula::result_types() const {
  std::vector<DType> types;
  for (const int result : results) types.push_back(steps[static_cast<std::size_t>(result)].type);
  return types;
}

NAX_ENGINE bool is_lowered(const Formula& f) {
  for (const Step& step : f.steps)
    if (is_written(step.operation)) return false;
  return true;
}

NAX_ENGINE std::uint64_t Formula::hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(type) << 32 | static_cast<std::uint64_t>(inputs);
  for (const Step& step : steps) hash = detail::hash_of(step, hash);
  for (int result : results) hash = detail::mixed(hash, static_cast<std::uint64_t>(result));
  return hash;
}

NAX_ENGINE std::string Formula::text() const {
  std::vector<int> numbers;  // of the steps that are computed
  int count = 0;
  for (const Step& step : steps) numbers.push_back(step.arity > 0 ? count++ : -1);
  const auto named = [&](int at) {
    const Step& step = steps[static_cast<std::size_t>(at)];
    if (step.operation == Operation::constant) return detail::number_text(step.number());
    if (step.operation == Operation::known) return std::string(step.detail != 0 ? "true" : "false");
    return (step.operation == Operation::input ? "x" + std::to_string(step.detail)
                                               : "t" + std::to_string(numbers[static_cast<std::size_t>(at)]));
  };
  std::string text = std::string(type == DType::float32   ? "float"
                                 : type == DType::float64 ? "double"
                                                          : "mixed") +
                     " formula of " + std::to_string(inputs) + (inputs == 1 ? " input\n" : " inputs\n");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.arity == 0) continue;
    text += "  " + named(static_cast<int>(i)) + " = " + facts(step.operation).name;
    if (step.operation == Operation::convert) text += "_to_" + std::string(dtype_name(step.type));
    if (step.operation == Operation::bit) text += std::to_string(step.detail);
    text += "(";
    for (int j = 0; j < step.arity; ++j)
      text += (j > 0 ? ", " : "") + named(step.operand[static_cast<std::size_t>(j)]);
    text += ")\n";
  }
  text += "  return";
  for (std::size_t k = 0; k < results.size(); ++k) text += (k > 0 ? ", " : " ") + named(results[k]);
  return text + "\n";
}

}  // namespace formula
NAX_END
