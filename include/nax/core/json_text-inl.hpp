#pragma once

#include <algorithm>

#include "nax/core/json_text.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const int c = byte(0);
  const std::size_t length = text.empty()   ? 0
                             : c < 0x80     ? 1
                             : c >> 5 == 6  ? 2
                             : c >> 4 == 14 ? 3
                             : c >> 3 == 30 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2) return 0;
  const bool overlong =
      (c == 0xc0 || c == 0xc1) || (c == 0xe0 && byte(1) < 0xa0) || (c == 0xf0 && byte(1) < 0x90);
  const bool beyond = (c == 0xed && byte(1) > 0x9f) || c > 0xf4 || (c == 0xf4 && byte(1) > 0x8f);
  return overlong || beyond ? 0 : length;
}

NAX_ENGINE std::string json_text(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (std::size_t length; !text.empty(); text.remove_prefix(std::max<std::size_t>(1, length))) {
    length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c < 0x20) {
      out += "\\u00", out += digits[c >> 4], out += digits[c & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(0, length);
    }
  }
  return out + '"';
}

}  // namespace detail
NAX_END
