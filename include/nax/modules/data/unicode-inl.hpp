#pragma once

#include <algorithm>
#include <iterator>

#include "nax/io/safetensors_header.hpp"
#include "nax/modules/data/unicode_tables-inl.hpp"

NAX_BEGIN
namespace data::detail::unicode {

NAX_ENGINE std::u32string code_points(std::string_view text) {
  if (!io::detail::is_utf8(text)) raise<ValueError>({"Tokenizer: text that is not UTF-8"});
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(i);
    const std::size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    char32_t point = more == 0 ? first : first & (0x3fu >> more);
    for (std::size_t k = 1; k <= more; ++k) point = point << 6 | (byte(i + k) & 0x3fu);
    points += point;
    i += more + 1;
  }
  return points;
}

NAX_ENGINE void append_utf8(std::string& text, char32_t point) {
  const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const unsigned begin[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(begin[more] | point >> 6 * more);
  for (int k = more; k-- > 0;) text += static_cast<char>(0x80 | (point >> 6 * k & 0x3f));
}

NAX_ENGINE std::string utf8(std::u32string_view points) {
  std::string text;
  for (const char32_t point : points) append_utf8(text, point);
  return text;
}

NAX_ENGINE std::string repaired(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
    };
    const unsigned first = byte(i);
    const std::size_t n = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    // The second byte rules out what is too long, surrogates and what is too great.
    const unsigned least = first == 0xe0   ? 0xa0
                           : first == 0xf0 ? 0x90
                                           : 0x80,
                   most = first == 0xed   ? 0x9f
                          : first == 0xf4 ? 0x8f
                                          : 0xbf;
    std::size_t good = 1;
    while (good < n && byte(i + good) >= (good == 1 ? least : 0x80) &&
           byte(i + good) <= (good == 1 ? most : 0xbf))
      ++good;
    text += good == n ? bytes.substr(i, n) : std::string_view("\xef\xbf\xbd");
    i += good;
  }
  return text;
}

template <std::size_t n>
bool is_in(const PointRange (&ranges)[n], char32_t point) {
  const PointRange* const next =
      std::upper_bound(std::begin(ranges), std::end(ranges), point,
                       [](char32_t p, const PointRange& r) { return p < r.first; });
  return next != ranges && point <= next[-1].last;
}
// The code point that it becomes, or itself.
template <std::size_t n>
char32_t moved(const PointSteps (&steps)[n], char32_t point) {
  const PointSteps* const next = std::upper_bound(
      std::begin(steps), std::end(steps), point, [](char32_t p, const PointSteps& s) { return p < s.first; });
  if (next == steps || point > next[-1].last || (point - next[-1].first) % next[-1].step != 0) return point;
  return static_cast<char32_t>(static_cast<std::int32_t>(point) + next[-1].distance);
}

NAX_ENGINE bool is_letter(char32_t point) { return is_in(letters, point); }
NAX_ENGINE bool is_number(char32_t point) { return is_in(numbers, point); }
NAX_ENGINE bool is_punctuation(char32_t point) { return is_in(punctuation, point); }
NAX_ENGINE bool is_control(char32_t point) { return is_in(controls, point); }
NAX_ENGINE bool is_space(char32_t point) {
  return (point >= 9 && point <= 13) || point == ' ' || point == 0x85 || point == 0xa0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 || point == 0x202f ||
         point == 0x205f || point == 0x3000;
}
NAX_ENGINE bool is_ideograph(char32_t point) {
  constexpr PointRange all[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                                {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return is_in(all, point);
}

NAX_ENGINE std::u32string lowered(std::u32string_view text) {
  std::u32string made;
  for (const char32_t point : text) {
    if (point == 0x130)
      made += U"i\u0307";  // the one letter that becomes two
    else
      made += moved(lower_steps, point);
  }
  return made;
}

NAX_ENGINE std::u32string without_accents(std::u32string_view text) {
  std::u32string made;
  for (const char32_t point : text) {
    if (point >= 0xac00 && point < 0xd7a4) {  // Korean syllables are numbered by their letters
      const char32_t number = point - 0xac00, last = number % 28;
      made += static_cast<char32_t>(0x1100 + number / 588);
      made += static_cast<char32_t>(0x1161 + number % 588 / 28);
      if (last != 0) made += static_cast<char32_t>(0x11a7 + last);
      continue;
    }
    const PointParts* const parts = std::find_if(std::begin(stripped_parts), std::end(stripped_parts),
                                                 [&](const PointParts& p) { return p.point == point; });
    if (parts != std::end(stripped_parts)) {
      for (const char32_t part : parts->parts)
        if (part != 0) made += part;
    } else if (!is_in(marks, point)) {
      made += moved(stripped_steps, point);
    }
  }
  return made;
}

}  // namespace data::detail::unicode
NAX_END
