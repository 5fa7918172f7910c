#pragma once

#include "nax/io/mapped_file.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE MappedFile::MappedFile(const Source& source, ReadOrder order)
    : size_(static_cast<std::size_t>(source.size())) {
  address_ =
      ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, source.descriptor(), 0);
  if (address_ == MAP_FAILED) fail_system(source.function(), source.path(), "cannot be mapped");
  // Advice that is not taken costs time, nothing else.
  if (order == ReadOrder::random) static_cast<void>(::madvise(address_, size_, MADV_RANDOM));
}

NAX_ENGINE void MappedFile::begin_reading(std::uint64_t offset, std::size_t size) const {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page * page;
  static_cast<void>(::madvise(at(begin), size + static_cast<std::size_t>(offset - begin), MADV_WILLNEED));
}

// The elements of one array in a mapped file.
class MappedElements final : public nax::detail::BufferSource {
 public:
  MappedElements(std::shared_ptr<const MappedFile> file, std::uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}
  void* gather() override { return file_->at(offset_); }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::uint64_t offset_;
};

NAX_ENGINE ArrayBase mapped_array(std::shared_ptr<const MappedFile> file, std::uint64_t offset, DType dtype,
                                  const Shape& shape) {
  Layout layout = Layout::contiguous(Frame{shape, {}});
  const std::size_t bytes = static_cast<std::size_t>(layout.size()) * dtype_size(dtype);
  nax::detail::BufferRef buffer(
      nax::detail::Buffer::wrap(std::make_unique<MappedElements>(std::move(file), offset), bytes, Device{}));
  return nax::detail::ArrayAccess::make(std::move(buffer), std::move(layout), dtype);
}

}  // namespace io::detail
NAX_END
