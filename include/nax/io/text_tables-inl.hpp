#pragma once

#include <clocale>
#include <cmath>
#include <cstdio>

#include "nax/io/text_tables.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::vector<std::vector<std::string>> text_fields(const std::string& text,
                                                             const LoadtxtOptions& options) {
  std::vector<std::vector<std::string>> rows;
  const std::string& delimiter = options.delimiter;
  const std::string_view blanks = " \t";
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (options.max_rows >= 0 && static_cast<std::int64_t>(rows.size()) == options.max_rows) break;
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    if (number++ < options.skiprows) continue;
    if (!options.comments.empty()) line.erase(std::min(line.find(options.comments), line.size()));
    std::vector<std::string> fields;
    if (delimiter.empty()) {
      for (std::size_t i = line.find_first_not_of(blanks), stop; i < line.size();
           i = line.find_first_not_of(blanks, stop)) {
        stop = std::min(line.find_first_of(blanks, i), line.size());
        fields.push_back(line.substr(i, stop - i));
      }
    } else if (line.find_first_not_of(blanks) < line.size() || line.find(delimiter) < line.size()) {
      for (std::size_t i = 0, stop; i <= line.size(); i = stop + delimiter.size()) {
        stop = std::min(line.find(delimiter, i), line.size());
        fields.push_back(line.substr(i, stop - i));
      }
    }
    if (!fields.empty()) rows.push_back(std::move(fields));
  }
  return rows;
}

NAX_ENGINE Shape text_shape(std::int64_t rows, std::int64_t columns, int ndmin) {
  if (ndmin >= 2) return {rows, columns};
  if (rows == 1 && columns == 1 && ndmin == 0) return {};
  if (rows == 1) return {columns};
  if (columns == 1) return {rows};
  return {rows, columns};
}

NAX_ENGINE bool is_number_format(const std::string& fmt, bool& integer) {
  std::size_t at = fmt.find('%');
  if (at == std::string::npos) return false;
  at = fmt.find_first_not_of("+-# 0123456789.", at + 1);
  if (at == std::string::npos || fmt.find('%', at) != std::string::npos) return false;
  integer = fmt[at] == 'd' || fmt[at] == 'i';
  return integer || std::string_view("eEfFgG").find(fmt[at]) != std::string_view::npos;
}

template <class N>
std::string printed(const std::string& fmt, N x) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, fmt.c_str(), x)), '\0');
  std::snprintf(text.data(), text.size() + 1, fmt.c_str(), x);
  return text;
}

// The number has a point, whatever the locale is.
inline std::string printed_float(const std::string& fmt, double x) {
  const std::size_t begin = fmt.find('%'), end = fmt.find_first_of("eEfFgG", begin) + 1;
  std::string number = printed(fmt.substr(begin, end - begin), x);
  const std::string_view point = std::localeconv()->decimal_point;
  if (const std::size_t at = number.find(point); at < number.size()) number.replace(at, point.size(), ".");
  return fmt.substr(0, begin) + number + fmt.substr(end);
}

NAX_ENGINE std::string formatted_number(std::string fmt, double x, bool integer) {
  if (!integer) return printed_float(fmt, x);
  if (!std::isfinite(x))
    raise<ValueError>(
        {"savetxt: cannot convert float ", x == x ? "infinity" : "NaN", " to integer, fmt '", fmt, "'"});
  if (nax::detail::holds_number<std::int64_t>(x)) {
    const auto whole = static_cast<std::int64_t>(x);
    return formatted_integer(std::move(fmt), static_cast<std::uint64_t>(whole), whole < 0);
  }
  fmt.replace(fmt.find_first_not_of("+-# 0123456789.", fmt.find('%') + 1), 1, ".0f");
  return printed_float(fmt, x);
}

NAX_ENGINE std::string formatted_integer(std::string fmt, std::uint64_t x, bool negative) {
  const bool is_signed = negative || x <= INT64_MAX;
  fmt.replace(fmt.find_first_not_of("+-# 0123456789.", fmt.find('%') + 1), 1, is_signed ? "lld" : "llu");
  return is_signed ? printed(fmt, static_cast<long long>(x))
                   : printed(fmt, static_cast<unsigned long long>(x));
}

}  // namespace io::detail
NAX_END
