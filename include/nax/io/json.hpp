#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nax/core/abi.hpp"

// Values of JSON, for files that models come with.
NAX_BEGIN
namespace io {

// A value as it was read. An object's items stand in the file's order, each with its key.
struct Json {
  enum class Kind : unsigned char { null, boolean, number, string, list, object };
  Kind kind = Kind::null;
  double number = 0;                         // of a truth 0 or 1
  std::optional<std::int64_t> integer = {};  // of a number without a fraction and an exponent: all its digits
  std::string text;
  std::vector<std::string> keys;  // of an object's items
  std::vector<Json> items;

  bool is(Kind other) const { return kind == other; }
  // The item of a key; null for what is no object or has none.
  NAX_ENGINE const Json* find(std::string_view key) const;
};

namespace detail {
NAX_ENGINE Json parse_json(const char* function, const std::string& path, std::string_view text);
NAX_ENGINE Json read_json(const char* function, const std::string& path);
}  // namespace detail

// The value of a file of JSON. Throws IoError where it cannot be read, is no JSON, is nested more than 64
// deep, or needs more memory than there is.
inline Json read_json(const std::string& path) { return detail::read_json("read_json", path); }

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/json-inl.hpp"
#endif
