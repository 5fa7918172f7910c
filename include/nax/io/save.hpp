#pragma once

#include <map>

#include "nax/io/npy.hpp"
#include "nax/io/zip.hpp"
#include "nax/tree/tree.hpp"

// Trees in NumPy's files.
namespace nax::io {
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

// What the file has for a leaf of this type; throws where that is something else.
template <class L>
L loaded(const std::string& path, const std::string& name, const L& leaf, const std::uint8_t* data,
         std::size_t size) {
  using T = typename ElementOf<L>::type;
  const auto fail_here = [&](const std::string& what) { fail("load", path, "(" + name + ") " + what); };
  const NpyHeader header = read_npy_header(data, size, fail_here);
  bool swapped;
  if (!same_descr(header.descr, dtype_of<T>, swapped))
    fail_here("has dtype '" + header.descr + "', the tree " + std::string(dtype_name(dtype_of<T>)) + " ('" +
              npy_descr(dtype_of<T>) + "')");
  Shape expected;
  bool any = false;
  if constexpr (is_array_v<L>) {
    expected = leaf.shape();
    any = !nax::detail::ArrayAccess::buffer(leaf);  // never given a value: takes whatever the file has
  }
  if (!any && header.shape != expected)
    fail_here("has shape " + to_string(header.shape) + ", the tree " + to_string(expected));
  std::uint64_t bytes = dtype_size(dtype_of<T>);
  for (std::int64_t extent : header.shape) {
    if (extent != 0 && bytes > (std::uint64_t{1} << 55) / static_cast<std::uint64_t>(extent))
      fail_here("has an impossible shape " + to_string(header.shape));
    bytes *= static_cast<std::uint64_t>(extent);
  }
  if (size - header.size != bytes)
    fail_here((size - header.size < bytes ? "is truncated: " : "is too long: ") +
              std::to_string(size - header.size) + " bytes of elements instead of " + std::to_string(bytes));
  const Array<T> array(array_from(data + header.size, dtype_of<T>, header, swapped));
  if constexpr (is_array_v<L>)  // stays where it was
    return Array<T>(nax::detail::beside(leaf, any ? nax::detail::placed(array) : ArrayBase(array)));
  else
    return static_cast<L>(array.item());
}

}  // namespace detail

// Writes a tree to a .npz file, which numpy.load opens: one array a leaf, named by its path in the tree
// (`[0].w`, `layers[2].bias`); numbers become 0-d arrays. A path that ends in .npy takes a single array. The
// file appears complete or not at all. Throws IoError.
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
  nax::tree::for_each_with_path(
      [&](const std::string& tree_path, const auto& leaf) {
        const std::string name = detail::name_of(tree_path);
        const ArrayBase array = detail::array_of(name, leaf);
        zip.add(name + ".npy", detail::npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
                array.nbytes());
      },
      tree);
  zip.commit();
}

// Fills a tree from the file that save, or numpy.savez, wrote. The tree says what is expected: dtypes and
// shapes must agree (an array that was never given a value takes the file's shape), and every name must be on
// both sides. Throws IoError naming the leaf and both shapes or dtypes; the tree is then as it was before.
template <class T>
void load(const std::string& path, T& tree) {
  const Bytes bytes = detail::read_file("load", path);
  if (detail::is_npy(path)) {
    if constexpr (nax::tree::detail::kind_of<T> == nax::tree::NodeKind::leaf) {
      tree = detail::loaded(path, "the array", tree, bytes.data(), bytes.size());
      return;
    } else {
      raise<IoError>({"load: '", path, "' holds one array, not a tree"});
    }
  }
  std::map<std::string, detail::ZipMember> members;
  for (detail::ZipMember& member : detail::zip_members("load", path, bytes)) {
    std::string name = member.name;
    if (detail::is_npy(name)) name.resize(name.size() - 4);
    members.insert_or_assign(name, std::move(member));
  }
  T result = tree;
  nax::tree::for_each_with_path(
      [&](const std::string& tree_path, auto& leaf) {
        const std::string name = detail::name_of(tree_path);
        const auto found = members.find(name);
        if (found == members.end()) detail::fail("load", path, "has no array named " + name);
        leaf = detail::loaded(path, name, leaf, found->second.data, found->second.size);
        members.erase(found);
      },
      result);
  if (!members.empty())
    detail::fail("load", path, "has " + members.begin()->first + ", which the tree has not");
  tree = std::move(result);
}

}  // namespace nax::io
