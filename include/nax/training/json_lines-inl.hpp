#pragma once

#include <charconv>
#include <cmath>

#include "nax/core/json_text.hpp"
#include "nax/training/json_lines.hpp"

NAX_BEGIN
namespace training {

NAX_ENGINE std::string JsonValue::str() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return std::to_string(*integer);
  if (const auto* integer = std::get_if<std::uint64_t>(&value_)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&value_)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value_)) return nax::detail::json_text(*text);
  const double number = std::get<double>(value_);
  if (!std::isfinite(number)) return "null";
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

NAX_ENGINE void JsonLines::write(std::initializer_list<std::pair<std::string, JsonValue>> fields) {
  std::string line = "{";
  for (const auto& [name, value] : fields) {
    if (line.size() > 1) line += ", ";
    line += nax::detail::json_text(name) + ": " + value.str();
  }
  file_.add(line + "}\n");
}

}  // namespace training
NAX_END
