#pragma once

#include "nax/io/npy.hpp"
#include "nax/io/zip_reader.hpp"
#include "nax/io/zip_writer.hpp"
#include "nax/tree/tree.hpp"

// Trees in NumPy's files.
NAX_BEGIN
namespace io {
namespace detail {

inline bool is_npy(const std::string& path) {
  return path.size() >= 4 && path.compare(path.size() - 4, 4, ".npy") == 0;
}

// A tree path as a name: `.layers[0].w` is saved as `layers[0].w`, a lone array as NumPy's `arr_0`.
inline std::string name_of(const std::string& tree_path) {
  if (tree_path.empty()) return "arr_0";
  return tree_path[0] == '.' ? tree_path.substr(1) : tree_path;
}

// A leaf as an array: numbers are 0-d.
template <class L>
ArrayBase array_of(const std::string& name, const L& leaf) {
  if constexpr (requires { typename L::expression_tag; }) {
    return array_of(name, Array<typename L::value_type>(leaf));
  } else if constexpr (std::is_base_of_v<ArrayBase, L>) {
    if (nax::detail::is_batched(leaf))
      raise<ValueError>({"save: ", name, " is batched by vmap; return it from the mapped function instead"});
    return nax::detail::on_host(nax::detail::contiguous(leaf, nax::detail::transforms_handled));
  } else {
    static_assert(Scalar<L>, "save: the leaves of the tree must be arrays or numbers");
    return nax::detail::host_number(static_cast<element_t<L>>(leaf));
  }
}

template <class L>
struct ElementOf {
  using type = element_t<L>;
};
template <class T>
struct ElementOf<Array<T>> {
  using type = T;
};

// Reads a leaf of this type from the file; throws where the file has something else.
template <class L>
L loaded(Member&& member, const L& leaf) {
  using T = typename ElementOf<L>::type;
  if constexpr (is_array_v<L>) {
    // An array that was never given a value takes whatever the file has; others stay where they were.
    const bool any = !nax::detail::ArrayAccess::buffer(leaf);
    const Shape expected = leaf.shape();
    const Array<T> array = nax::detail::typed<T>(read_npy(member, dtype_of<T>, any ? nullptr : &expected));
    return nax::detail::typed<T>(
        nax::detail::beside(leaf, any ? nax::detail::placed(array) : ArrayBase(array)));
  } else {
    const Shape expected{};
    return static_cast<L>(nax::detail::typed<T>(read_npy(member, dtype_of<T>, &expected)).item());
  }
}

// Statics in files: numbers and enums as numbers, strings as NumPy's bytes (dtype S); others are left out.
template <class T>
inline constexpr bool is_text_v = std::is_convertible_v<const T&, std::string>;
template <class T>
constexpr auto static_number(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return static_cast<std::underlying_type_t<T>>(value);
  else if constexpr (Scalar<T>)
    return value;
}
template <class T>
inline constexpr bool has_number_v = Scalar<decltype(static_number(std::declval<const T&>()))>;

// Of dtype S, whose size is 1 at least.
inline std::string padded(std::string text) { return text.empty() ? std::string(1, '\0') : text; }

// Throws where the file's text is another one.
NAX_ENGINE void check_text(Member&& member, const std::string& text);

// Visits leaves and Statics with their names.
struct Saver {
  ZipWriter& zip;
  void add(const std::string& name, const ArrayBase& array) const {
    zip.add(name + ".npy", npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
            array.nbytes());
  }
  template <class L>
  void operator()(const nax::tree::detail::Path& path, const L& leaf) const {
    const std::string name = name_of(path.text());
    add(name, array_of(name, leaf));
  }
  template <class T>
  void fixed(const nax::tree::detail::Path& path, const nax::tree::Static<T>& value) const {
    const std::string name = name_of(path.text());
    if constexpr (is_text_v<T>) {
      const std::string text = padded(*value);
      zip.add(name + ".npy", npy_header("|S" + std::to_string(text.size()), Shape{}), text.data(),
              text.size());
    } else if constexpr (has_number_v<T>) {
      add(name, array_of(name, static_number(*value)));
    }
  }
};

struct Loader {
  const Source& source;
  ZipReader& zip;
  ZipReader::Entry take(const std::string& name) const {
    const auto found = zip.entries().find(name);
    if (found == zip.entries().end()) source.fail("has no array named " + name);
    return std::move(zip.entries().extract(found).mapped());
  }
  template <class L>
  void operator()(const nax::tree::detail::Path& path, L& leaf) const {
    leaf = loaded(zip.open(take(name_of(path.text()))), leaf);
  }
  template <class T>
  void fixed(const nax::tree::detail::Path& path, const nax::tree::Static<T>& value) const {
    const std::string name = name_of(path.text());
    if constexpr (is_text_v<T>) {
      check_text(zip.open(take(name)), *value);
    } else if constexpr (has_number_v<T>) {
      const auto ours = static_number(*value);
      const auto theirs = loaded(zip.open(take(name)), ours);
      const auto text = [](const auto& x) {
        return nax::tree::detail::static_text(nax::tree::Static<std::remove_cvref_t<decltype(x)>>(x));
      };
      if (!(theirs == ours))
        source.fail("(" + name + ") is " + text(theirs) + ", the tree has " + text(ours));
    }
  }
};

// Arrays of a file that a tree does not take: those that `skip` names, and with `columns` all that it does
// not.
struct PassedOver {
  std::vector<std::string> skip, columns;

  NAX_ENGINE void drop(const Source& source, ZipReader& zip) const;
};

template <class T>
void load_from(const Source& source, bool one_array, T& tree, const PassedOver& passed = {}) {
  if (one_array) {
    if constexpr (nax::tree::detail::kind_of<T> == nax::tree::NodeKind::leaf) {
      tree = loaded(Member(source, "the array"), tree);
      return;
    } else {
      source.fail("holds one array, not a tree");
    }
  }
  ZipReader zip(source);
  passed.drop(source, zip);
  T result = tree;
  Loader loader{source, zip};
  nax::tree::detail::walk(nax::tree::detail::Path{.name = "load"}, loader, result);
  if (!zip.entries().empty()) source.fail("has " + zip.entries().begin()->first + ", which the tree has not");
  tree = std::move(result);
}

}  // namespace detail

// Writes a tree to a .npz file, which numpy.load opens: one array a leaf, named by its path in the tree
// (`[0].w`, `layers[2].bias`); numbers become 0-d arrays. A class with tree_fields is saved by its fields'
// names if that function is constexpr, else by its own name and their positions (`Model[0]`). A path that
// ends in .npy takes a single array. A tree::Static is saved where it is a number, an enum or a string.
//
// The file appears complete or not at all, also where several threads or processes save to one path, and is
// on the disk when save returns. One that was there keeps its mode; a symbolic link stays one; a pipe or a
// device is written through. A path may be an address (s3://bucket/key), where the program links
// nax::storage. Throws IoError.
template <class T>
void save(const std::string& path, const T& tree) {
  if (detail::is_npy(path)) {
    if constexpr (nax::tree::detail::kind_of<T> == nax::tree::NodeKind::leaf) {
      const ArrayBase array = detail::array_of("the array", tree);
      const std::string header = detail::npy_header(array.dtype(), array.shape());
      detail::NewFile file("save", path);
      file.write(header.data(), header.size());
      file.write(nax::detail::raw_data(array), array.nbytes());
      file.commit();
      return;
    } else {
      raise<IoError>({"save: '", path, "' can hold one array only; name the file .npz for a tree"});
    }
  }
  detail::ZipWriter zip("save", path);
  detail::Saver saver{zip};
  nax::tree::detail::walk(nax::tree::detail::Path{.name = "save"}, saver, tree);
  zip.commit();
}

// Fills a tree from the file that save, or NumPy's savez or savez_compressed, wrote. The tree says what is
// expected: dtypes and shapes must agree (an array that was never given a value takes the file's shape), and
// every name must be on both sides. A tree::Static that is saved must be equal. Bools that are not 0
// become 1. Throws IoError naming the leaf and both shapes or dtypes; the tree is then as it was before.
template <class T>
void load(const std::string& path, T& tree) {
  detail::within_memory("load", path,
                        [&] { detail::load_from(detail::Source("load", path), detail::is_npy(path), tree); });
}

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace io::detail {

NAX_ENGINE void check_text(Member&& member, const std::string& text) {
  const NpyHeader header = read_npy_header(member);
  if (header.descr.substr(0, 2) != "|S" || !header.shape.empty() ||
      header.descr.substr(2) != std::to_string(member.left()))
    member.fail("has dtype '" + header.descr + "' and shape " + to_string(header.shape) +
                ", the tree has the text '" + text + "'");
  std::string there(member.left(), '\0');
  member.read(there.data(), there.size());
  member.finish();
  if (there == padded(text)) return;
  there.resize(std::min<std::size_t>(there.find_last_not_of('\0') + 1, 256));
  member.fail("is '" + there + "', the tree has '" + text + "'");
}

NAX_ENGINE void PassedOver::drop(const Source& source, ZipReader& zip) const {
  const auto check = [&](const std::string& name) {
    if (!zip.entries().contains(name)) source.fail("has no array named " + name);
  };
  for (const std::string& name : columns) check(name);
  for (const std::string& name : skip) check(name), zip.entries().erase(name);
  if (columns.empty()) return;
  std::erase_if(zip.entries(), [&](const auto& entry) {
    return std::find(columns.begin(), columns.end(), entry.first) == columns.end();
  });
}

}  // namespace io::detail
NAX_END
#endif
