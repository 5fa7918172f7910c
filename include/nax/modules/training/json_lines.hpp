#pragma once

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <variant>

#include "nax/modules/training/log_file.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// Logs as lines of JSON.
NAX_BEGIN
namespace training {

// A value of a line: a number, a bool, a text, or an array of no axes.
class JsonValue {
 public:
  template <class X>
  requires(nax::detail::Operand<X>) JsonValue(const X& x) {
    if constexpr (!Scalar<X>)
      *this = JsonValue(nax::detail::as_array(x).item());
    else if constexpr (std::is_same_v<X, bool>)
      value_ = x;
    else if constexpr (std::unsigned_integral<X>)
      value_ = std::uint64_t{x};
    else if constexpr (std::integral<X>)
      value_ = std::int64_t{x};
    else
      value_ = static_cast<double>(x);
  }
  JsonValue(std::string text) : value_(std::move(text)) {}
  JsonValue(const char* text) : value_(std::string(text)) {}
  // Numbers in the fewest digits that read back as they are; null for those that JSON has not. Bytes of a
  // text that are no UTF-8 become U+FFFD.
  std::string str() const;

 private:
  std::variant<std::int64_t, std::uint64_t, double, bool, std::string> value_;
};

// Appends one JSON object a line to a file. Each line is handed to the system as a whole, so several
// processes may write to one file.
//
//   training::JsonLines log("train.jsonl");
//   log.write({{"step", 100}, {"loss", loss}, {"lr", 3e-4}});
class JsonLines {
 public:
  explicit JsonLines(const std::string& path) : file_("JsonLines", path, 0) {}
  void write(std::initializer_list<std::pair<std::string, JsonValue>> fields);

 private:
  detail::LogFile file_;
};

}  // namespace training
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/json_text.hpp"

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
#endif
