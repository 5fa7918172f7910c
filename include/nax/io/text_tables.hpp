#pragma once

#include <string>
#include <vector>

#include "nax/core/text_number.hpp"
#include "nax/io/save.hpp"
#include "nax/io/unpack.hpp"
#include "nax/numpy/indexing/index_items.hpp"
#include "nax/numpy/views/transpose.hpp"

// Tables of numbers as text: loadtxt, genfromtxt, savetxt.
NAX_BEGIN

struct LoadtxtOptions {
  std::string comments = "#", delimiter = "";  // none: white space
  std::int64_t skiprows = 0;
  std::vector<int> usecols = {};  // all when empty; negative ones count from the last
  bool unpack = false;            // transposed
  int ndmin = 0;
  std::int64_t max_rows = -1;
};
namespace io::detail {

// The fields of each line that has any.
NAX_ENGINE std::vector<std::vector<std::string>> text_fields(const std::string& text,
                                                             const LoadtxtOptions& options);

// Extents of 1 let go down to `ndmin` axes.
NAX_ENGINE Shape text_shape(std::int64_t rows, std::int64_t columns, int ndmin);

// One field as a number; `fallback` where it is empty or no number and there is one.
template <class T>
T number_of_field(const char* function, const std::string& path, const std::string& field, std::size_t row,
                  std::size_t column, const T* fallback) {
  using Read = std::conditional_t<std::is_same_v<T, bool>, std::int64_t, T>;  // 2 is true
  Read value{};
  const auto found = nax::detail::number_of_text(nax::detail::without_blanks(field), value);
  if (found == nax::detail::TextNumber::read) return static_cast<T>(value);
  if (fallback && found == nax::detail::TextNumber::none) return *fallback;
  const std::string what = found == nax::detail::TextNumber::none
                               ? "' where a number should be"
                               : "', which " + std::string(dtype_name(dtype_of<T>)) + " does not hold";
  fail(function, path,
       "has '" + field.substr(0, 40) + what + ", row " + std::to_string(row) + ", column " +
           std::to_string(column + 1));
}

template <class T>
Array<T> read_table(const char* function, const std::string& path, const LoadtxtOptions& options,
                    const T* fallback) {
  static_assert(!is_complex_v<T>, "loadtxt: complex numbers are not read");
  const Bytes bytes = read_unpacked(function, path);
  const auto rows = text_fields(std::string(bytes.begin(), bytes.end()), options);
  std::vector<T> out;
  std::size_t columns = rows.empty() ? 1 : rows[0].size();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& row = rows[r];
    if (row.size() != columns && options.usecols.empty())
      fail(function, path,
           "changes its number of columns from " + std::to_string(columns) + " to " +
               std::to_string(row.size()) + " in row " + std::to_string(r + 1));
    const auto take = [&](std::size_t column) {
      out.push_back(number_of_field<T>(function, path, row[column], r + 1, column, fallback));
    };
    if (options.usecols.empty())
      for (std::size_t column = 0; column < row.size(); ++column) take(column);
    for (const int c : options.usecols) {
      const std::int64_t column = c < 0 ? c + static_cast<std::int64_t>(row.size()) : c;
      if (column < 0 || column >= static_cast<std::int64_t>(row.size()))
        fail(function, path, "has no column " + std::to_string(c) + " in row " + std::to_string(r + 1));
      take(static_cast<std::size_t>(column));
    }
  }
  if (!options.usecols.empty()) columns = options.usecols.size();
  const Array<T> table = nax::detail::typed<T>(nax::detail::placed(nax::detail::host_numbers<T>(out)));
  const Shape shape =
      text_shape(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns), options.ndmin);
  const Array<T> shaped = table.reshape(shape);
  return options.unpack && shaped.ndim() == 2 ? shaped.T() : shaped;
}

}  // namespace io::detail

// The numbers of a table of text: rows are lines, columns are set apart by white space or by .delimiter. 2-d,
// 1-d for one row or one column, 0-d for one number, unless .ndmin asks for more. Throws IoError for what is
// no number or one that T does not hold, and for rows of different lengths.
template <Dtype T = float>
Array<T> loadtxt(const std::string& path, const LoadtxtOptions& options = {}) {
  return io::detail::within_memory(
      "loadtxt", path, [&] { return io::detail::read_table<T>("loadtxt", path, options, nullptr); });
}

struct GenfromtxtOptions {
  std::string comments = "#", delimiter = "";
  std::int64_t skip_header = 0;
  std::optional<double> filling_values =
      {};  // for fields that are empty or no numbers; NaN, or -1 for signed integers
  std::vector<int> usecols = {};
  bool unpack = false;
  std::int64_t max_rows = -1;
};
// As loadtxt, for tables with holes. Throws IoError where the file cannot be read or rows differ in length.
template <Dtype T = float>
Array<T> genfromtxt(const std::string& path, const GenfromtxtOptions& options = {}) {
  const double missing =
      options.filling_values.value_or(is_inexact_v<T> ? std::numeric_limits<double>::quiet_NaN() : -1);
  const bool fits = nax::detail::holds_number<T>(missing);
  if (!fits && options.filling_values)
    raise<ValueError>({"genfromtxt: ", dtype_name(dtype_of<T>), " does not hold filling_values: ", missing});
  const T fill = fits ? static_cast<T>(missing) : T{};
  return io::detail::within_memory("genfromtxt", path, [&] {
    return io::detail::read_table<T>("genfromtxt", path,
                                     {.comments = options.comments,
                                      .delimiter = options.delimiter,
                                      .skiprows = options.skip_header,
                                      .usecols = options.usecols,
                                      .unpack = options.unpack,
                                      .max_rows = options.max_rows},
                                     fits ? &fill : nullptr);
  });
}

struct SavetxtOptions {
  std::string fmt = "%.18e";  // printf's form of one number
  std::string delimiter = " ", newline = "\n", header = "", footer = "", comments = "# ";
};
namespace io::detail {

NAX_ENGINE bool is_number_format(const std::string& fmt, bool& integer);
NAX_ENGINE std::string formatted_number(std::string fmt, double x, bool integer);
NAX_ENGINE std::string formatted_integer(std::string fmt, std::uint64_t x, bool negative);

}  // namespace io::detail

// Writes a 1-d array (one number a line) or a 2-d one (one row a line) as text. Throws ValueError for a .fmt
// that is not one number's and for NaN and infinity as integers (%d), IoError.
template <detail::ArrayLike X>
void savetxt(const std::string& path, const X& x_, const SavetxtOptions& options = {}) {
  using T = typename X::value_type;
  static_assert(!is_complex_v<T>, "savetxt: complex numbers have no form");
  Array<T> x = detail::typed<T>(io::detail::array_of("the array", x_));
  bool integer = false;
  if (!io::detail::is_number_format(options.fmt, integer))
    raise<ValueError>({"savetxt: fmt must have one % format of a number, got '", options.fmt, "'"});
  if (x.ndim() != 1 && x.ndim() != 2)
    raise<ValueError>({"savetxt: expected 1D or 2D array, shape ", x.shape()});
  const std::int64_t rows = x.shape(0), columns = x.ndim() == 2 ? x.shape(1) : 1;
  const std::vector<T> numbers = x.to_vector();
  std::string text;
  const auto remark = [&](const std::string& words) {
    if (words.empty()) return;
    text += options.comments;
    for (const char c : words) {
      text += c;
      if (c == '\n') text += options.comments;
    }
    text += options.newline;
  };
  remark(options.header);
  const auto number = [&](T value) {
    if constexpr (std::is_integral_v<T>)
      if (integer)
        return io::detail::formatted_integer(options.fmt, static_cast<std::uint64_t>(value),
                                             std::is_signed_v<T> && static_cast<std::int64_t>(value) < 0);
    return io::detail::formatted_number(options.fmt, static_cast<double>(value), integer);
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column)
      text += (column > 0 ? options.delimiter : "") +
              number(T(numbers[static_cast<std::size_t>(row * columns + column)]));
    text += options.newline;
  }
  remark(options.footer);
  io::detail::NewFile file("savetxt", path);
  file.write(text.data(), text.size());
  file.commit();
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/text_tables-inl.hpp"
#endif
