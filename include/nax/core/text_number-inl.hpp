#pragma once

#include <algorithm>
#include <charconv>
#include <string>

#include "nax/core/from_chars.hpp"
#include "nax/core/text_number.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE TextNumber integer_of_text(std::string_view text, bool& negative, std::uint64_t& magnitude,
                                      std::size_t* length) {
  const char *const begin = text.data(), *const end = begin + text.size();
  const bool is_signed = begin != end && (*begin == '-' || *begin == '+');
  negative = is_signed && *begin == '-';
  const auto [after, error] = std::from_chars(begin + is_signed, end, magnitude);
  if (error == std::errc::invalid_argument || (!length && after != end)) return TextNumber::none;
  if (length) *length = static_cast<std::size_t>(after - begin);
  return error == std::errc() ? TextNumber::read : TextNumber::beyond;
}

// Infinity or 0 for a decimal number that T does not hold, whatever the locale is.
template <class T>
T beyond_range(std::string_view text) {
  const bool negative = text[0] == '-';
  const std::size_t e = text.find_first_of("eE");
  std::string_view digits = text.substr(negative, e - negative);
  // The power of ten of its first digit that is not 0.
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return T(negative ? -0.0 : 0.0);
  double power = first < point ? static_cast<double>(point - first) : -static_cast<double>(first - point);
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    const bool down = exponent[0] == '-';
    if (down || exponent[0] == '+') exponent.remove_prefix(1);
    double size = 0;
    for (const char c : exponent) size = std::min(10 * size + (c - '0'), 1e15);
    power += down ? -size : size;
  }
  const T size = power > 0 ? std::numeric_limits<T>::infinity() : T(0);
  return negative ? -size : size;
}

template <class T>
TextNumber float_of_text_as(std::string_view text, T& value, std::size_t* length) {
  const std::string_view all = text;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  text = text.substr(0, text.find('('));  // nan(...) is C's
  const auto [after, error] = number_from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || (!length && after != all.data() + all.size()))
    return TextNumber::none;
  if (length) *length = static_cast<std::size_t>(after - all.data());
  if (error == std::errc::result_out_of_range)  // infinity, or nothing
    value = beyond_range<T>({text.data(), static_cast<std::size_t>(after - text.data())});
  return TextNumber::read;
}
NAX_ENGINE TextNumber float_of_text(std::string_view text, float& value, std::size_t* length) {
  return float_of_text_as(text, value, length);
}
NAX_ENGINE TextNumber float_of_text(std::string_view text, double& value, std::size_t* length) {
  return float_of_text_as(text, value, length);
}

}  // namespace detail
NAX_END
