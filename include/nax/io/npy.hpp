#pragma once

#include <bit>
#include <string_view>

#include "nax/core/bools.hpp"
#include "nax/io/file.hpp"
#include "nax/numpy/copy.hpp"

// NumPy's .npy: a magic string, a version, a Python dictionary with dtype, order and shape, then the
// elements.
namespace nax::io::detail {

static_assert(std::endian::native == std::endian::little,
              "nax::io: files are written as the machine holds numbers");

// NumPy has no bfloat16: like JAX's, such an array is saved as two bytes without a meaning.
constexpr const char* npy_descr(DType dtype) {
  constexpr const char* names[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4",
                                   "<u8", "<f2", "<V2", "<f4", "<f8", "<c8", "<c16"};
  return names[static_cast<std::size_t>(dtype)];
}

inline std::string npy_header(DType dtype, const Shape& shape) {
  std::string header = std::string("{'descr': '") + npy_descr(dtype) +
                       "', 'fortran_order': False, 'shape': " + to_string(shape) + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
  std::size_t size = 0;  // of the header: where the elements begin
};

// `fail` is called with what is wrong and does not return.
template <class Fail>
NpyHeader read_npy_header(const std::uint8_t* data, std::size_t size, const Fail& fail) {
  if (size < 10 || std::memcmp(data, "\x93NUMPY", 6) != 0) fail("is not an array of NumPy");
  const bool longer = data[6] >= 2;  // versions 2 and 3 count in four bytes
  if (data[6] < 1 || data[6] > 3 || (longer && size < 12)) fail("is of an unknown version of the format");
  NpyHeader header;
  const std::size_t begin = longer ? 12 : 10;
  const std::size_t length =
      longer ? little_endian<std::uint32_t>(data + 8) : little_endian<std::uint16_t>(data + 8);
  if (length > size - begin) fail("is truncated in its header");
  header.size = begin + length;
  const std::string_view text(reinterpret_cast<const char*>(data) + begin, length);

  const auto value_of = [&](std::string_view key) {
    std::size_t at = text.find(key);
    if (at != std::string_view::npos) at = text.find(':', at);
    if (at == std::string_view::npos) fail("has a header without " + std::string(key));
    at = text.find_first_not_of(' ', at + 1);
    return at == std::string_view::npos ? std::string_view() : text.substr(at);
  };
  const std::string_view descr = value_of("'descr'"), order = value_of("'fortran_order'"),
                         shape = value_of("'shape'");
  if (descr.empty() || descr[0] != '\'') fail("has a structured dtype, which nax does not hold");
  header.descr = std::string(descr.substr(1, descr.find('\'', 1) - 1));
  header.fortran_order = order.substr(0, 4) == "True";
  const std::size_t end = shape.find(')');
  if (shape.empty() || shape[0] != '(' || end == std::string_view::npos) fail("has a header without a shape");
  for (std::size_t i = 1; i < end;) {
    std::int64_t extent = 0;
    const std::size_t first = i;
    for (; i < end && shape[i] >= '0' && shape[i] <= '9'; ++i) {
      if (extent > (std::int64_t{1} << 55)) fail("has an impossible shape");
      extent = extent * 10 + (shape[i] - '0');
    }
    if (i > first) header.shape.push_back(extent);
    if (i < end && shape[i] != ',' && shape[i] != ' ' && shape[i] != 'L') fail("has a shape that is not one");
    if (i < end) ++i;
  }
  return header;
}

// The same type with its bytes in this order ('<' for little-endian), or with no order to speak of.
inline bool same_descr(std::string_view descr, DType dtype, bool& swapped) {
  const std::string_view ours = npy_descr(dtype);
  swapped = !descr.empty() && descr[0] == '>';
  return descr.size() == ours.size() && descr.substr(1) == ours.substr(1) &&
         (descr[0] == ours[0] || descr[0] == '>' || descr[0] == '=' || descr[0] == '|' || descr[0] == '<');
}

// An array of this dtype and shape from the elements of a file: swapped bytes are turned, Fortran's order is
// undone.
inline ArrayBase array_from(const std::uint8_t* data, DType dtype, const NpyHeader& header, bool swapped) {
  ArrayBase a = nax::detail::allocate_on_host(dtype, Frame{header.shape, {}});
  const std::size_t bytes = a.nbytes(), item = dtype_size(dtype);
  if (bytes == 0) return a;
  char* out = nax::detail::raw_data(a);
  std::memcpy(out, data, bytes);
  if (dtype == DType::boolean) nax::detail::normalize_bools(out, bytes);
  if (swapped) {
    const std::size_t part = dtype_kind(dtype) == Kind::complex ? item / 2 : item;
    for (std::size_t i = 0; i < bytes; i += part)
      for (std::size_t k = 0; k < part / 2; ++k) std::swap(out[i + k], out[i + part - 1 - k]);
  }
  if (!header.fortran_order || header.shape.size() < 2) return a;
  Layout layout = nax::detail::layout_of(a);
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    layout.strides[axis] = stride;
    stride *= layout.shape[axis];
  }
  return nax::detail::contiguous(nax::detail::view(a, std::move(layout)));
}

}  // namespace nax::io::detail
