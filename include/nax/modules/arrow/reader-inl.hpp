#pragma once

#include <algorithm>
#include <cstring>

#include "nax/modules/arrow/reader.hpp"
#include "nax/modules/data/trees.hpp"
#include "nax/numpy/conversion/foreign.hpp"

NAX_BEGIN
namespace data::detail {

// A column of a batch, for errors; batch below 0: the schema.
struct ArrowPlace {
  const std::string& column;
  std::int64_t batch;

  template <class E = ValueError>
  [[noreturn, gnu::cold]] void fail(std::initializer_list<TextPart> problem) const {
    std::string place = "from_arrow: column '" + column.substr(0, 200) + "'";
    if (batch >= 0) place += ", batch " + std::to_string(batch);
    throw E(place + ": " + nax::detail::text_of(problem));
  }
};

inline bool bit_at(const void* bits, std::int64_t i) {
  return static_cast<const unsigned char*>(bits)[i >> 3] >> (i & 7) & 1;
}
template <class T>
T number_at(const void* numbers, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(numbers) + static_cast<std::size_t>(i) * sizeof value,
              sizeof value);
  return value;
}

// The type that a schema's format names. Letters stand for numbers; 't' for times, which are read as the
// integers that they are kept as.
inline ArrowType arrow_type(const ArrowSchema& schema, const ArrowPlace& place, int depth = 0) {
  using Layout = ArrowType::Layout;
  if (!schema.release || !schema.format) place.fail({"its schema is released"});
  const std::string_view format = schema.format;
  const auto refuse = [&](const char* what) {
    place.fail<TypeError>({what, ": format '", format.substr(0, 40), "'"});
  };
  if (depth > 16) refuse("lists of more than 16 axes are not read");
  ArrowType type;
  const auto is = [&](std::initializer_list<std::string_view> formats) {
    return std::any_of(formats.begin(), formats.end(), [&](std::string_view f) {
      return f.back() == '*' ? format.starts_with(f.substr(0, f.size() - 1)) : format == f;
    });
  };
  if (is({"b"}))
    type.layout = Layout::bits, type.dtype = DType::boolean;
  else if (is({"c"}))
    type.dtype = DType::int8;
  else if (is({"C"}))
    type.dtype = DType::uint8;
  else if (is({"s"}))
    type.dtype = DType::int16;
  else if (is({"S"}))
    type.dtype = DType::uint16;
  else if (is({"i", "tdD", "tts", "ttm"}))
    type.dtype = DType::int32;
  else if (is({"I"}))
    type.dtype = DType::uint32;
  else if (is({"l", "tdm", "ttu", "ttn", "tss:*", "tsm:*", "tsu:*", "tsn:*", "tDs", "tDm", "tDu", "tDn"}))
    type.dtype = DType::int64;
  else if (is({"L"}))
    type.dtype = DType::uint64;
  else if (is({"e"}))
    type.dtype = DType::float16;
  else if (is({"f"}))
    type.dtype = DType::float32;
  else if (is({"g"}))
    type.dtype = DType::float64;
  else if (is({"u", "z"}))
    type.layout = Layout::text32;
  else if (is({"U", "Z"}))
    type.layout = Layout::text64;
  else if (is({"vu", "vz"}))
    type.layout = Layout::views;
  else if (is({"w:*", "+w:*"})) {
    const std::string digits(format.substr(format.find(':') + 1));
    const bool good =
        !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!good) refuse("a width that is none");
    type.width = std::stoll(digits);
    type.layout = Layout::list;
    if (format[0] == 'w') {  // bytes, which have no array of their own
      type.layout = Layout::numbers;
    } else {
      if (schema.n_children != 1 || !schema.children || !schema.children[0])
        refuse("a list whose schema has no child");
      type.inner.push_back(arrow_type(*schema.children[0], place, depth + 1));
      if (type.inner[0].is_text() || !type.inner[0].values.empty()) refuse("lists of numbers alone are read");
    }
  } else {
    refuse("columns of this type are not read");
  }
  if (schema.dictionary) {
    if (type.layout != Layout::numbers || type.width != 1 || dtype_kind(type.dtype) != Kind::integer)
      refuse("a dictionary whose indices are no integers");
    type.values.push_back(arrow_type(*schema.dictionary, place, depth + 1));
    if (!type.values[0].is_text()) refuse("dictionaries of texts alone are read");
  }
  return type;
}

// Checks that `a` is an array of this type with elements begin, ..., begin + count - 1 (its own offset not
// counted), and returns the place of the first in its buffers.
inline std::int64_t check_arrow_array(const ArrowArray& a, const ArrowType& type, std::int64_t begin,
                                      std::int64_t count, const ArrowPlace& place) {
  using Layout = ArrowType::Layout;
  if (!a.release) place.fail({"the array is released"});
  constexpr std::int64_t most = most_elements / 16;
  if (a.length < 0 || a.offset < 0 || a.offset > most || a.length > most)
    place.fail({"length ", a.length, " and offset ", a.offset, " are not possible"});
  if (begin < 0 || count < 0 || begin > a.length || count > a.length - begin)
    place.fail({"an array of length ", a.length, " lacks elements ", begin, " to ", begin + count});
  if (a.null_count < -1 || a.null_count > a.length)
    place.fail({"null_count is ", a.null_count, ", length ", a.length});
  const bool list = type.layout == Layout::list;
  const std::int64_t buffers = list ? 1 : type.is_text() ? 3 : 2;
  if (a.n_buffers != buffers && (type.layout != Layout::views || a.n_buffers < buffers))
    place.fail({"an array of ", a.n_buffers, " buffers, where the schema's type has ", buffers});
  if (!a.buffers) place.fail({"the buffers are null"});
  if (a.n_children != (list ? 1 : 0))
    place.fail({"an array of ", a.n_children, " children, where the schema's type has ", list ? 1 : 0});
  if (list && (!a.children || !a.children[0])) place.fail({"the child is null"});
  if (!type.values.empty() != (a.dictionary != nullptr))
    place.fail({type.values.empty() ? "a dictionary that is not in the schema" : "the dictionary is null"});
  if (a.null_count > 0 && !a.buffers[0]) place.fail({a.null_count, " nulls without a buffer of validity"});
  if (count > 0 && !list && !a.buffers[1]) place.fail({"the buffer of values is null"});
  return a.offset + begin;
}

// Clears the places in `valid` (made when the first is found) of nulls, each `per` places wide.
inline void mark_nulls(const ArrowArray& a, std::int64_t first, std::int64_t count, std::int64_t per,
                       std::vector<unsigned char>& valid) {
  if (a.null_count == 0 || !a.buffers[0]) return;
  for (std::int64_t i = 0; i < count; ++i) {
    if (bit_at(a.buffers[0], first + i)) continue;
    if (valid.empty()) valid.assign(static_cast<std::size_t>(count * per), 1);
    std::fill_n(valid.begin() + i * per, per, static_cast<unsigned char>(0));
  }
}

// The elements as views of the batch's memory; nulls are none.
inline std::vector<std::optional<std::string_view>> arrow_texts(const ArrowArray& a, const ArrowType& type,
                                                                std::int64_t begin, std::int64_t count,
                                                                const ArrowPlace& place) {
  using Layout = ArrowType::Layout;
  const std::int64_t first = check_arrow_array(a, type, begin, count, place);
  std::vector<unsigned char> valid;
  mark_nulls(a, first, count, 1, valid);
  std::vector<std::optional<std::string_view>> texts(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!valid.empty() && !valid[at]) continue;
    const std::int64_t from = first + i;
    const char* data = nullptr;
    std::int64_t start = 0, size = 0;
    if (type.layout == Layout::views) {  // a size, then the text itself or (a prefix,) a buffer and its place
      const char* const view = static_cast<const char*>(a.buffers[1]) + from * 16;
      size = number_at<std::int32_t>(view, 0);
      if (size <= 12) {
        data = view + 4;
      } else {
        const std::int64_t buffer = number_at<std::int32_t>(view, 2);
        start = number_at<std::int32_t>(view, 3);
        const void* const sizes = a.buffers[a.n_buffers - 1];
        if (!sizes || buffer < 0 || buffer >= a.n_buffers - 3 || start < 0 ||
            start > number_at<std::int64_t>(sizes, buffer) - size)
          place.fail({"row ", i, " is a text outside its buffers"});
        data = static_cast<const char*>(a.buffers[2 + buffer]);
      }
    } else {
      const void* const offsets = a.buffers[1];
      const bool is_long = type.layout == Layout::text64;
      start = is_long ? number_at<std::int64_t>(offsets, from) : number_at<std::int32_t>(offsets, from);
      const std::int64_t end =
          is_long ? number_at<std::int64_t>(offsets, from + 1) : number_at<std::int32_t>(offsets, from + 1);
      if (start < 0 || end < start) place.fail({"row ", i, " has offsets ", start, " and ", end});
      size = end - start;
      data = static_cast<const char*>(a.buffers[2]);
    }
    if (size < 0 || (size > 0 && !data)) place.fail({"row ", i, " is a text of ", size, " bytes at null"});
    texts[at] =
        size == 0 ? std::string_view("", 0) : std::string_view(data + start, static_cast<std::size_t>(size));
  }
  return texts;
}

// Index i of a dictionary's column; below 0 where it is beyond int64.
inline std::int64_t arrow_index(const void* indices, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::int8:
      return number_at<std::int8_t>(indices, i);
    case DType::uint8:
      return number_at<std::uint8_t>(indices, i);
    case DType::int16:
      return number_at<std::int16_t>(indices, i);
    case DType::uint16:
      return number_at<std::uint16_t>(indices, i);
    case DType::int32:
      return number_at<std::int32_t>(indices, i);
    case DType::uint32:
      return number_at<std::uint32_t>(indices, i);
    case DType::int64:
      return number_at<std::int64_t>(indices, i);
    case DType::uint64:
      return static_cast<std::int64_t>(number_at<std::uint64_t>(indices, i));
    case DType::boolean:
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  return -1;
}

// Checks and returns index i.
inline std::int64_t checked_index(const void* indices, DType dtype, std::int64_t i, std::int64_t row,
                                  std::size_t size, const ArrowPlace& place) {
  const std::int64_t index = arrow_index(indices, dtype, i);
  if (index < 0 || static_cast<std::size_t>(index) >= size)
    place.fail({"row ", row, " has index ", index, " into a dictionary of ", size, " texts"});
  return index;
}

inline void load_texts(const ArrowField& field, const ArrowType& type, const ArrowArray& a,
                       std::int64_t begin, std::int64_t count, const ArrowPlace& place, ArrowColumn& column) {
  if (type.values.empty()) {
    column.texts = arrow_texts(a, type, begin, count, place);
  } else {
    const std::int64_t first = check_arrow_array(a, type, begin, count, place);
    const auto texts = arrow_texts(*a.dictionary, type.values[0], 0, a.dictionary->length, place);
    std::vector<unsigned char> valid;
    mark_nulls(a, first, count, 1, valid);
    for (std::int64_t i = 0; i < count; ++i) {
      const bool null = !valid.empty() && !valid[static_cast<std::size_t>(i)];
      column.texts.push_back(null ? std::nullopt
                                  : texts[static_cast<std::size_t>(checked_index(
                                        a.buffers[1], type.dtype, first + i, i, texts.size(), place))]);
    }
  }
  const auto null = std::find(column.texts.begin(), column.texts.end(), std::nullopt);
  if (!field.nullable && null != column.texts.end())
    place.fail({"row ", null - column.texts.begin(), " is null; std::optional<std::string> takes it"});
}

// The numbers as an array of a row's elements each: over the batch's memory where they are whole and aligned.
inline void load_numbers(const ArrowField& field, const ArrowType& type, const ArrowArray& array,
                         std::int64_t begin, std::int64_t rows, const ArrowPlace& place,
                         const std::shared_ptr<const ArrowOwned<ArrowArray>>& owner, ArrowColumn& column) {
  Shape shape{rows};
  std::int64_t per_row = 1, count = rows;  // leaf elements; those of this level
  for (const ArrowType* t = &type; t; t = t->inner.empty() ? nullptr : &t->inner[0]) {
    if (!t->inner.empty() || t->width != 1) shape.push_back(t->width);
    if (multiply_overflows(per_row, t->width, per_row)) per_row = most_elements;
  }
  std::int64_t total = 0;
  if (multiply_overflows(rows, per_row, total) || total > most_elements / 16)
    place.fail({rows, " rows of ", per_row, " elements are too many"});
  std::vector<unsigned char> valid;
  const ArrowArray* a = &array;
  const ArrowType* t = &type;
  std::int64_t first = begin;
  for (;; a = a->children[0], t = &t->inner[0]) {
    first = check_arrow_array(*a, *t, first, count, place);
    if (count > 0) mark_nulls(*a, first, count, total / count, valid);
    std::int64_t inner = 0;
    if (multiply_overflows(first, t->width, inner) || inner > most_elements)
      place.fail({"offset ", first, " is too large"});
    first = inner;
    if (t->inner.empty()) break;
    count *= t->width;
  }
  const auto null = std::find(valid.begin(), valid.end(), static_cast<unsigned char>(0));
  if (null != valid.end() && !field.nullable && !field.fill)
    place.fail({"row ", (null - valid.begin()) / per_row,
                " is null; .fill gives nulls a value, data::Nullable a mask"});
  const std::size_t size = dtype_size(t->dtype), n = static_cast<std::size_t>(total);
  const char* const data = static_cast<const char*>(a->buffers[1]);
  const bool bits = t->layout == ArrowType::Layout::bits;
  const std::size_t begins = static_cast<std::size_t>(first) * size;
  const bool shared = !bits && total > 0 && null == valid.end() &&
                      (reinterpret_cast<std::uintptr_t>(data) + begins) % size == 0;
  if (shared) {
    column.values = foreign_array("from_arrow", const_cast<char*>(data + begins), t->dtype, shape,
                                  Layout::row_major(shape), Device{}, [owner] {});
  } else {
    column.values = allocate_on_host(t->dtype, Frame{shape, {}});
    char* const out = n == 0 ? nullptr : raw_data(column.values);
    if (n > 0 && !bits) std::memcpy(out, data + begins, n * size);
    for (std::size_t i = 0; i < n && bits; ++i) out[i] = bit_at(data, first + static_cast<std::int64_t>(i));
    const std::array<char, 8> fill = field.fill.value_or(std::array<char, 8>{});
    for (std::size_t i = 0; i < valid.size(); ++i)
      if (!valid[i]) std::memcpy(out + i * size, fill.data(), size);
  }
  if (!field.nullable) return;
  column.valid = allocate_on_host(DType::boolean, Frame{shape, {}});
  if (n == 0) return;
  std::memset(raw_data(column.valid), 1, n);
  if (!valid.empty()) std::memcpy(raw_data(column.valid), valid.data(), n);
}

NAX_ENGINE ArrowReader::ArrowReader(ArrowArrayStream* stream, const ArrowOptions& options,
                                    std::vector<ArrowField> fields)
    : options_(options), fields_(std::move(fields)) {
  if (!stream || !stream->release)
    throw ValueError("from_arrow: the stream is released: a stream is taken once");
  stream_ = ArrowStream(stream);
  if (!stream_->get_schema || !stream_->get_next) throw ValueError("from_arrow: the stream has no functions");
  ArrowOwned<ArrowSchema> schema;
  check(stream_->get_schema(stream_.get(), schema.get()), "the schema");
  bind(*schema);
}
NAX_ENGINE ArrowReader::ArrowReader(ArrowArray* batch, ArrowSchema* schema, const ArrowOptions& options,
                                    std::vector<ArrowField> fields)
    : options_(options), fields_(std::move(fields)) {
  if (!batch || !batch->release || !schema || !schema->release)
    throw ValueError("from_arrow: the batch or its schema is released: a batch is taken once");
  only_ = ArrowOwned<ArrowArray>(batch);
  const ArrowOwned<ArrowSchema> taken(schema);
  bind(*taken);
}

NAX_ENGINE void ArrowReader::check(int code, const char* what) {
  if (code == 0) return;
  const char* const text = stream_->get_last_error ? stream_->get_last_error(stream_.get()) : nullptr;
  raise<IoError>({"from_arrow: ", what, " cannot be read: ", text ? text : std::strerror(code)});
}

NAX_ENGINE void ArrowReader::bind(const ArrowSchema& schema) {
  if (!schema.release || !schema.format) throw ValueError("from_arrow: the schema is released");
  if (std::string_view(schema.format) != "+s")
    raise<TypeError>({"from_arrow: batches must be tables (format '+s'), not of format '",
                      std::string_view(schema.format).substr(0, 40), "'"});
  children_ = schema.n_children;
  if (children_ < 0 || (children_ > 0 && !schema.children))
    raise<ValueError>({"from_arrow: a schema of ", children_, " children"});
  if (!options_.columns.empty() && options_.columns.size() != fields_.size())
    raise<ValueError>({"from_arrow: .columns has ", options_.columns.size(), " columns for a row of ",
                       fields_.size(), " fields"});
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < children_; ++i) {
    const ArrowSchema* const child = schema.children[i];
    if (!child || !child->release)
      raise<ValueError>({"from_arrow: the schema of column ", i, " is released"});
    names.emplace_back(child->name ? child->name : "");
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string name = options_.columns.empty() ? fields_[i].name : options_.columns[i];
    std::size_t child = i;
    if (!name.empty()) {
      const auto found = std::find(names.begin(), names.end(), name);
      child = static_cast<std::size_t>(found - names.begin());
      if (found != names.end() && std::find(found + 1, names.end(), name) != names.end())
        raise<ValueError>({"from_arrow: two columns have the name '", name, "'"});
    }
    if (child >= names.size()) {
      std::string all;
      for (const std::string& one : names) all += (all.empty() ? "'" : ", '") + one + "'";
      raise<ValueError>({"from_arrow: no column '", name.empty() ? std::to_string(i) : name,
                         "' in the table: ", all.substr(0, 1000)});
    }
    const ArrowPlace place{names[child], -1};
    ArrowType type = arrow_type(*schema.children[child], place);
    const ArrowType* leaf = &type;
    while (!leaf->inner.empty()) leaf = &leaf->inner[0];
    const bool is_text = type.is_text() || (fields_[i].is_text && !type.values.empty());
    if (is_text != fields_[i].is_text || (!is_text && leaf->dtype != fields_[i].dtype))
      place.fail<TypeError>({"the elements are ", is_text ? "text" : dtype_name(leaf->dtype), ", the row's ",
                             fields_[i].is_text ? "text" : dtype_name(fields_[i].dtype)});
    columns_.push_back({names[child], child, std::move(type), {}});
  }
}

// The next batch, released where there is none.
NAX_ENGINE ArrowArray ArrowReader::take_next() {
  if (only_->release) return std::exchange(*only_.get(), ArrowArray{});
  ArrowArray batch{};
  if (stream_->release)
    check(stream_->get_next(stream_.get(), &batch), ("batch " + std::to_string(batch_)).c_str());
  return batch;
}

// Checks indices, tells of the first batch's texts, and refuses others later, as indices would change their
// meaning.
NAX_ENGINE void ArrowReader::check_dictionary(Column& column, const ArrowArray& indices,
                                              const ArrowColumn& made) {
  const ArrowPlace place{column.name, batch_};
  std::vector<std::string> texts;
  for (const auto& text :
       arrow_texts(*indices.dictionary, column.type.values[0], 0, indices.dictionary->length, place))
    texts.emplace_back(text.value_or(std::string_view()));
  for (std::int64_t i = 0; i < layout_of(made.values).size(); ++i)
    if (!made.nullable || bit_at(raw_data(made.valid), 8 * i))
      checked_index(raw_data(made.values), column.type.dtype, i, i, texts.size(), place);
  if (!column.dictionary) {
    column.dictionary = std::move(texts);
    if (options_.on_dictionary) options_.on_dictionary(column.name, *column.dictionary);
  } else if (*column.dictionary != texts) {
    place.fail({"the dictionary is another one than before; a field of std::string takes its texts"});
  }
}

NAX_ENGINE std::optional<ArrowBatch> ArrowReader::next() {
  ArrowArray taken = take_next();
  if (!taken.release) return std::nullopt;
  ArrowBatch batch;
  batch.owner = std::make_shared<const ArrowOwned<ArrowArray>>(&taken);
  const ArrowArray& table = **batch.owner;
  if (table.n_children != children_ || (children_ > 0 && !table.children))
    raise<ValueError>({"from_arrow: batch ", batch_, " has ", table.n_children,
                       " columns, where the schema has ", children_});
  constexpr std::int64_t most = most_elements / 16;
  if (table.length < 0 || table.offset < 0 || table.offset > most || table.length > most)
    raise<ValueError>(
        {"from_arrow: batch ", batch_, " has length ", table.length, " and offset ", table.offset});
  if (table.null_count != 0 && table.n_buffers > 0 && table.buffers && table.buffers[0]) {
    for (std::int64_t i = 0; i < table.length; ++i)
      if (!bit_at(table.buffers[0], table.offset + i))
        raise<ValueError>({"from_arrow: batch ", batch_, ": row ", i, " is null as a whole"});
  }
  batch.rows = table.length;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    const ArrowPlace place{column.name, batch_};
    const ArrowArray* const child = table.children[column.child];
    if (!child) place.fail({"the array is null"});
    ArrowColumn& made = batch.columns.emplace_back();
    made.nullable = fields_[i].nullable;
    if (fields_[i].is_text) {
      load_texts(fields_[i], column.type, *child, table.offset, table.length, place, made);
    } else {
      load_numbers(fields_[i], column.type, *child, table.offset, table.length, place, batch.owner, made);
      if (!column.type.values.empty()) check_dictionary(column, *child, made);
    }
  }
  ++batch_;
  return batch;
}

NAX_ENGINE ArrayBase gather_chunks(const std::vector<const ArrayBase*>& chunks,
                                   std::span<const std::int64_t> starts, std::span<const std::int64_t> rows) {
  if (chunks.size() == 1) return gather_rows(*chunks[0], rows);
  Frame frame = layout_of(*chunks[0]);
  frame.shape[0] = static_cast<std::int64_t>(rows.size());
  ArrayBase result = allocate_on_host(chunks[0]->dtype(), frame);
  const std::size_t bytes = rows.empty() ? 0 : bytes_of(result) / rows.size();
  if (bytes == 0) return result;
  char* out = raw_data(result);
  for (const std::int64_t row : rows) {
    const auto chunk =
        static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1);
    const auto at = static_cast<std::size_t>(row - starts[chunk]);
    std::memcpy(out, raw_data(*chunks[chunk]) + at * bytes, bytes);
    out += bytes;
  }
  return result;
}

}  // namespace data::detail
NAX_END
