#pragma once

#include "nax/core/array.hpp"
#include "nax/io/gzip.hpp"

// The format of MNIST: a magic number (two zeros, the type, the number of axes), the extents, the elements;
// all numbers big-endian.
namespace nax::io {

// The uint8 array in an IDX file, gzip or plain. Throws IoError naming the file and the offset for whatever
// is not exactly such a file.
inline Array<std::uint8_t> read_idx(const std::string& path) {
  Bytes bytes = detail::read_file("read_idx", path);
  if (detail::is_gzip(bytes)) bytes = gunzip(bytes, path);
  const auto fail = [&](const std::string& what) { detail::fail("read_idx", path, what); };
  const auto need = [&](std::uint64_t size) {
    if (bytes.size() < size)
      fail("is truncated: " + std::to_string(size) + " bytes expected, it ends at offset " +
           std::to_string(bytes.size()));
  };
  need(4);
  if (bytes[0] != 0 || bytes[1] != 0) fail("is not an IDX file: no magic number at offset 0");
  if (bytes[2] != 0x08)
    fail("holds elements of type " + std::to_string(bytes[2]) +
         " (offset 2); only 8, unsigned bytes, is read");
  const std::size_t ndim = bytes[3];
  need(4 + 4 * ndim);
  Shape shape;
  std::uint64_t size = 1;
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    const std::uint32_t extent = detail::big_endian(bytes.data() + 4 + 4 * axis);
    shape.push_back(extent);
    if (extent != 0 && size > (std::uint64_t{1} << 40) / extent)
      fail("has an impossible shape " + to_string(shape) + " at offset " + std::to_string(4 + 4 * axis));
    size *= extent;
  }
  const std::uint64_t header = 4 + 4 * ndim;
  need(header + size);
  if (bytes.size() > header + size)
    fail("has bytes that do not belong to it from offset " + std::to_string(header + size) +
         " on, for shape " + to_string(shape));
  Array<std::uint8_t> array(nax::detail::allocate_on_host(DType::uint8, Frame{shape, {}}));
  if (size > 0) std::memcpy(nax::detail::raw_data(array), bytes.data() + header, size);
  return Array<std::uint8_t>(nax::detail::placed(std::move(array)));
}

}  // namespace nax::io
