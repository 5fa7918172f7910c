#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "nax/modules/training/log_file.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// Logs as lines of JSON.
NAX_BEGIN
namespace training {
namespace detail {

NAX_ENGINE std::string json_number(double number);
NAX_ENGINE std::string json_string(const std::string& text);

}  // namespace detail

// A value of a line: a number, a bool, a text, or an array of no axes.
class JsonValue {
 public:
  template <class X>
  requires(nax::detail::Operand<X>) JsonValue(const X& x) {
    if constexpr (!Scalar<X>)
      *this = JsonValue(nax::detail::as_array(x).item());
    else if constexpr (std::is_same_v<X, bool>)
      json_ = x ? "true" : "false";
    else if constexpr (std::unsigned_integral<X>)
      json_ = std::to_string(std::uint64_t{x});
    else if constexpr (std::integral<X>)
      json_ = std::to_string(std::int64_t{x});
    else
      json_ = detail::json_number(static_cast<double>(x));
  }
  JsonValue(const std::string& text) : json_(detail::json_string(text)) {}
  JsonValue(const char* text) : json_(detail::json_string(text)) {}
  // Numbers in the fewest digits that read back as they are; null for those that JSON has not. Bytes of a
  // text that are no UTF-8 become U+FFFD.
  const std::string& str() const { return json_; }

 private:
  std::string json_;
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
#include <charconv>
#include <cmath>

#include "nax/core/json_text.hpp"

NAX_BEGIN
namespace training {
namespace detail {

NAX_ENGINE std::string json_number(double number) {
  if (!std::isfinite(number)) return "null";
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
NAX_ENGINE std::string json_string(const std::string& text) { return nax::detail::json_text(text); }

}  // namespace detail

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
