#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include "nax/data/dataset.hpp"
#include "nax/io/save.hpp"

// NumPy's files as datasets. The elements of a .npy file stay there until somebody reads them.
namespace nax::inline NAX_ABI::data {
namespace detail {

// A file's bytes as memory of this process: pages are read when they are touched, and what is written to them
// stays here.
class MappedFile final : public BufferSource {
 public:
  MappedFile(const char* function, const std::string& path, std::size_t offset, std::size_t size);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() override { ::munmap(address_, size_); }
  void* gather() override { return static_cast<char*>(address_) + offset_; }

 private:
  std::size_t offset_, size_;
  void* address_;
};

// The array in a .npy file: mapped where the elements lie as nax holds them, read where they do not
// (Fortran's order, the other order of bytes, bools, an odd offset).
NAX_ENGINE ArrayBase map_npy(const std::string& path, DType dtype);

}  // namespace detail

// The rows of the array in a .npy file, which is mapped, not read: `from_npy<float>("x.npy")`. The file must
// not be cut short while the dataset lives. Throws IoError for what is no such file or of another dtype.
template <Dtype T>
Dataset<Array<T>> from_npy(const std::string& path) {
  const Array<T> array = io::detail::within_memory(
      "from_npy", path, [&] { return Array<T>(detail::map_npy(path, dtype_of<T>)); });
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

NAX_ENGINE MappedFile::MappedFile(const char* function, const std::string& path, std::size_t offset,
                                  std::size_t size)
    : offset_(offset), size_(offset + size) {
  const io::detail::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    io::detail::fail_system(function, path, "cannot be opened");
  if (static_cast<std::uint64_t>(status.st_size) < size_) io::detail::fail(function, path, "is truncated");
  address_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
  if (address_ == MAP_FAILED) io::detail::fail_system(function, path, "cannot be mapped");
}

NAX_ENGINE ArrayBase map_npy(const std::string& path, DType dtype) {
  const io::detail::Source source("from_npy", path);
  io::detail::Member member(source, "arr_0");
  const io::detail::NpyHeader header = io::detail::read_npy_header(member);
  bool swapped;
  const bool same = io::detail::same_descr(header.descr, dtype, swapped);
  const std::uint64_t bytes = same ? io::detail::npy_bytes(member, dtype, header.shape) : 0;
  const std::uint64_t offset = source.size() - member.left();
  const bool plain = same && !swapped && dtype != DType::boolean && bytes > 0 && member.left() == bytes &&
                     offset % dtype_size(dtype) == 0 && (!header.fortran_order || header.shape.size() < 2);
  if (!plain) {
    io::detail::Member again(source, "arr_0");
    return io::detail::read_npy(again, dtype, nullptr);
  }
  auto mapped = std::make_unique<MappedFile>("from_npy", path, static_cast<std::size_t>(offset),
                                             static_cast<std::size_t>(bytes));
  BufferRef buffer(Buffer::wrap(std::move(mapped), static_cast<std::size_t>(bytes), Device{}));
  return ArrayAccess::make(std::move(buffer), Layout::contiguous(Frame{header.shape, {}}), dtype);
}

}  // namespace nax::inline NAX_ABI::data::detail
#endif
