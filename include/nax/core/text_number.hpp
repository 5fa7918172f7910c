#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "nax/core/half.hpp"

// Numbers out of text, for all that read tables and lists: decimal, whatever the locale is, and never
// wrapped.
NAX_BEGIN
namespace detail {

enum class TextNumber : std::uint8_t { read, none, beyond };  // beyond: outside the type's range

// The integer or float that `text` is, or, where `length` is given, begins with (so many characters). Floats
// are rounded once; beyond their range they are infinite, or 0.
NAX_ENGINE TextNumber integer_of_text(std::string_view text, bool& negative, std::uint64_t& magnitude,
                                      std::size_t* length);
NAX_ENGINE TextNumber float_of_text(std::string_view text, float& value, std::size_t* length);
NAX_ENGINE TextNumber float_of_text(std::string_view text, double& value, std::size_t* length);

template <class T>
TextNumber number_of_text(std::string_view text, T& value, std::size_t* length = nullptr) {
  if constexpr (std::is_integral_v<T>) {
    bool negative = false;
    std::uint64_t magnitude = 0;
    const TextNumber found = integer_of_text(text, negative, magnitude, length);
    if (found != TextNumber::read) return found;
    const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (magnitude > (!negative ? most : std::is_signed_v<T> ? most + 1 : 0)) return TextNumber::beyond;
    value = static_cast<T>(negative ? 0 - magnitude : magnitude);
    return found;
  } else if constexpr (std::is_floating_point_v<T>) {
    return float_of_text(text, value, length);
  } else {
    double wide = 0;
    const TextNumber found = float_of_text(text, wide, length);
    if (found == TextNumber::read) value = static_cast<T>(wide);
    return found;
  }
}

// Whether T holds x, truncated where T is an integer.
template <class T>
bool holds_number(double x) {
  if constexpr (!std::is_integral_v<T>) return true;
  const double whole = std::trunc(x), most = static_cast<double>(std::numeric_limits<T>::max());
  return whole >= static_cast<double>(std::numeric_limits<T>::lowest()) && whole < most + 1;
}

// Text without the blanks around it.
inline std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/text_number-inl.hpp"
#endif
