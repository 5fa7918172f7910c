#pragma once

#include <algorithm>
#include <charconv>

#include "nax/core/from_chars.hpp"
#include "nax/io/file.hpp"
#include "nax/io/json.hpp"
#include "nax/io/safetensors_header.hpp"

NAX_BEGIN
namespace io {

NAX_ENGINE const Json* Json::find(std::string_view key) const {
  const auto place = std::find(keys.begin(), keys.end(), key);
  return place == keys.end() ? nullptr : &items[static_cast<std::size_t>(place - keys.begin())];
}

namespace detail {

class JsonReader {
 public:
  JsonReader(const char* function, const std::string& path, std::string_view text)
      : function_(function), path_(path), text_(text) {}

  Json read() {
    if (!is_utf8(text_)) fail("is not UTF-8");
    Json made = value(0);
    space();
    if (at_ != text_.size()) fail("has more than one value");
    return made;
  }

 private:
  [[noreturn, gnu::cold]] void fail(const char* what) const {
    throw IoError(std::string(function_) + ": " + path_ + ": JSON " + what + ": byte " + std::to_string(at_));
  }
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool next(char c) {
    space();
    return take(std::string_view(&c, 1));
  }
  Json value(int depth) {
    if (depth > 64) fail("is nested too deep");
    Json made;
    space();
    if (take("{")) {
      made.kind = Json::Kind::object;
      for (bool first = true; !next('}'); first = false) {
        if (!first && !next(',')) fail("lacks a comma");
        space();
        made.keys.push_back(string());
        if (!next(':')) fail("lacks a colon");
        made.items.push_back(value(depth + 1));
      }
    } else if (take("[")) {
      made.kind = Json::Kind::list;
      for (bool first = true; !next(']'); first = false) {
        if (!first && !next(',')) fail("lacks a comma");
        made.items.push_back(value(depth + 1));
      }
    } else if (at_ < text_.size() && text_[at_] == '"') {
      made.kind = Json::Kind::string;
      made.text = string();
    } else if (take("true")) {
      made.kind = Json::Kind::boolean, made.number = 1;
    } else if (take("false")) {
      made.kind = Json::Kind::boolean;
    } else if (!take("null")) {
      made.kind = Json::Kind::number;
      const char *const begin = text_.data() + at_, *const end =
                                                        begin + std::min<std::size_t>(text_.size() - at_, 64);
      const auto found = nax::detail::number_from_chars(begin, end, made.number);
      if (found.ec != std::errc{}) fail("has no value");
      std::int64_t integer = 0;
      const auto whole = std::from_chars(begin, found.ptr, integer);
      if (whole.ec == std::errc{} && whole.ptr == found.ptr) made.integer = integer;
      at_ += static_cast<std::size_t>(found.ptr - begin);
    }
    return made;
  }
  unsigned hexadecimal() {
    unsigned point = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = at_ < text_.size() ? text_[at_++] : '\0';
      const char low = static_cast<char>(c | 32);
      if (c >= '0' && c <= '9')
        point = point << 4 | static_cast<unsigned>(c - '0');
      else if (low >= 'a' && low <= 'f')
        point = point << 4 | static_cast<unsigned>(low - 'a' + 10);
      else
        fail("has a damaged string");
    }
    return point;
  }
  std::string string() {
    if (!take("\"")) fail("lacks a string");
    std::string made;
    for (;;) {
      if (at_ >= text_.size()) fail("has a string without an end");
      const char c = text_[at_++];
      if (c == '"') return made;
      if (c != '\\') {
        made += c;
        continue;
      }
      constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
      const std::size_t letter = at_ < text_.size() ? letters.find(text_[at_]) : std::string_view::npos;
      if (letter != std::string_view::npos) {
        made += meant[letter], ++at_;
      } else if (take("u")) {
        unsigned point = hexadecimal();
        if (point >= 0xd800 && point < 0xdc00 && take("\\u")) {
          const unsigned low = hexadecimal();
          if (low < 0xdc00 || low >= 0xe000) fail("has a damaged string");
          point = 0x10000 + ((point - 0xd800) << 10 | (low - 0xdc00));
        }
        if (point >= 0xd800 && point < 0xe000) fail("has a damaged string");
        const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
        const unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
        made += static_cast<char>(first[more] | point >> 6 * more);
        for (int k = more; k-- > 0;) made += static_cast<char>(0x80 | (point >> 6 * k & 0x3f));
      } else {
        fail("has a damaged string");
      }
    }
  }

  const char* function_;
  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
};

NAX_ENGINE Json parse_json(const char* function, const std::string& path, std::string_view text) {
  return JsonReader(function, path, text).read();
}
NAX_ENGINE Json read_json(const char* function, const std::string& path) {
  return within_memory(function, path, [&] {
    const Bytes bytes = read_file(function, path);
    return parse_json(function, path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

}  // namespace detail
}  // namespace io
NAX_END
