#pragma once

#include <functional>
#include <utility>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/core/bools.hpp"
#include "nax/core/where_used.hpp"
#include "nax/io/mapped_file.hpp"
#include "nax/io/new_file.hpp"
#include "nax/io/safetensors_header.hpp"
#include "nax/io/save.hpp"

// Trees in Hugging Face's .safetensors files.
//
// Arrays are named by their paths in the tree, as io::save names them: `layers[0].w`. Other libraries spell
// such a path `layers.0.w`, and a key of a map, `['fc.weight']`, without its brackets. load_safetensors finds
// an array by either spelling.
NAX_BEGIN
namespace io {

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
  std::vector<std::string> missing;  // leaves that the file lacks; left unchanged
  std::vector<std::string> left;     // in the file only, by the file's names
};

struct ReadSafetensorsOptions {
  bool map = true;    // as for load_safetensors
  bool cast = false;  // the same
  // Of read_safetensors: leaves out what T does not hold, and is not converted to it by .cast.
  bool skip = false;
  // Of read_safetensors: which arrays are read, by name and by the format's name of the dtype; none: all.
  std::function<bool(const std::string& name, const std::string& dtype)> filter = nullptr;
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
  std::vector<std::string> names() const;
  const TensorInfo& info(const std::string& name) const;
  [[noreturn, gnu::cold]] void fail(const std::string& name, const std::string& what) const {
    source_.fail("(" + shown(name) + ") " + what);
  }
  // Whether array() gives this dtype.
  bool gives(const std::string& name, DType dtype, bool cast) const;
  // An array on the host. Throws IoError for another dtype or, unless it is null, another shape.
  ArrayBase array(const std::string& name, DType dtype, const Shape* expected, bool cast) const;

 private:
  const Source& source_;
  SafetensorsHeader header_;
  std::shared_ptr<const MappedFile> mapped_;
};

// Which array of the file is whose.
class NamesOfFile {
 public:
  NamesOfFile(const Source& source, const std::vector<std::string>& names,
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
  const nax::detail::where_used_t<SafetensorsReader, T> reader(source, options.map);
  nax::detail::where_used_t<NamesOfFile, T> names(source, reader.names(), options.rename);
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
  nax::detail::where_used_t<std::vector<std::pair<std::string, ArrayBase>>, T> arrays;
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
  explicit SafetensorsFile(const std::string& path, const ReadSafetensorsOptions& options = {});
  // The names, in their order.
  std::vector<std::string> names() const { return reader_.names(); }
  Shape shape(const std::string& name) const { return reader_.info(name).shape; }
  // By the format's name: F32, BF16; also of what nax cannot read.
  const std::string& dtype(const std::string& name) const { return reader_.info(name).dtype; }
  const std::map<std::string, std::string>& metadata() const { return reader_.header().metadata; }
  // Whether get gives it as T.
  template <Dtype T = float>
  bool holds(const std::string& name) const {
    return reader_.gives(name, dtype_of<T>, cast_);
  }
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
  for (const std::string& name : file.names())
    if ((!options.skip || file.template holds<T>(name)) &&
        (!options.filter || options.filter(name, file.dtype(name))))
      arrays.emplace(name, file.template get<T>(name));
  return arrays;
}

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/safetensors-inl.hpp"
#endif
