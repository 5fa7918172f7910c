#pragma once

#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <string>
#include <system_error>
#include <type_traits>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// std::from_chars by strtof and strtod: of a number in decimal, without a sign in front but '-'.
template <std::floating_point T>
std::from_chars_result from_chars_by_strtod(const char* first, const char* last, T& value) {
  const std::string text(first, last);
  const std::size_t sign = text[0] == '-';
  const char c = text[sign];
  if ((c >= '0' && c <= '9') || c == '.' || c == 'i' || c == 'I' || c == 'n' || c == 'N') {
    const bool hexadecimal = c == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X');
    char* end = nullptr;
    errno = 0;
    const std::string zero = text.substr(0, sign + 1);
    const char* const from = hexadecimal ? zero.c_str() : text.c_str();  // reads the 0 alone
    T read;
    if constexpr (std::is_same_v<T, float>)
      read = std::strtof(from, &end);
    else
      read = static_cast<T>(std::strtod(from, &end));
    const char* const after = first + (end - from);
    if (errno == ERANGE && (read == 0 || read - read != 0)) return {after, std::errc::result_out_of_range};
    if (end != from) return value = read, std::from_chars_result{after, std::errc()};
  }
  return {first, std::errc::invalid_argument};
}

// std::from_chars, whose form for floating numbers libc++ lacks before its version 20.
template <class T>
std::from_chars_result number_from_chars(const char* first, const char* last, T& value) {
  if constexpr (requires { std::from_chars(first, last, value); })
    return std::from_chars(first, last, value);
  else
    return from_chars_by_strtod(first, last, value);
}

}  // namespace detail
NAX_END
