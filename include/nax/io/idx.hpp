#pragma once

#include <optional>

#include "nax/core/array.hpp"
#include "nax/io/gzip.hpp"

// The format of MNIST: a magic number (two zeros, the type, the number of axes), the extents, the elements;
// all numbers big-endian.
NAX_BEGIN
namespace io {
namespace detail {

// The bytes of a file, or those packed in it, in a row.
class PlainOrGzip {
 public:
  explicit PlainOrGzip(const Source& source) : source_(source) {
    if (is_gzip(source)) gzip_.emplace(source);
  }
  // Deflate makes at most 1032 bytes of one, so this many can be there.
  std::uint64_t most() const { return gzip_ ? source_.size() * 1032 : source_.size(); }
  // Fills `to`; less than `size` only at the end.
  std::size_t read(std::uint8_t* to, std::size_t size) {
    std::size_t got = size;
    if (gzip_) {
      got = gzip_->read(to, size);
    } else {
      if (got > source_.size() - at_) got = static_cast<std::size_t>(source_.size() - at_);
      source_.read(at_, to, got);
    }
    at_ += got;
    return got;
  }
  std::uint64_t at() const { return at_; }

 private:
  const Source& source_;
  std::optional<GzipReader> gzip_;
  std::uint64_t at_ = 0;
};

// Reads the header first, and then no more than it says.
inline Array<std::uint8_t> read_idx_from(const Source& source) {
  PlainOrGzip file(source);
  const auto read = [&](std::uint8_t* to, std::size_t size) {
    const std::uint64_t end = file.at() + size;
    if (file.read(to, size) < size)
      source.fail("is truncated: " + std::to_string(end) + " bytes expected, it ends at offset " +
                  std::to_string(file.at()));
  };
  std::uint8_t magic[4], number[4];
  read(magic, 4);
  if (magic[0] != 0 || magic[1] != 0) source.fail("is not an IDX file: no magic number at offset 0");
  if (magic[2] != 0x08)
    source.fail("holds elements of type " + std::to_string(magic[2]) +
                " (offset 2); only 8, unsigned bytes, is read");
  Shape shape;
  std::uint64_t size = 1;
  bool empty = false;
  for (std::size_t axis = 0; axis < magic[3]; ++axis) {
    read(number, 4);
    const std::uint32_t extent = big_endian(number);
    shape.push_back(extent);
    if (extent == 0) {
      empty = true;  // the product of the others counts: strides are made of it
      continue;
    }
    if (size > (std::uint64_t{1} << 40) / extent)
      source.fail("has an impossible shape " + to_string(shape) + " at offset " +
                  std::to_string(file.at() - 4));
    size *= extent;
  }
  if (empty) size = 0;
  if (size > file.most() - file.at())
    source.fail("is truncated: " + std::to_string(file.at() + size) + " bytes expected, it ends at offset " +
                std::to_string(source.size()));
  Array<std::uint8_t> array =
      nax::detail::typed<std::uint8_t>(nax::detail::allocate_on_host(DType::uint8, Frame{shape, {}}));
  if (size > 0) read(reinterpret_cast<std::uint8_t*>(nax::detail::raw_data(array)), size);
  const std::uint64_t end = file.at();
  if (file.read(number, 1) > 0)
    source.fail("has bytes that do not belong to it from offset " + std::to_string(end) + " on, for shape " +
                to_string(shape));
  return nax::detail::typed<std::uint8_t>(nax::detail::placed(std::move(array)));
}

}  // namespace detail

// The uint8 array in an IDX file, gzip or plain. Throws IoError naming the file and the offset for whatever
// is not exactly such a file.
inline Array<std::uint8_t> read_idx(const std::string& path) {
  return detail::within_memory("read_idx", path,
                               [&] { return detail::read_idx_from(detail::Source("read_idx", path)); });
}

}  // namespace io
NAX_END
