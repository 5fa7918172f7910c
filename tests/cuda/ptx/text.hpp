#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

// Pieces of PTX text.
namespace ptx {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}
// At separators that no bracket encloses.
inline std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '(' || s[i] == '{' || s[i] == '[') ++depth;
    if (s[i] == ')' || s[i] == '}' || s[i] == ']') --depth;
    if (s[i] == separator && depth == 0) {
      parts.push_back(trimmed(s.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const std::string_view last = trimmed(s.substr(begin)); !last.empty() || !parts.empty())
    parts.push_back(last);
  return parts;
}
inline std::vector<std::string_view> words_of(std::string_view s) {
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < s.size()) {
    while (i < s.size() && is_space(s[i])) ++i;
    const std::size_t begin = i;
    while (i < s.size() && !is_space(s[i])) ++i;
    if (i > begin) words.push_back(s.substr(begin, i - begin));
  }
  return words;
}

// .param .align 8 .b8 name[304]
struct Declared {
  std::string_view name;
  std::size_t align = 1, element = 1, bytes = 0;
  bool open = false;  // name[]
};
Declared read_declaration(std::string_view text);
std::size_t bytes_of_type(std::string_view type);  // without its dot; 0: none
// True where the text is a number of PTX; floating ones as their bits.
bool read_number(std::string_view text, std::uint64_t& value);

}  // namespace ptx
