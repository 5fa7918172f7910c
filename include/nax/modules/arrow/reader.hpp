#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/core/error.hpp"
#include "nax/modules/arrow/c_interface.hpp"
#include "nax/numpy/creation/creation.hpp"

// Reads batches of Arrow's as columns of a row's fields. All that the interface lets a reader see is checked
// before an element is read: releases, numbers of buffers and children, lengths, offsets, indices. The sizes
// of buffers are not told, so lengths that agree with each other are believed.
NAX_BEGIN
namespace data {

struct ArrowOptions {
  std::vector<std::string> columns = {};  // for the row's fields, in their order; none: the fields' names
  std::optional<double> fill = {};        // what a null number is; without, it is an error
  // Is told of the texts that the indices of a dictionary's column stand for, once.
  std::function<void(const std::string& column, const std::vector<std::string>& texts)> on_dictionary = {};
};

namespace detail {

using namespace nax::detail;

// A field of a row: what its column is to become.
struct ArrowField {
  std::string name = {};  // empty: the field has none, its place counts
  bool is_text = false;   // otherwise elements of `dtype`
  bool nullable = false;
  DType dtype = DType::float32;
  std::optional<std::array<char, 8>> fill = {};  // an element
};

// A field's column of a batch, with a leading axis of rows.
struct ArrowColumn {
  bool nullable = false;
  ArrayBase values, valid;                             // valid: of nullable fields alone
  std::vector<std::optional<std::string_view>> texts;  // in memory of the batch
};
struct ArrowBatch {
  std::int64_t rows = 0;
  std::vector<ArrowColumn> columns;
  std::shared_ptr<const ArrowOwned<ArrowArray>> owner;
};

// A column's type, out of its schema.
struct ArrowType {
  enum class Layout : std::uint8_t { numbers, bits, text32, text64, views, list };
  Layout layout = Layout::numbers;
  DType dtype = DType::uint8;
  std::int64_t width = 1;         // elements of `inner` in one of these
  std::vector<ArrowType> inner;   // of a list: one
  std::vector<ArrowType> values;  // of a dictionary, whose indices this is: one
  bool is_text() const {
    return layout == Layout::text32 || layout == Layout::text64 || layout == Layout::views;
  }
};

class ArrowReader {
 public:
  // Takes the stream, or one batch and its schema. Throws ValueError for what is released or no table, and
  // TypeError where a field and its column differ.
  ArrowReader(ArrowArrayStream* stream, const ArrowOptions& options, std::vector<ArrowField> fields);
  ArrowReader(ArrowArray* batch, ArrowSchema* schema, const ArrowOptions& options,
              std::vector<ArrowField> fields);
  // The next batch; none at the end. Throws IoError where the stream fails.
  std::optional<ArrowBatch> next();

 private:
  struct Column {
    std::string name;
    std::size_t child = 0;
    ArrowType type;
    std::optional<std::vector<std::string>> dictionary;  // of the first batch
  };
  void bind(const ArrowSchema& schema);
  ArrowArray take_next();
  void check(int code, const char* what);
  void check_dictionary(Column& column, const ArrowArray& indices, const ArrowColumn& made);

  ArrowStream stream_;
  ArrowOwned<ArrowArray> only_;
  ArrowOptions options_;
  std::vector<ArrowField> fields_;
  std::vector<Column> columns_;
  std::int64_t children_ = 0, batch_ = 0;
};

// These rows of batches' arrays, copied into one. starts[i] is the first row of chunk i.
NAX_ENGINE ArrayBase gather_chunks(const std::vector<const ArrayBase*>& chunks,
                                   std::span<const std::int64_t> starts, std::span<const std::int64_t> rows);

}  // namespace detail
}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/arrow/reader-inl.hpp"
#endif
