#pragma once

#include <memory>

#include "nax/core/transfer.hpp"
#include "nax/io/file.hpp"

// Files as memory of this process.
NAX_BEGIN
namespace io::detail {

// The order in which a mapping will be touched: the system reads ahead in the one, and not in the other.
enum class ReadOrder : std::uint8_t { forward, random };

// The bytes of an open file, mapped: pages are read when they are touched, and writing to them does not reach
// the file. The file must not be cut short or overwritten in place while this lives.
class MappedFile {
 public:
  explicit MappedFile(const Source& source, ReadOrder order = ReadOrder::forward);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { os::unmap_file(address_, size_); }
  char* at(std::uint64_t offset) const { return static_cast<char*>(address_) + offset; }
  // Asks the system to begin reading these bytes. Returns at once.
  void begin_reading(std::uint64_t offset, std::size_t size) const;

 private:
  std::size_t size_;
  void* address_;
};

// An array of the elements at `offset`, row-major and as nax holds them; it keeps the mapping alive.
NAX_ENGINE ArrayBase mapped_array(std::shared_ptr<const MappedFile> file, std::uint64_t offset, DType dtype,
                                  const Shape& shape);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/mapped_file-inl.hpp"
#endif
