#pragma once

#include "nax/io/mapped_file.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE MappedFile::MappedFile(const Source& source, ReadOrder order)
    : size_(static_cast<std::size_t>(source.size())), address_(os::map_file(source.descriptor(), size_)) {
  if (!address_) fail_system(source.function(), source.path(), "cannot be mapped");
  // Advice that is not taken costs time, nothing else.
  if (order == ReadOrder::random) os::advise_random(address_, size_);
}

NAX_ENGINE void MappedFile::begin_reading(std::uint64_t offset, std::size_t size) const {
  os::advise_soon(at(offset), size);
}

// The elements of one array in a mapped file.
class MappedElements final : public nax::detail::BufferSource {
 public:
  MappedElements(std::shared_ptr<const MappedFile> file, std::uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}
  void* gather() override { return file_->at(offset_); }
  bool lies_in_memory() const override { return true; }

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
