#pragma once

#include "nax/data/dataset.hpp"
#include "nax/io/mapped_file.hpp"
#include "nax/io/save.hpp"

// NumPy's files as datasets. The elements of a .npy file stay there until somebody reads them.
namespace nax::inline NAX_ABI::data {
namespace detail {

// The array in a .npy file: mapped where the elements lie as nax holds them, read where they do not
// (Fortran's order, the other order of bytes, bools, an odd offset).
NAX_ENGINE ArrayBase map_npy(const std::string& path, DType dtype);

}  // namespace detail

// The rows of the array in a .npy file, which is mapped, not read: `from_npy<float>("x.npy")`. The file must
// not be cut short while the dataset lives. Throws IoError for what is no such file or of another dtype.
template <Dtype T>
Dataset<Array<T>> from_npy(const std::string& path) {
  const Array<T> array = io::detail::within_memory(
      "from_npy", path, [&] { return nax::detail::typed<T>(detail::map_npy(path, dtype_of<T>)); });
  return Dataset<Array<T>>(std::make_shared<detail::ArraySource<Array<T>>>("from_npy", array, path));
}
// The rows of the arrays in an .npz file, which are read: a tree says which and of what types, as for
// io::load: `from_npz<Example>("train.npz")`.
template <class Tree>
Dataset<Tree> from_npz(const std::string& path) {
  Tree tree{};
  io::load(path, tree);
  return from_arrays(tree);
}

}  // namespace nax::inline NAX_ABI::data

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::data::detail {

NAX_ENGINE ArrayBase map_npy(const std::string& path, DType dtype) {
  const io::detail::Source source("from_npy", path);
  io::detail::Member member(source, "arr_0");
  const io::detail::NpyHeader header = io::detail::read_npy_header(member);
  bool swapped;
  const bool same = io::detail::same_descr(header.descr, dtype, swapped);
  const std::uint64_t bytes = same ? io::detail::npy_bytes(member, dtype, header.shape) : 0;
  const std::uint64_t offset = source.size() - member.left();
  const bool plain = same && !swapped && dtype != DType::boolean && bytes > 0 && member.left() == bytes &&
                     source.can_be_mapped() && offset % dtype_size(dtype) == 0 &&
                     (!header.fortran_order || header.shape.size() < 2);
  if (!plain) {
    io::detail::Member again(source, "arr_0");
    return io::detail::read_npy(again, dtype, nullptr);
  }
  return io::detail::mapped_array(std::make_shared<const io::detail::MappedFile>(source), offset, dtype,
                                  header.shape);
}

}  // namespace nax::inline NAX_ABI::data::detail
#endif
