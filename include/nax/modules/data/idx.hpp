#pragma once

#include "nax/io/idx.hpp"
#include "nax/modules/data/dataset.hpp"

NAX_BEGIN
namespace data {

// The rows of the arrays in IDX files (MNIST's format, gzip or plain), together: from_idx(images) has arrays
// of bytes, from_idx(images, labels) tuples of those. Not part of nax.hpp: link nax::gzip.
inline Dataset<Array<std::uint8_t>> from_idx(const std::string& path) {
  return from_arrays(io::read_idx(path));
}
template <class... Paths>
requires(sizeof...(Paths) > 1) auto from_idx(const Paths&... paths) {
  return from_arrays(std::tuple{io::read_idx(std::string(paths))...});
}

}  // namespace data
NAX_END
