#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/io/file.hpp"
#include "nax/modules/data/trees.hpp"

// Tables of comma-separated values as columns of numbers.
NAX_BEGIN
namespace data {

// A column of a table by its name, or by its number from 0 on.
struct CsvColumn {
  CsvColumn(const char* of) : name(of) {}
  CsvColumn(std::string of) : name(std::move(of)) {}
  CsvColumn(int of) : number(of) {}
  std::string name = "";
  int number = -1;
};

struct CsvOptions {
  bool header = true;                   // the first line holds the names of the columns
  std::vector<CsvColumn> columns = {};  // those wanted, in this order; none: all
  char delimiter = ',';                 // between fields
  std::optional<double> missing = {};   // what an empty field is; without, it is an error
  // Words that stand for a missing number: {"NA", "null"}; .missing, or NaN where there is none and the
  // column is of floats.
  std::vector<std::string> na = {};
  char comment = '\0';        // from this on a line is left out: '#'
  std::int64_t skiprows = 0;  // lines before the header, or the first row
  char decimal = '.';         // ',' of 3,14
};

namespace detail {

// The lines of a table, one after another; they end with \n, \r\n or \r. A field may stand in double quotes;
// delimiters and ends of lines belong to it there, and a double quote is two. Lines without a character are
// passed over.
class CsvReader {
 public:
  // The bytes must outlive this. Reads the header, where there is one.
  CsvReader(const std::string& path, const io::Bytes& bytes, const CsvOptions& options);

  // The next line; false at the end. Throws IoError where it has more or fewer fields than the first.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }

  // How many fields all lines have; 0 for an empty file.
  std::size_t width() const { return width_; }
  std::size_t find(const CsvColumn& column) const;
  // Of the columns; empty without a header.
  const std::vector<std::string>& names() const { return names_; }
  // The columns that the options ask for.
  std::vector<std::size_t> wanted() const;
  // One field as a number, appended.
  void append_number(std::size_t column, DType dtype, std::vector<char>& to) const;

 private:
  bool read_line();
  bool at_comment() const { return options_.comment && at_ != end_ && *at_ == options_.comment; }
  bool at_line_end() const { return at_ == end_ || *at_ == '\n' || *at_ == '\r'; }
  void pass_line_end() {
    if (*at_ == '\r' && end_ - at_ > 1 && at_[1] == '\n') ++at_;
    ++at_, ++line_;
  }
  std::string_view quoted();
  [[noreturn, gnu::cold]] void fail(const std::string& what, std::int64_t line) const;

  std::string path_;
  const char *at_, *end_;
  const CsvOptions& options_;
  std::int64_t line_ = 1, begun_ = 1;  // that we are in, and that the fields began in
  std::size_t width_ = 0;
  bool first_ = false;  // the fields are those of the first line, which is no header
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;
};

// The header's names.
NAX_ENGINE std::vector<std::string> csv_names(const std::string& path, const io::Bytes& bytes,
                                              const CsvOptions& options);

// The table as rows of numbers of one type.
NAX_ENGINE ArrayBase read_csv_rows(const std::string& path, const io::Bytes& bytes, const CsvOptions& options,
                                   DType dtype);
// As columns: those of the options, of these names (where there is a header; an empty one is that of its
// place), or in order.
NAX_ENGINE std::vector<ArrayBase> read_csv_columns(const std::string& path, const io::Bytes& bytes,
                                                   const CsvOptions& options,
                                                   const std::vector<std::string>& names,
                                                   const std::vector<DType>& dtypes);
// As text.
NAX_ENGINE std::vector<std::vector<std::string>> read_csv_text(const std::string& path,
                                                               const io::Bytes& bytes,
                                                               const CsvOptions& options);

}  // namespace detail
}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/csv_reader-inl.hpp"
#endif
