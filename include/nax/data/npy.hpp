#pragma once

#include "nax/data/dataset.hpp"
#include "nax/io/mapped_file.hpp"
#include "nax/io/save.hpp"

// NumPy's files as datasets. The elements of a .npy file stay there until somebody reads them.
NAX_BEGIN
namespace data {
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

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/data/npy-inl.hpp"
#endif
