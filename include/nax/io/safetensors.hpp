#pragma once

#include <utility>

#include "nax/backend/cpu/convert.hpp"
#include "nax/core/bools.hpp"
#include "nax/io/mapped_file.hpp"
#include "nax/io/new_file.hpp"
#include "nax/io/safetensors_header.hpp"
#include "nax/io/save.hpp"

// Trees in Hugging Face's .safetensors files.
//
// Arrays are named by their paths in the tree, as io::save names them: `layers[0].w`. Other libraries spell
// such a path `layers.0.w`, and a key of a map, `['fc.weight']`, without its brackets. load_safetensors finds
// an array by either spelling.
namespace nax::inline NAX_ABI::io {

struct SaveSafetensorsOptions {
  std::map<std::string, std::string> metadata = {};  // texts to go with the arrays
  bool dotted = false;                               // names as PyTorch's: `layers.0.w`
};

struct LoadSafetensorsOptions {
  bool strict = true;  // throws unless the tree and the file have the same names
  // Beginnings of names: {"fc.", "head."} looks for `head.bias` of the tree under `fc.bias` in the file. The
  // first pair that fits a name of the file is taken.
  std::vector<std::pair<std::string, std::string>> rename = {};
  bool cast = false;  // converts floats of another width (bfloat16 to float32) to the tree's
  bool map = true;    // leaves elements in the file until they are used; false reads them at once
};

// Names, as the tree has them but for `left`.
struct LoadReport {
  std::vector<std::string> matched;  // filled from the file
  std::vector<std::string> missing;  // in the tree only; as they were
  std::vector<std::string> left;     // in the file only, by the file's names
};

struct ReadSafetensorsOptions {
  bool map = true;    // as for load_safetensors
  bool cast = false;  // the same
};

namespace detail {

// A tree's name as other libraries spell it.
NAX_ENGINE std::string dotted_name(const std::string& name);

NAX_ENGINE void write_safetensors(const std::string& path,
                                  std::vector<std::pair<std::string, ArrayBase>> arrays,
                                  const SaveSafetensorsOptions& options);

// A file whose header has been believed.
class SafetensorsReader {
 public:
  // `source` must outlive this.
  SafetensorsReader(const Source& source, bool map);

  const Source& source() const { return source_; }
  const SafetensorsHeader& header() const { return header_; }
  const TensorInfo& info(const std::string& name) const;
  [[noreturn, gnu::cold]] void fail(const std::string& name, const std::string& what) const {
    source_.fail("(" + shown(name) + ") " + what);
  }
  // An array on the host. Throws IoError for another dtype or, unless it is null, another shape.
  ArrayBase array(const std::string& name, DType dtype, const Shape* expected, bool cast) const;

 private:
  const Source& source_;
  SafetensorsHeader header_;
  std::shared_ptr<const MappedFile> mapped_;
};

// Which array of the file is whose.
class SafetensorsNames {
 public:
  SafetensorsNames(const SafetensorsReader& reader,
                   const std::vector<std::pair<std::string, std::string>>& rename);
  // The file's name for the tree's, each once; null where it has none.
  const std::string* take(const std::string& name);
  std::vector<std::string> left() const;

 private:
  std::map<std::string, std::pair<std::string, bool>>
      names_;  // renamed: the file's, and whether it was taken
};

template <class L>
L loaded_tensor(const SafetensorsReader& reader, const std::string& name, const L& leaf, bool cast) {
  using T = typename ElementOf<L>::type;
  if constexpr (is_array_v<L>) {
    const bool any = !nax::detail::ArrayAccess::buffer(leaf);
    const Shape expected = leaf.shape();
    const ArrayBase array = reader.array(name, dtype_of<T>, any ? nullptr : &expected, cast);
    return nax::detail::typed<T>(nax::detail::beside(leaf, any ? nax::detail::placed(array) : array));
  } else {
    const Shape expected{};
    return static_cast<L>(nax::detail::typed<T>(reader.array(name, dtype_of<T>, &expected, cast)).item());
  }
}

[[noreturn, gnu::cold]] NAX_ENGINE void fail_strict(const Source& source, const LoadReport& report);

template <class T>
LoadReport load_safetensors_from(const Source& source, T& tree, const LoadSafetensorsOptions& options) {
  const SafetensorsReader reader(source, options.map);
  SafetensorsNames names(reader, options.rename);
  LoadReport report;
  T result = tree;
  nax::tree::for_each_with_path(
      [&](const std::string& tree_path, auto& leaf) {
        std::string name = name_of(tree_path);
        const std::string* const in_file = names.take(name);
        if (in_file) leaf = loaded_tensor(reader, *in_file, leaf, options.cast);
        (in_file ? report.matched : report.missing).push_back(std::move(name));
      },
      result);
  report.left = names.left();
  if (options.strict && !(report.missing.empty() && report.left.empty())) fail_strict(source, report);
  tree = std::move(result);
  return report;
}

}  // namespace detail

// Writes a tree to a .safetensors file, which Hugging Face's libraries read: one array a leaf, named by its
// path in the tree; numbers become 0-d arrays. The file appears complete or not at all, as save's. Throws
// TypeError for complex128, which the format has not, ValueError for names that are no UTF-8 or are the same
// when dotted, IoError.
template <class T>
void save_safetensors(const std::string& path, const T& tree, const SaveSafetensorsOptions& options = {}) {
  std::vector<std::pair<std::string, ArrayBase>> arrays;
  nax::tree::for_each_with_path(
      [&](const std::string& tree_path, const auto& leaf) {
        std::string name = detail::name_of(tree_path);
        ArrayBase array = detail::array_of(name, leaf);
        arrays.emplace_back(options.dotted ? detail::dotted_name(name) : std::move(name), std::move(array));
      },
      tree);
  detail::write_safetensors(path, std::move(arrays), options);
}

// Fills a tree from a .safetensors file and says what matched. Shapes must agree; an array that was never
// given a value takes the file's. The file is mapped: it must not be cut short or overwritten in place while
// the arrays live (replacing it, as save_safetensors does, is no harm). Throws IoError that names the leaf;
// the tree is then as it was.
template <class T>
LoadReport load_safetensors(const std::string& path, T& tree, const LoadSafetensorsOptions& options = {}) {
  return detail::within_memory("load_safetensors", path, [&] {
    return detail::load_safetensors_from(detail::Source("load_safetensors", path), tree, options);
  });
}

// The arrays of a .safetensors file of any names and dtypes:
// `SafetensorsFile file("x.safetensors"); file.get<bfloat16>("wte.weight")`. Throws IoError.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path, const ReadSafetensorsOptions& options = {})
      : source_("read_safetensors", path),
        cast_(options.cast),
        reader_(detail::within_memory("read_safetensors", path,
                                      [&] { return detail::SafetensorsReader(source_, options.map); })) {}
  // The names, in their order.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& tensor : reader_.header().tensors) all.push_back(tensor.first);
    return all;
  }
  Shape shape(const std::string& name) const { return reader_.info(name).shape; }
  // By the format's name: F32, BF16; also of what nax cannot read.
  const std::string& dtype(const std::string& name) const { return reader_.info(name).dtype; }
  const std::map<std::string, std::string>& metadata() const { return reader_.header().metadata; }
  template <Dtype T = float>
  Array<T> get(const std::string& name) {
    return detail::within_memory("read_safetensors", source_.path(), [&] {
      return nax::detail::typed<T>(nax::detail::placed(reader_.array(name, dtype_of<T>, nullptr, cast_)));
    });
  }

 private:
  detail::Source source_;
  bool cast_;
  detail::SafetensorsReader reader_;
};

// All arrays of a .safetensors file by name; their dtype must be T's, or be converted to it by .cast. Throws
// IoError.
template <Dtype T = float>
std::map<std::string, Array<T>> read_safetensors(const std::string& path,
                                                 const ReadSafetensorsOptions& options = {}) {
  SafetensorsFile file(path, options);
  std::map<std::string, Array<T>> arrays;
  for (const std::string& name : file.names()) arrays.emplace(name, file.get<T>(name));
  return arrays;
}

}  // namespace nax::inline NAX_ABI::io

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::io::detail {

NAX_ENGINE std::string dotted_name(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = std::string::npos;  // of a step in brackets
    const bool quoted = name.compare(at, 2, "['") == 0;
    if (name[at] == '[') {
      end = name.find(quoted ? "']" : "]", at) + (quoted ? 1 : 0);
      // A quote and a bracket may be part of the key, where no other step follows.
      while (quoted && end + 1 < name.size() && name[end + 1] != '[' && name[end + 1] != '.')
        end = name.find("']", end) + 1;
    }
    if (name[at] != '[') {
      out += name[at++];
      continue;
    }
    if (!out.empty()) out += '.';
    out += quoted ? name.substr(at + 2, end - at - 3) : name.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return out;
}

NAX_ENGINE void write_safetensors(const std::string& path,
                                  std::vector<std::pair<std::string, ArrayBase>> arrays,
                                  const SaveSafetensorsOptions& options) {
  // The order of the format's authors: wide types first, so that all are aligned, then by name.
  static constexpr DType order[] = {DType::uint64,  DType::int64,  DType::float64, DType::complex64,
                                    DType::float32, DType::uint32, DType::int32,   DType::bfloat16,
                                    DType::float16, DType::uint16, DType::int16,   DType::int8,
                                    DType::uint8,   DType::boolean};
  const auto rank = [](const ArrayBase& a) {
    return std::find(std::begin(order), std::end(order), a.dtype());
  };
  std::sort(arrays.begin(), arrays.end(), [&](const auto& a, const auto& b) {
    const auto of_a = rank(a.second), of_b = rank(b.second);
    return of_a != of_b ? of_a < of_b : a.first < b.first;
  });
  std::string header = "{";
  const auto text = [](const std::string& s) {
    if (!is_utf8(s)) raise<ValueError>({"save_safetensors: a name or text is no UTF-8: ", shown(s)});
    return json_string(s);
  };
  for (const auto& [key, value] : options.metadata)
    header += (header.size() > 1 ? "," : "\"__metadata__\":{") + text(key) + ":" + text(value);
  if (!options.metadata.empty()) header += '}';
  std::uint64_t at = 0;
  std::map<std::string_view, bool> seen;
  for (const auto& [name, array] : arrays) {
    const char* const dtype = safetensors_dtype(array.dtype());
    if (!dtype)
      raise<TypeError>({"save_safetensors: (", name, ") is ", std::string(dtype_name(array.dtype())),
                        ", which safetensors files cannot hold"});
    if (name == "__metadata__" || !seen.emplace(name, true).second)
      raise<ValueError>({"save_safetensors: the name ", name, " is reserved or occurs twice"});
    const std::uint64_t end = at + array.nbytes();
    if (header.size() > 1) header += ',';
    header += text(name) + ":{\"dtype\":\"" + dtype + "\",\"shape\":[";
    for (int axis = 0; axis < array.ndim(); ++axis)
      header += (axis > 0 ? "," : "") + std::to_string(array.shape(axis));
    header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  header += '}';
  while (header.size() % 8 != 0) header += ' ';
  if (header.size() > longest_safetensors_header)
    raise<ValueError>({"save_safetensors: names and metadata take more than the format's 100 MB"});
  std::uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(std::uint64_t{header.size()} >> 8 * i);
  NewFile file("save_safetensors", path);
  file.write(length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& [name, array] : arrays) file.write(nax::detail::raw_data(array), array.nbytes());
  file.commit();
}

NAX_ENGINE SafetensorsReader::SafetensorsReader(const Source& source, bool map)
    : source_(source), header_(read_safetensors_header(source)) {
  if (map && source.can_be_mapped()) mapped_ = std::make_shared<const MappedFile>(source);
}

NAX_ENGINE const TensorInfo& SafetensorsReader::info(const std::string& name) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) source_.fail("has no array named " + name);
  return found->second;
}

template <class From>
cpu::ConvertFn float_converter(DType to) {
  return to == DType::float16    ? cpu::convert_run<From, half>
         : to == DType::bfloat16 ? cpu::convert_run<From, bfloat16>
         : to == DType::float32  ? cpu::convert_run<From, float>
                                 : cpu::convert_run<From, double>;
}

// An array of floats on the host in another width.
NAX_ENGINE ArrayBase float_cast(ArrayBase x, DType dtype) {
  const DType from = x.dtype();
  if (from == dtype) return x;
  ArrayBase result = nax::detail::allocate_on_host(dtype, nax::detail::layout_of(x));
  const cpu::ConvertFn convert = from == DType::float16    ? float_converter<half>(dtype)
                                 : from == DType::bfloat16 ? float_converter<bfloat16>(dtype)
                                 : from == DType::float32  ? float_converter<float>(dtype)
                                                           : float_converter<double>(dtype);
  if (x.size() > 0) convert(nax::detail::raw_data(x), 1, nax::detail::raw_data(result), 1, x.size());
  return result;
}

NAX_ENGINE ArrayBase SafetensorsReader::array(const std::string& name, DType dtype, const Shape* expected,
                                              bool cast) const {
  const TensorInfo& tensor = info(name);
  if (!tensor.held) fail(name, "has dtype " + shown(tensor.dtype) + ", which nax does not hold");
  const DType from = *tensor.held;
  if (from != dtype && !(cast && dtype_kind(from) == Kind::floating && dtype_kind(dtype) == Kind::floating))
    fail(name, "has dtype " + std::string(dtype_name(from)) + ", the tree " + std::string(dtype_name(dtype)));
  if (expected && tensor.shape != *expected)
    fail(name, "has shape " + to_string(tensor.shape) + ", the tree " + to_string(*expected));
  const std::uint64_t bytes = tensor.end - tensor.begin;
  if (mapped_ && bytes > 0 && from != DType::boolean && tensor.begin % dtype_size(from) == 0)
    return float_cast(mapped_array(mapped_, tensor.begin, from, tensor.shape), dtype);
  ArrayBase a = nax::detail::allocate_on_host(from, Frame{tensor.shape, {}});
  if (bytes > 0) source_.read(tensor.begin, nax::detail::raw_data(a), static_cast<std::size_t>(bytes));
  if (bytes > 0 && from == DType::boolean) nax::detail::normalize_bools(nax::detail::raw_data(a), bytes);
  return float_cast(std::move(a), dtype);
}

NAX_ENGINE SafetensorsNames::SafetensorsNames(
    const SafetensorsReader& reader, const std::vector<std::pair<std::string, std::string>>& rename) {
  for (const auto& [in_file, info] : reader.header().tensors) {
    std::string name = in_file;
    for (const auto& [from, to] : rename)
      if (name.compare(0, from.size(), from) == 0) {
        name = to + name.substr(from.size());
        break;
      }
    const auto [place, is_new] = names_.emplace(name, std::pair(in_file, false));
    if (!is_new)
      reader.fail(in_file, "is renamed to " + shown(name) + ", as is " + shown(place->second.first));
  }
}

NAX_ENGINE const std::string* SafetensorsNames::take(const std::string& name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.find(dotted_name(name));
  if (found == names_.end() || found->second.second) return nullptr;
  found->second.second = true;
  return &found->second.first;
}

NAX_ENGINE std::vector<std::string> SafetensorsNames::left() const {
  std::vector<std::string> names;
  for (const auto& [name, of_file] : names_)
    if (!of_file.second) names.push_back(of_file.first);
  return names;
}

NAX_ENGINE void fail_strict(const Source& source, const LoadReport& report) {
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i > 0 ? ", " : "") + shown(names[i]);
    return text + (names.size() > 8 ? ", ... (" + std::to_string(names.size()) + ")" : "");
  };
  std::string text;
  if (!report.missing.empty()) text = "has no array named " + list(report.missing);
  if (!report.left.empty())
    text +=
        std::string(text.empty() ? "" : "; it ") + "has " + list(report.left) + ", which the tree has not";
  source.fail(text);
}

}  // namespace nax::inline NAX_ABI::io::detail
#endif
