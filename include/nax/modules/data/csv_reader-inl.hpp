#pragma once

#include "nax/core/text_number.hpp"
#include "nax/modules/data/csv_reader.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE CsvReader::CsvReader(const std::string& path, const io::Bytes& bytes, const CsvOptions& options)
    : path_(path),
      at_(reinterpret_cast<const char*>(bytes.data())),
      end_(at_ + bytes.size()),
      options_(options) {
  const char d = options.delimiter;
  if (d == '"' || d == '\n' || d == '\r' || d == options.comment || d == options.decimal)
    throw ValueError("from_csv: this delimiter has another meaning");
  if (end_ - at_ >= 3 && std::memcmp(at_, "\xef\xbb\xbf", 3) == 0) at_ += 3;  // Windows marks UTF-8
  for (std::int64_t skipped = 0; skipped < options.skiprows && at_ != end_; ++skipped) {
    while (!at_line_end()) ++at_;
    if (at_ != end_) pass_line_end();
  }
  first_ = read_line();
  width_ = fields_.size();
  if (!options.header) return;
  if (!first_) fail("has no header", line_);
  names_.assign(fields_.begin(), fields_.end());
  first_ = false;
}

NAX_ENGINE bool CsvReader::next() {
  if (first_) {
    first_ = false;
    return true;
  }
  if (!read_line()) return false;
  if (fields_.size() != width_)
    fail("has " + std::to_string(fields_.size()) + " fields where the first line has " +
             std::to_string(width_),
         begun_);
  return true;
}

NAX_ENGINE bool CsvReader::read_line() {
  fields_.clear(), unquoted_.clear();
  const auto pass_comment = [&] {
    if (at_comment())
      while (!at_line_end()) ++at_;
  };
  while (at_ != end_ && (at_line_end() || at_comment())) {
    pass_comment();
    if (at_ != end_) pass_line_end();
  }
  if (at_ == end_) return false;
  for (begun_ = line_;; ++at_) {
    if (at_ != end_ && *at_ == '"') {
      fields_.push_back(quoted());
      if (!at_line_end() && !at_comment() && *at_ != options_.delimiter)
        fail("has text behind a quoted field", line_);
    } else {
      const char* const begin = at_;
      while (!at_line_end() && !at_comment() && *at_ != options_.delimiter) ++at_;
      fields_.emplace_back(begin, static_cast<std::size_t>(at_ - begin));
    }
    pass_comment();
    if (at_line_end()) break;
  }
  if (at_ != end_) pass_line_end();
  return true;
}

NAX_ENGINE std::string_view CsvReader::quoted() {
  const std::int64_t opened = line_;
  const char* begin = ++at_;
  std::string* text = nullptr;  // where it is not as it stands
  for (;; ++at_) {
    if (at_ == end_) fail("has a quoted field without an end", opened);
    if (*at_ == '\n' || (*at_ == '\r' && !(end_ - at_ > 1 && at_[1] == '\n'))) ++line_;
    if (*at_ != '"') continue;
    const bool twice = end_ - at_ > 1 && at_[1] == '"';
    if (twice || text) {
      if (!text) text = &unquoted_.emplace_back();
      text->append(begin, static_cast<std::size_t>(at_ - begin) + twice);
    }
    if (!twice) break;
    begin = ++at_ + 1;
  }
  const std::string_view field =
      text ? *text : std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  ++at_;
  return field;
}

NAX_ENGINE std::size_t CsvReader::find(const CsvColumn& column) const {
  if (column.name.empty() && column.number >= 0) {
    if (static_cast<std::size_t>(column.number) >= width_)
      io::detail::fail("from_csv", path_,
                       "has no column " + std::to_string(column.number) + ", only " + std::to_string(width_));
    return static_cast<std::size_t>(column.number);
  }
  const auto found = std::find(names_.begin(), names_.end(), column.name);
  if (found == names_.end())
    io::detail::fail("from_csv", path_,
                     "has no column '" + column.name + (options_.header ? "'" : "': .header is false"));
  if (std::find(found + 1, names_.end(), column.name) != names_.end())
    io::detail::fail("from_csv", path_, "has two columns '" + column.name + "'; name them by number");
  return static_cast<std::size_t>(found - names_.begin());
}

NAX_ENGINE std::vector<std::size_t> CsvReader::wanted() const {
  std::vector<std::size_t> columns;
  for (const CsvColumn& column : options_.columns) columns.push_back(find(column));
  if (options_.columns.empty())
    for (std::size_t i = 0; i < width_; ++i) columns.push_back(i);
  return columns;
}

// All of a field as a number; false where it is none that T holds.
template <class T>
bool number_from(std::string_view text, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = text == "true" || text == "True" || text == "TRUE";
    if (value || text == "false" || text == "False" || text == "FALSE") return true;
  }
  return nax::detail::number_of_text(text, value) == nax::detail::TextNumber::read;
}

template <class T>
bool append_as(std::string_view text, bool is_missing, std::optional<double> missing, std::vector<char>& to) {
  T value{};
  if (is_floating_v<T> && is_missing && !missing) missing = std::numeric_limits<double>::quiet_NaN();
  if ((is_missing || text.empty()) && missing) {
    if (!nax::detail::holds_number<T>(*missing)) return false;
    value = static_cast<T>(*missing);
  } else if (!number_from(text, value)) {
    return false;
  }
  const char* const bytes = reinterpret_cast<const char*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
  return true;
}

NAX_ENGINE void CsvReader::append_number(std::size_t column, DType dtype, std::vector<char>& to) const {
  std::string_view text = nax::detail::without_blanks(fields_[column]);
  const bool is_missing = std::find(options_.na.begin(), options_.na.end(), text) != options_.na.end();
  std::string with_point;
  if (options_.decimal != '.' && !is_missing) {
    with_point = text;
    for (char& c : with_point) c = c == options_.decimal ? '.' : c == '.' ? options_.decimal : c;
    text = with_point;
  }
  const bool good = [&] {
    switch (dtype) {
      case DType::boolean:
        return append_as<bool>(text, is_missing, options_.missing, to);
      case DType::int8:
        return append_as<std::int8_t>(text, is_missing, options_.missing, to);
      case DType::int16:
        return append_as<std::int16_t>(text, is_missing, options_.missing, to);
      case DType::int32:
        return append_as<std::int32_t>(text, is_missing, options_.missing, to);
      case DType::int64:
        return append_as<std::int64_t>(text, is_missing, options_.missing, to);
      case DType::uint8:
        return append_as<std::uint8_t>(text, is_missing, options_.missing, to);
      case DType::uint16:
        return append_as<std::uint16_t>(text, is_missing, options_.missing, to);
      case DType::uint32:
        return append_as<std::uint32_t>(text, is_missing, options_.missing, to);
      case DType::uint64:
        return append_as<std::uint64_t>(text, is_missing, options_.missing, to);
      case DType::float16:
        return append_as<half>(text, is_missing, options_.missing, to);
      case DType::bfloat16:
        return append_as<bfloat16>(text, is_missing, options_.missing, to);
      case DType::float32:
        return append_as<float>(text, is_missing, options_.missing, to);
      case DType::float64:
        return append_as<double>(text, is_missing, options_.missing, to);
      default:
        return false;
    }
  }();
  if (good) return;
  const std::string name =
      column < names_.size() ? "'" + names_[column].substr(0, 200) + "'" : std::to_string(column);
  fail("has '" + std::string(nax::detail::without_blanks(fields_[column]).substr(0, 40)) +
           "' where a number (" + std::string(dtype_name(dtype)) + ") should be, in column " + name,
       begun_);
}

NAX_ENGINE void CsvReader::fail(const std::string& what, std::int64_t line) const {
  io::detail::fail("from_csv", path_, what + ", in line " + std::to_string(line));
}

NAX_ENGINE std::vector<std::string> csv_names(const std::string& path, const io::Bytes& bytes,
                                              const CsvOptions& options) {
  return CsvReader(path, bytes, options).names();
}

inline ArrayBase array_of_bytes(const std::vector<char>& bytes, DType dtype, const Shape& shape) {
  ArrayBase a = allocate_on_host(dtype, Frame{shape, {}});
  if (!bytes.empty()) std::memcpy(raw_data(a), bytes.data(), bytes.size());
  return a;
}

NAX_ENGINE ArrayBase read_csv_rows(const std::string& path, const io::Bytes& bytes, const CsvOptions& options,
                                   DType dtype) {
  CsvReader in(path, bytes, options);
  const std::vector<std::size_t> columns = in.wanted();
  std::vector<char> numbers;
  std::int64_t rows = 0;
  for (; in.next(); ++rows)
    for (const std::size_t column : columns) in.append_number(column, dtype, numbers);
  return array_of_bytes(numbers, dtype, Shape{rows, static_cast<std::int64_t>(columns.size())});
}

NAX_ENGINE std::vector<ArrayBase> read_csv_columns(const std::string& path, const io::Bytes& bytes,
                                                   const CsvOptions& options,
                                                   const std::vector<std::string>& names,
                                                   const std::vector<DType>& dtypes) {
  CsvReader in(path, bytes, options);
  std::vector<std::size_t> columns = in.wanted();
  if (!options.columns.empty() && columns.size() != names.size())
    raise<ValueError>(
        {"from_csv: .columns has ", columns.size(), " columns for a tree of ", names.size(), " arrays"});
  if (options.columns.empty()) {
    columns.clear();
    for (std::size_t i = 0; i < names.size(); ++i)
      columns.push_back(in.find(options.header && !names[i].empty() ? CsvColumn(names[i])
                                                                    : CsvColumn(static_cast<int>(i))));
  }
  std::vector<std::vector<char>> numbers(columns.size());
  std::int64_t rows = 0;
  for (; in.next(); ++rows)
    for (std::size_t i = 0; i < columns.size(); ++i) in.append_number(columns[i], dtypes[i], numbers[i]);
  std::vector<ArrayBase> arrays;
  for (std::size_t i = 0; i < columns.size(); ++i)
    arrays.push_back(array_of_bytes(numbers[i], dtypes[i], Shape{rows}));
  return arrays;
}

NAX_ENGINE std::vector<std::vector<std::string>> read_csv_text(const std::string& path,
                                                               const io::Bytes& bytes,
                                                               const CsvOptions& options) {
  CsvReader in(path, bytes, options);
  const std::vector<std::size_t> columns = in.wanted();
  std::vector<std::vector<std::string>> rows;
  while (in.next()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::size_t column : columns) row.emplace_back(in.fields()[column]);
  }
  return rows;
}

}  // namespace data::detail
NAX_END
