#pragma once

#include <algorithm>
#include <concepts>

#include "nax/core/text_number.hpp"
#include "nax/modules/arrow/reader.hpp"
#include "nax/modules/data/dataset.hpp"

// Tables of other libraries as datasets, by Arrow's C interfaces.
NAX_BEGIN
namespace data {

// A column with nulls, as a field of a row: `valid` is false where there is none, and `values` are .fill
// there, or 0.
template <Dtype T>
struct Nullable {
  Array<T> values;
  Array<bool> valid;
};

namespace detail {

// How a member of a row is made of a row of its column.
template <class M>
struct ArrowMember {
  static_assert(!std::is_same_v<M, M>,
                "from_arrow: the fields of a row must be Array<T>, data::Nullable<T>, std::string or "
                "std::optional<std::string>");
};
template <class T>
ArrowField field_of_numbers(const ArrowOptions& options, bool nullable) {
  static_assert(!is_complex_v<T> && !std::is_same_v<T, bfloat16>,
                "from_arrow: Arrow has no complex numbers and no bfloat16");
  ArrowField field{.nullable = nullable, .dtype = dtype_of<T>};
  if (!options.fill) return field;
  if (!holds_number<T>(*options.fill))
    raise<ValueError>(
        {"from_arrow: .fill is ", *options.fill, ", which ", dtype_name(dtype_of<T>), " does not hold"});
  const T value = static_cast<T>(*options.fill);
  std::memcpy(field.fill.emplace().data(), &value, sizeof value);
  return field;
}
template <class T>
struct ArrowMember<Array<T>> {
  static ArrowField field(const ArrowOptions& options) { return field_of_numbers<T>(options, false); }
  static Array<T> at(const ArrowColumn& column, std::int64_t i) {
    return nax::detail::typed<T>(row_of(column.values, i));
  }
};
template <class T>
struct ArrowMember<Nullable<T>> {
  static ArrowField field(const ArrowOptions& options) { return field_of_numbers<T>(options, true); }
  static Nullable<T> at(const ArrowColumn& column, std::int64_t i) {
    return {nax::detail::typed<T>(row_of(column.values, i)),
            nax::detail::typed<bool>(row_of(column.valid, i))};
  }
};
template <>
struct ArrowMember<std::string> {
  static ArrowField field(const ArrowOptions&) { return {.is_text = true}; }
  static std::string at(const ArrowColumn& column, std::int64_t i) {
    return std::string(*column.texts[static_cast<std::size_t>(i)]);
  }
};
template <>
struct ArrowMember<std::optional<std::string>> {
  static ArrowField field(const ArrowOptions&) { return {.is_text = true, .nullable = true}; }
  static std::optional<std::string> at(const ArrowColumn& column, std::int64_t i) {
    const auto& text = column.texts[static_cast<std::size_t>(i)];
    return text ? std::optional<std::string>(*text) : std::nullopt;
  }
};

template <class Row, std::size_t... I>
std::vector<ArrowField> arrow_fields(const ArrowOptions& options, std::index_sequence<I...>) {
  std::vector<ArrowField> fields = {ArrowMember<tree::detail::Child<Row, I>>::field(options)...};
  const tree::detail::Path root;
  ((fields[I].name = tree::detail::child_path<Row, I>(root).name), ...);
  return fields;
}
template <class Row>
std::vector<ArrowField> arrow_fields(const ArrowOptions& options) {
  static_assert(tree::detail::node_kind<Row>() == tree::NodeKind::product,
                "from_arrow: a row must be a struct or a tuple whose fields are columns");
  return arrow_fields<Row>(options, std::make_index_sequence<tree::detail::child_count_v<Row>>{});
}
template <class Row>
Row arrow_row(const ArrowBatch& batch, std::int64_t i) {
  Row row{};
  std::size_t column = 0;
  std::apply(
      [&](auto&... member) {
        ((member = ArrowMember<std::remove_cvref_t<decltype(member)>>::at(batch.columns[column++], i)), ...);
      },
      tree::detail::children(row));
  return row;
}

// The rows of batches that are all there.
template <class Row>
class ArrowSource final : public IndexedStage<Row> {
 public:
  explicit ArrowSource(ArrowReader reader) : rows_(std::make_shared<const Rows>(std::move(reader))) {}
  void describe(Fingerprint& print) const override {
    print.add("from_arrow"), print.add(rows_->size()), add_types<Row>(print);
    identity_.describe(print, [&](Fingerprint& own) {
      for (const ArrowBatch& batch : rows_->batches)
        for (const ArrowColumn& column : batch.columns) describe_column(own, column);
    });
  }
  std::int64_t size() const override { return rows_->size(); }
  std::shared_ptr<const Access<Row>> access(const Context&) const override { return rows_; }

 private:
  struct Rows final : Access<Row> {
    explicit Rows(ArrowReader reader) {
      while (std::optional<ArrowBatch> batch = reader.next()) {
        if (batch->rows == 0 && !batches.empty()) continue;
        starts.push_back(count);
        count += batch->rows;
        batches.push_back(std::move(*batch));
      }
    }
    std::int64_t size() const override { return count; }
    std::size_t batch_of(std::int64_t i) const {
      return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), i) - starts.begin() - 1);
    }
    Row at(std::int64_t i) const override {
      const std::size_t batch = batch_of(i);
      return arrow_row<Row>(batches[batch], i - starts[batch]);
    }
    std::string source(std::int64_t i) const override {
      const std::size_t batch = batch_of(i);
      return "batch " + std::to_string(batch) + ", row " + std::to_string(i - starts[batch]);
    }
    bool gathers() const override { return is_whole_tree<Row>() && count > 0; }
    std::vector<ArrayBase> gather(std::span<const std::int64_t> rows) const override {
      std::vector<ArrayBase> leaves;
      for (std::size_t c = 0; c < batches[0].columns.size(); ++c) {
        std::vector<const ArrayBase*> values, valid;
        for (const ArrowBatch& batch : batches)
          values.push_back(&batch.columns[c].values), valid.push_back(&batch.columns[c].valid);
        leaves.push_back(gather_chunks(values, starts, rows));
        if (batches[0].columns[c].nullable) leaves.push_back(gather_chunks(valid, starts, rows));
      }
      return leaves;
    }
    std::vector<ArrowBatch> batches;
    std::vector<std::int64_t> starts;  // the first row of each
    std::int64_t count = 0;
  };
  static void describe_column(Fingerprint& print, const ArrowColumn& column) {
    for (const auto& text : column.texts) print.add(std::string(text.value_or("\1null")));
    if (!column.texts.empty()) return;
    for (const std::int64_t extent : column.values.shape()) print.add(extent);
    for (const ArrayBase* a : {&column.values, &column.valid})
      if ((a == &column.values || column.nullable) && a->size() > 0)
        print.add(static_cast<std::int64_t>(content_hash(raw_data(*a), bytes_of(*a))));
  }
  std::shared_ptr<const Rows> rows_;
  Identity identity_;
};

// The rows of a stream that each loop opens, a batch at a time.
template <class Row, class Make>
class ArrowStreams final : public Stage<Row> {
 public:
  ArrowStreams(Make make, const ArrowOptions& options)
      : make_(std::make_shared<const Make>(std::move(make))), options_(options) {}
  void describe(Fingerprint& print) const override {
    print.add("from_arrow streams"), add_types<Row>(print), add_function<Make>(print, "", "");
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Row>> open(const Context&) const override {
    return std::make_unique<Walk>(make_, options_);
  }

 private:
  class Walk final : public Cursor<Row> {
   public:
    Walk(std::shared_ptr<const Make> make, const ArrowOptions& options)
        : make_(std::move(make)), options_(options) {}
    std::optional<Row> next() override {
      if (!advance()) return std::nullopt;
      return arrow_row<Row>(*batch_, at_++);
    }
    std::int64_t skip(std::int64_t n) override {
      std::int64_t done = 0;
      while (done < n && advance()) {
        const std::int64_t step = std::min(n - done, batch_->rows - at_);
        at_ += step, done += step;
      }
      return done;
    }

   private:
    // Is there a row? Then `at_` is its place in `batch_`.
    bool advance() {
      if (ended_) return false;
      const profile::Span span(profile::Kind::data, "from_arrow");
      ended_ = true;  // a stream that failed has no further rows
      if (!reader_) {
        ArrowStream stream = (*make_)();
        reader_.emplace(stream.get(), options_, arrow_fields<Row>(options_));
      }
      while (!batch_ || at_ >= batch_->rows) {
        batch_ = reader_->next(), at_ = 0;
        if (!batch_) return false;
      }
      ended_ = false;
      return true;
    }
    std::shared_ptr<const Make> make_;
    ArrowOptions options_;
    std::optional<ArrowReader> reader_;
    std::optional<ArrowBatch> batch_;
    std::int64_t at_ = 0;
    bool ended_ = false;
  };
  std::shared_ptr<const Make> make_;
  ArrowOptions options_;
};

}  // namespace detail

// The rows of an Arrow stream, which is taken and read to its end; rows have indices. A Row is a struct whose
// fields are columns by name: Array<T> of the column's type (lists of fixed size are rows, dictionaries their
// indices, times integers), data::Nullable<T>, std::string, std::optional<std::string>. Arrays are views of
// the stream's memory where they can be. Throws ValueError that names column and batch for damaged batches
// and for nulls without .fill, TypeError for a column of another type, IoError where the stream fails.
template <class Row>
Dataset<Row> from_arrow(ArrowArrayStream* stream, const ArrowOptions& options = {}) {
  return Dataset<Row>(std::make_shared<detail::ArrowSource<Row>>(
      detail::ArrowReader(stream, options, detail::arrow_fields<Row>(options))));
}
// The rows of one batch, which is taken, and so is its schema.
template <class Row>
Dataset<Row> from_arrow(ArrowArray* batch, ArrowSchema* schema, const ArrowOptions& options = {}) {
  return Dataset<Row>(std::make_shared<detail::ArrowSource<Row>>(
      detail::ArrowReader(batch, schema, options, detail::arrow_fields<Row>(options))));
}
// Reads a batch at a time: each loop calls make() for a data::ArrowStream of its own. Rows have no indices.
template <class Row, std::invocable Make>
Dataset<Row> from_arrow(Make make, const ArrowOptions& options = {}) {
  static_assert(std::is_same_v<std::invoke_result_t<const Make&>, ArrowStream>,
                "from_arrow: the function must return a data::ArrowStream");
  return Dataset<Row>(std::make_shared<detail::ArrowStreams<Row, Make>>(std::move(make), options));
}

}  // namespace data
NAX_END
