#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_text.hpp"

// NumPy's functions of files, by its names: single arrays, archives of several, plain bytes and text. For
// trees there are io::save and io::load.
NAX_BEGIN
namespace io::detail {

// As NumPy: a name without the ending gets it.
inline std::string with_ending(std::string path, std::string_view ending) {
  const bool has =
      path.size() >= ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  return has ? path : path += ending;
}

NAX_ENGINE void write_npy(const char* function, const std::string& path, const ArrayBase& array);
NAX_ENGINE std::string npz_dtype(const ZipReader& zip, const ZipReader::Entry& entry);
NAX_ENGINE void write_npz(const char* function, const std::string& path,
                          const std::vector<std::pair<std::string, ArrayBase>>& arrays, bool pack);

}  // namespace io::detail

// Writes one array (or expression, or number) to a .npy file, which numpy.load opens; the name gets that
// ending where it has none. Throws IoError.
template <class X>
requires detail::Operand<X>
void save(const std::string& path, const X& x) {
  io::detail::write_npy("save", io::detail::with_ending(path, ".npy"), io::detail::array_of("the array", x));
}

// The array of a .npy file. The file must hold elements of type T: nothing is converted. Throws IoError.
template <Dtype T = float>
Array<T> load(const std::string& path) {
  return io::detail::within_memory("load", path, [&] {
    const io::detail::Source source("load", path);
    io::detail::Member member(source, "the array");
    return detail::typed<T>(detail::placed(io::detail::read_npy(member, dtype_of<T>, nullptr)));
  });
}

// The arrays of a .npz archive by name: `NpzFile file("x.npz"); file.get<float>("weights")`. Throws IoError.
class NpzFile {
 public:
  explicit NpzFile(const std::string& path) : source_("load", path), zip_(source_) {}
  // The names, in their order.
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : zip_.entries()) names.push_back(entry.first);
    return names;
  }
  // NumPy's name of the dtype, float32; of what nax does not hold as the file has it, |S5, |O; empty where
  // the member is no array.
  std::string dtype(const std::string& name) { return io::detail::npz_dtype(zip_, entry(name)); }
  template <Dtype T = float>
  Array<T> get(const std::string& name) {
    return io::detail::within_memory("load", source_.path(), [&] {
      io::detail::Member member = zip_.open(entry(name));
      return detail::typed<T>(detail::placed(io::detail::read_npy(member, dtype_of<T>, nullptr)));
    });
  }

 private:
  const io::detail::ZipReader::Entry& entry(const std::string& name) {
    const auto found = zip_.entries().find(name);
    if (found == zip_.entries().end()) source_.fail("has no array named " + name);
    return found->second;
  }
  io::detail::Source source_;
  io::detail::ZipReader zip_;
};

namespace io {

struct LoadNpzOptions {
  bool skip = false;  // leaves out what T does not hold: other dtypes, texts, objects, what is no array
  // Which arrays are read, by name and by NumPy's name of the dtype; none: all.
  std::function<bool(const std::string& name, const std::string& dtype)> filter = nullptr;
};

// All arrays of a .npz file by name; their dtype must be T's. Throws IoError.
template <Dtype T = float>
std::map<std::string, Array<T>> load_npz(const std::string& path, const LoadNpzOptions& options = {}) {
  NpzFile file(path);
  std::map<std::string, Array<T>> arrays;
  for (const std::string& name : file.files()) {
    const std::string dtype = options.skip || options.filter ? file.dtype(name) : "";
    if (options.skip && dtype != dtype_name(dtype_of<T>)) continue;
    if (!options.filter || options.filter(name, dtype)) arrays.emplace(name, file.get<T>(name));
  }
  return arrays;
}

}  // namespace io

// An array and its name in an archive.
struct NamedArray {
  std::string name;
  ArrayBase array;
  template <detail::Operand X>
  NamedArray(std::string n, const X& x) : name(std::move(n)), array(io::detail::array_of(name, x)) {}
};

namespace io::detail {
template <class... X>
std::vector<std::pair<std::string, ArrayBase>> numbered(const X&... x) {
  std::vector<std::pair<std::string, ArrayBase>> arrays;
  (arrays.emplace_back("arr_" + std::to_string(arrays.size()), array_of("an array", x)), ...);
  return arrays;
}
NAX_ENGINE std::vector<std::pair<std::string, ArrayBase>> named(std::initializer_list<NamedArray> list);
}  // namespace io::detail

// Several arrays in one .npz file: savez("x.npz", a, b) names them arr_0, arr_1, ...; savez("x.npz", {{"a",
// a},
// {"b", b}}) as it says. The name of the file gets the ending where it has none. Throws IoError.
template <detail::Operand... X>
void savez(const std::string& path, const X&... x) {
  io::detail::write_npz("savez", path, io::detail::numbered(x...), false);
}
inline void savez(const std::string& path, std::initializer_list<NamedArray> list) {
  io::detail::write_npz("savez", path, io::detail::named(list), false);
}
// As savez, with the arrays compressed. Throws IoError.
template <detail::Operand... X>
void savez_compressed(const std::string& path, const X&... x) {
  io::detail::write_npz("savez_compressed", path, io::detail::numbered(x...), true);
}
inline void savez_compressed(const std::string& path, std::initializer_list<NamedArray> list) {
  io::detail::write_npz("savez_compressed", path, io::detail::named(list), true);
}

struct FromfileOptions {
  std::int64_t count = -1;  // elements; all there are
  std::string sep = "";     // of text; plain bytes where there is none
  std::int64_t offset = 0;  // bytes to leave out; not of text
};
// The elements of a file of plain bytes, or the numbers of a text with .sep between them; 1-d. Throws IoError
// for what cannot be read, ValueError for what is not so many elements.
template <Dtype T = float>
Array<T> fromfile(const std::string& path, const FromfileOptions& options = {}) {
  return io::detail::within_memory("fromfile", path, [&] {
    const detail::where_used_t<io::Bytes, T> bytes = io::detail::read_file("fromfile", path);
    if (options.sep.empty()) {
      FrombufferOptions part{.count = options.count, .offset = options.offset};
      const std::int64_t left = static_cast<std::int64_t>(bytes.size()) - options.offset;
      const std::int64_t whole = left / static_cast<std::int64_t>(sizeof(T));
      if (options.count < 0 || options.count > whole)
        part.count = left < 0 ? -1 : whole;  // as many as there are
      return detail::array_of_bytes<T>("fromfile", bytes.data(), bytes.size(), part);
    }
    if (options.offset != 0) throw TypeError("fromfile: 'offset' argument only permitted for binary files");
    const std::string text(bytes.begin(), bytes.end());
    return detail::typed<T>(detail::placed(detail::host_numbers<T>(detail::parsed_numbers<T>(
        "fromfile", text, FromstringOptions{.count = options.count, .sep = options.sep}))));
  });
}
// Writes the elements as plain bytes, row-major: what fromfile reads. Throws IoError.
template <class X>
requires detail::Operand<X>
void tofile(const X& x, const std::string& path) {
  const ArrayBase array = io::detail::array_of("the array", x);
  io::detail::NewFile file("tofile", path);
  file.write(detail::raw_data(array), array.nbytes());
  file.commit();
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/numpy_files-inl.hpp"
#endif
