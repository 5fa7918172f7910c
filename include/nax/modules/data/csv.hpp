#pragma once

#include <concepts>

#include "nax/core/where_used.hpp"
#include "nax/io/unpack.hpp"
#include "nax/modules/data/csv_reader.hpp"
#include "nax/modules/data/dataset.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/views/reshape.hpp"

// Tables of comma-separated values as datasets.
NAX_BEGIN
namespace data {
namespace detail {

template <class T>
auto csv_dataset(const std::string& path, const io::Bytes& bytes, const CsvOptions& options) {
  return io::detail::within_memory("from_csv", path, [&] {
    if constexpr (std::is_same_v<T, std::string>) {
      using Rows = nax::detail::where_used_t<std::vector<std::vector<std::string>>, T>;
      const auto rows = std::make_shared<const Rows>(read_csv_text(path, bytes, options));
      const auto row = [rows](std::int64_t i) { return (*rows)[static_cast<std::size_t>(i)]; };
      Fingerprint print;
      for (const auto& fields : *rows)
        for (const std::string& field : fields) print.add(field);
      return range(static_cast<std::int64_t>(rows->size()))
          .map(row, {.version = "from_csv " + std::to_string(print.value())});
    } else if constexpr (Dtype<T>) {
      static_assert(!is_complex_v<T>, "from_csv: complex numbers are not read");
      return from_arrays(nax::detail::typed<T>(read_csv_rows(path, bytes, options, dtype_of<T>)));
    } else {
      T tree{};
      nax::detail::where_used_t<std::vector<std::string>, T> names;
      nax::detail::where_used_t<std::vector<DType>, T> dtypes;
      tree::for_each_with_path(
          [&](const std::string& place, const auto& leaf) {
            using L = std::remove_cvref_t<decltype(leaf)>;
            static_assert(is_array_v<L>, "from_csv: the leaves of the tree must be arrays, a column each");
            using Value = typename L::value_type;
            static_assert(!is_complex_v<Value>, "from_csv: complex numbers are not read");
            const bool named = !place.empty() && place[0] == '.';
            names.push_back(named ? place.substr(1) : ""), dtypes.push_back(dtype_of<Value>);
          },
          tree);
      std::vector<ArrayBase> arrays = read_csv_columns(path, bytes, options, names, dtypes);
      std::size_t i = 0;
      tree::for_each(
          [&](auto& leaf) {
            leaf = nax::detail::typed<typename std::remove_cvref_t<decltype(leaf)>::value_type>(
                std::move(arrays[i++]));
          },
          tree);
      return from_arrays(tree);
    }
  });
}

}  // namespace detail

// The lines of a table of comma-separated values, which is read (addresses too, where the program links
// nax::storage). from_csv<float> has rows of numbers, (columns,); from_csv<std::string> vectors of text; for
// a tree of arrays, as from_npz's, each is the column of its name, and elements hold numbers, (). Throws
// IoError that names the file and the line for what is no number and for lines of different lengths.
template <class T = float>
auto from_csv(const std::string& path, const CsvOptions& options = {}) {
  return detail::csv_dataset<T>(path, io::detail::read_unpacked("from_csv", path), options);
}
// Reads a file that is in memory already; errors call it `name`.
template <class T = float, std::same_as<io::Bytes> B>
auto from_csv(const B& bytes, const std::string& name, const CsvOptions& options = {}) {
  return detail::csv_dataset<T>(name, bytes, options);
}

// A table of comma-separated values in memory, whose columns are of any types: numbers, text, or text as
// numbers of its different values. Each call reads the table through.
class CsvTable {
 public:
  CsvTable(std::string path, io::Bytes bytes, const CsvOptions& options);
  // The names of the columns, in their order; none without a header.
  std::vector<std::string> names() const;
  // A column of numbers, (rows,). Throws IoError for what is none.
  template <Dtype T = float>
  Array<T> numbers(const CsvColumn& column) const {
    static_assert(!is_complex_v<T>, "from_csv: complex numbers are not read");
    return nax::detail::typed<T>(rows(column, dtype_of<T>)).reshape({-1});
  }
  // A column of texts.
  std::vector<std::string> text(const CsvColumn& column) const;
  // A column of texts as numbers, (rows,): the place of each in the sorted list of all that are there.
  std::pair<Array<int>, std::vector<std::string>> categories(const CsvColumn& column) const;

 private:
  ArrayBase rows(const CsvColumn& column, DType dtype) const;

  std::string path_;
  io::Bytes bytes_;
  CsvOptions options_;
};
// The table of a file, or of an address where the program links nax::storage. .columns is of no use here.
// Throws IoError where it cannot be read.
template <class = void>
CsvTable read_csv(const std::string& path, const CsvOptions& options = {}) {
  return CsvTable(path, io::detail::read_unpacked("from_csv", path), options);
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/csv-inl.hpp"
#endif
