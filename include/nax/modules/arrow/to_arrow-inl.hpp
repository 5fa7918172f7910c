#pragma once

#include <cerrno>
#include <cstring>

#include "nax/modules/arrow/to_arrow.hpp"

NAX_BEGIN
namespace data::detail {

inline const char* arrow_format(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "b";
    case DType::int8:
      return "c";
    case DType::int16:
      return "s";
    case DType::int32:
      return "i";
    case DType::int64:
      return "l";
    case DType::uint8:
      return "C";
    case DType::uint16:
      return "S";
    case DType::uint32:
      return "I";
    case DType::uint64:
      return "L";
    case DType::float16:
      return "e";
    case DType::float32:
      return "f";
    case DType::float64:
      return "g";
    case DType::bfloat16:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  raise<TypeError>({"to_arrow: Arrow has no type for ", dtype_name(dtype)});
}

inline ArrayBase arrow_memory(DType dtype, std::size_t n) {
  return allocate_on_host(dtype, Frame{Shape{static_cast<std::int64_t>(n)}, {}});
}

inline ArrayBase bits_of(const ArrayBase& bools) {
  const auto n = static_cast<std::size_t>(layout_of(bools).size());
  ArrayBase bits = arrow_memory(DType::uint8, n / 8 + 1);
  auto* const out = reinterpret_cast<unsigned char*>(raw_data(bits));
  std::memset(out, 0, n / 8 + 1);
  for (std::size_t i = 0; i < n; ++i)
    if (raw_data(bools)[i]) out[i / 8] = static_cast<unsigned char>(out[i / 8] | 1u << i % 8);
  return bits;
}

// Row-major, on the host, without history.
inline ArrayBase checked_column(const std::string& name, const ArrayBase& a) {
  check_operand("to_arrow", a);
  need_plain("to_arrow", "the table", a);
  need_host("to_arrow", a);
  if (a.ndim() == 0) raise<ValueError>({"to_arrow: column '", name, "': an array without axes has no rows"});
  return contiguous(a, transforms_handled);
}

NAX_ENGINE ArrowOut arrow_numbers(const std::string& name, const ArrayBase& values, const ArrayBase* valid) {
  const ArrayBase a = checked_column(name, values);
  const std::int64_t n = layout_of(a).size();
  const bool bits = a.dtype() == DType::boolean;
  ArrowOut leaf{.name = name, .format = arrow_format(a.dtype()), .length = n, .buffers = {nullptr}};
  leaf.kept.push_back(bits ? bits_of(a) : a);
  leaf.buffers.push_back(n == 0 ? nullptr : raw_data(leaf.kept[0]));
  if (valid) {
    const ArrayBase mask = checked_column(name, *valid);
    if (mask.shape() != a.shape())
      raise<ShapeError>(
          {"to_arrow: column '", name, "': values have the shape ", a.shape(), ", valid ", mask.shape()});
    for (std::int64_t i = 0; i < n; ++i) leaf.nulls += !raw_data(mask)[i];
    leaf.kept.push_back(bits_of(mask));
    leaf.buffers[0] = raw_data(leaf.kept[1]);
  }
  std::int64_t length = n;
  for (int axis = a.ndim() - 1; axis > 0; --axis) {
    length = 1;
    for (int before = 0; before < axis; ++before) length *= a.shape(before);
    leaf.name = "item";
    ArrowOut list{.name = name, .format = "+w:" + std::to_string(a.shape(axis)), .length = length};
    list.buffers.push_back(nullptr);
    list.children.push_back(std::move(leaf));
    leaf = std::move(list);
  }
  return leaf;
}

NAX_ENGINE ArrowOut arrow_text(const std::string& name, const std::vector<std::string>& texts) {
  ArrowOut out{.name = name, .format = "U", .length = static_cast<std::int64_t>(texts.size())};
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  out.kept = {arrow_memory(DType::int64, texts.size() + 1), arrow_memory(DType::uint8, bytes + 1)};
  char *const offsets = raw_data(out.kept[0]), *const characters = raw_data(out.kept[1]);
  std::int64_t at = 0;
  std::memcpy(offsets, &at, sizeof at);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::memcpy(characters + at, texts[i].data(), texts[i].size());
    at += static_cast<std::int64_t>(texts[i].size());
    std::memcpy(offsets + (i + 1) * sizeof at, &at, sizeof at);
  }
  out.buffers = {nullptr, offsets, characters};
  return out;
}

NAX_ENGINE ArrowOut arrow_table(std::vector<ArrowOut> columns) {
  if (columns.empty()) throw ValueError("to_arrow: a table without columns");
  for (const ArrowOut& column : columns)
    if (column.length != columns[0].length)
      raise<ValueError>({"to_arrow: the columns have ", columns[0].length, " rows in '", columns[0].name,
                         "' and ", column.length, " in '", column.name, "'"});
  ArrowOut table{.name = "", .format = "+s", .length = columns[0].length, .buffers = {nullptr}};
  table.children = std::move(columns);
  return table;
}

// Owns the memory behind a struct that was handed out. Children may be moved out of it before it is released.
template <class C>
struct ArrowHeld {
  ArrowOut out;
  std::vector<C> children;
  std::vector<C*> pointers;
};
template <class C>
void release_arrow(C* c) {
  auto* const held = static_cast<ArrowHeld<C>*>(c->private_data);
  for (C& child : held->children)
    if (child.release) child.release(&child);
  c->release = nullptr;
  delete held;
}
// Fills what both structs have.
template <class C>
const ArrowOut& hold_arrow(const ArrowOut& out, C* c) {
  auto held = std::make_unique<ArrowHeld<C>>();
  held->out = ArrowOut{out.name, out.format, out.length, out.nulls, out.buffers, out.kept, {}};
  held->children.resize(out.children.size());
  for (C& child : held->children) held->pointers.push_back(&child);
  *c = C{};
  c->n_children = static_cast<std::int64_t>(out.children.size());
  c->children = held->pointers.data();
  c->private_data = held.get();
  c->release = release_arrow<C>;
  ArrowOwned<C> guard(c);  // releases the children that are there if one cannot be made
  ArrowHeld<C>& kept = *held.release();
  for (std::size_t i = 0; i < out.children.size(); ++i) export_arrow(out.children[i], &kept.children[i]);
  *c = std::exchange(*guard.get(), C{});
  return kept.out;
}

NAX_ENGINE void export_arrow(const ArrowOut& out, ArrowSchema* schema) {
  const ArrowOut& held = hold_arrow(out, schema);
  schema->format = held.format.c_str(), schema->name = held.name.c_str();
  schema->flags = out.nulls > 0 ? ARROW_FLAG_NULLABLE : 0;
}
NAX_ENGINE void export_arrow(const ArrowOut& out, ArrowArray* array) {
  const ArrowOut& held = hold_arrow(out, array);
  array->length = held.length, array->null_count = held.nulls;
  array->n_buffers = static_cast<std::int64_t>(held.buffers.size());
  array->buffers = const_cast<ArrowOut&>(held).buffers.data();
}

// The stream of one table, which is gone once it is handed out.
struct ArrowTable {
  ArrowOut table;
  bool taken = false;

  template <class F>
  static int call(ArrowArrayStream* stream, F f) {
    try {
      f(*static_cast<ArrowTable*>(stream->private_data));
      return 0;
    } catch (...) {
      return ENOMEM;
    }
  }
  static int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    return call(stream, [out](ArrowTable& self) { export_arrow(self.table, out); });
  }
  static int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    return call(stream, [out](ArrowTable& self) {
      *out = ArrowArray{};
      if (!self.taken) export_arrow(self.table, out);
      self.taken = true;
    });
  }
  static const char* get_last_error(ArrowArrayStream*) { return "no memory is left"; }
  static void release(ArrowArrayStream* stream) {
    delete static_cast<ArrowTable*>(stream->private_data);
    stream->release = nullptr;
  }
};

NAX_ENGINE ArrowStream arrow_stream(ArrowOut table) {
  ArrowArrayStream stream{ArrowTable::get_schema, ArrowTable::get_next, ArrowTable::get_last_error,
                          ArrowTable::release, new ArrowTable{std::move(table)}};
  return ArrowStream(&stream);
}

}  // namespace data::detail
NAX_END
