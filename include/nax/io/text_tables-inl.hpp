#pragma once

#include "nax/io/text_tables.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::vector<std::vector<std::string>> text_fields(const std::string& text,
                                                             const LoadtxtOptions& options) {
  std::vector<std::vector<std::string>> rows;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (options.max_rows >= 0 && static_cast<std::int64_t>(rows.size()) == options.max_rows) break;
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (number++ < options.skiprows) continue;
    if (!options.comments.empty()) line.erase(std::min(line.find(options.comments), line.size()));
    while (!line.empty() && is_blank(line.back())) line.pop_back();
    std::size_t i = 0;
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i == line.size()) continue;
    std::vector<std::string> fields;
    while (i <= line.size()) {
      std::size_t stop = i;
      if (options.delimiter.empty())
        while (stop < line.size() && !is_blank(line[stop])) ++stop;
      else
        stop = std::min(line.find(options.delimiter, i), line.size());
      fields.push_back(line.substr(i, stop - i));
      i = stop + (options.delimiter.empty() ? 1 : options.delimiter.size());
      if (options.delimiter.empty())
        while (i < line.size() && is_blank(line[i])) ++i;
    }
    rows.push_back(std::move(fields));
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

NAX_ENGINE std::string formatted_number(std::string fmt, double x, bool integer) {
  if (integer) fmt.insert(fmt.find_first_not_of("+-# 0123456789.", fmt.find('%') + 1), "ll");
  const auto print = [&](char* to, std::size_t size) {
    return integer ? std::snprintf(to, size, fmt.c_str(), static_cast<long long>(x))
                   : std::snprintf(to, size, fmt.c_str(), x);
  };
  std::string text(static_cast<std::size_t>(print(nullptr, 0)), '\0');
  print(text.data(), text.size() + 1);
  return text;
}

}  // namespace io::detail
NAX_END
