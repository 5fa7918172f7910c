#pragma once

#include <charconv>
#include <cstdlib>
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
    value = static_cast<T>(std::strtod(std::string(text.data(), after).c_str(), nullptr));
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
