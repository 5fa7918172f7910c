#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "nax/core/dtype.hpp"
#include "nax/core/shape.hpp"
#include "nax/io/file.hpp"

// The header of a .safetensors file: its length in eight bytes, then a JSON object from names to dtypes,
// shapes and the places of their bytes. A header is not believed before it has been checked against the whole
// file.
NAX_BEGIN
namespace io::detail {

struct TensorInfo {
  std::string dtype;          // by the format's name, also one that nax has not
  std::optional<DType> held;  // by nax
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // in the file
};

struct SafetensorsHeader {
  std::map<std::string, TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

// Text from a file as a message shows it.
NAX_ENGINE std::string shown(std::string_view text);

// Throws IoError unless the header is UTF-8 and JSON, has only the format's keys, each once, and gives each
// byte of the file to exactly one array. (The library of the format's authors refuses overlaps and holes as
// well.)
NAX_ENGINE SafetensorsHeader read_safetensors_header(const Source& source);

// The format's name for a dtype; null: it has none.
constexpr const char* safetensors_dtype(DType dtype) {
  constexpr const char* names[] = {"BOOL", "I8",  "I16",  "I32", "I64", "U8",  "U16",  "U32",
                                   "U64",  "F16", "BF16", "F32", "F64", "C64", nullptr};
  static_assert(std::size(names) == dtype_count);
  return names[static_cast<std::size_t>(dtype)];
}

// A string as JSON writes it, escaped as the library of the format's authors does.
NAX_ENGINE std::string json_string(std::string_view text);
NAX_ENGINE bool is_utf8(std::string_view text);

// The longest header that the format allows.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

// Reads the JSON that such headers consist of: objects of two levels, strings, and lists of whole numbers.
// There is nothing to nest, so that no header makes it recurse.
class SafetensorsJson {
 public:
  SafetensorsJson(const Source& source, std::string_view text) : source_(source), text_(text) {}

  SafetensorsHeader read();
  // Of a `.safetensors.index.json`: the file of each array.
  std::map<std::string, std::string> read_weight_map();

 private:
  [[noreturn, gnu::cold]] void damaged() const {
    source_.fail("has a header that is damaged at its character " + std::to_string(at_));
  }
  // The next character that is no space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged();
  }
  // Calls member(key) for each key of an object; it reads the value.
  template <class F>
  void object(const F& member) {
    expect('{');
    if (accept('}')) return;
    do {
      const std::string key = string();
      expect(':');
      member(key);
    } while (accept(','));
    expect('}');
  }
  // Calls item(number) for each number of a list.
  template <class F>
  void numbers(const F& item) {
    expect('[');
    if (accept(']')) return;
    do item(number());
    while (accept(','));
    expect(']');
  }
  std::string string();
  void skip_value();
  void escaped(std::string& out);
  std::uint32_t hex_digits();
  std::uint64_t number();
  TensorInfo tensor(const std::string& name);

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/safetensors_header-inl.hpp"
#endif
