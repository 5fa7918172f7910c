#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nax/core/abi.hpp"

// Properties of Unicode's code points, as far as tokenizers ask for them.
NAX_BEGIN
namespace data::detail::unicode {

struct PointRange {
  char32_t first, last;
};
// Every step-th of these, and how far it is to the code point that it becomes.
struct PointSteps {
  char32_t first, last, step;
  std::int32_t distance;
};
struct PointParts {
  char32_t point, parts[3];  // 0 behind the last
};

// Decodes UTF-8. Throws ValueError for what is none.
NAX_ENGINE std::u32string code_points(std::string_view text);
NAX_ENGINE void append_utf8(std::string& text, char32_t point);
NAX_ENGINE std::string utf8(std::u32string_view points);
// Bytes that are no UTF-8 become U+FFFD, as many as begin one character together.
NAX_ENGINE std::string repaired(std::string_view bytes);

NAX_ENGINE bool is_letter(char32_t point);
NAX_ENGINE bool is_number(char32_t point);
NAX_ENGINE bool is_punctuation(char32_t point);
NAX_ENGINE bool is_control(char32_t point);  // or has no use that Unicode gives it
NAX_ENGINE bool is_space(char32_t point);
NAX_ENGINE bool is_ideograph(char32_t point);  // of Chinese, as BERT has it

NAX_ENGINE std::u32string lowered(std::u32string_view text);
// The canonical decomposition without nonspacing marks: letters without their accents.
NAX_ENGINE std::u32string without_accents(std::u32string_view text);

}  // namespace data::detail::unicode
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/unicode-inl.hpp"
#endif
