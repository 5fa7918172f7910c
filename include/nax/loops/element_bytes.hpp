#pragma once

#include <cstdint>
#include <cstring>

#include "nax/core/dtype.hpp"

// Elements as bytes, for loops that are not compiled for each dtype.
NAX_BEGIN
namespace loops {

struct ElementBytes {
  alignas(16) char at[16] = {};
};

inline ElementBytes one_of(DType dtype) {
  ElementBytes bytes;
  switch (dtype) {
#define NAX_ONE(name, type, kind, text)      \
  case DType::name: {                        \
    const type one(static_cast<type>(1.f));  \
    std::memcpy(bytes.at, &one, sizeof one); \
    break;                                   \
  }
    NAX_FOR_EACH_DTYPE(NAX_ONE)
#undef NAX_ONE
  }
  return bytes;
}

// Elements [first, first + count) of an integer dtype; of uint64 the numbers of the same bits.
inline void read_integers(const char* from, std::int64_t first, std::int64_t count, DType dtype,
                          std::int64_t* to) {
  const auto as = [&]<class T>(T) {
    for (std::int64_t i = 0; i < count; ++i) {
      T x;
      std::memcpy(&x, from + (first + i) * static_cast<std::int64_t>(sizeof x), sizeof x);
      to[i] = static_cast<std::int64_t>(x);
    }
  };
  switch (dtype_size(dtype)) {
    case 1:
      return dtype == DType::int8 ? as(std::int8_t()) : as(std::uint8_t());
    case 2:
      return dtype == DType::int16 ? as(std::int16_t()) : as(std::uint16_t());
    case 4:
      return dtype == DType::int32 ? as(std::int32_t()) : as(std::uint32_t());
    default:
      return as(std::int64_t());
  }
}
inline std::int64_t integer_at(const char* from, std::int64_t place, DType dtype) {
  std::int64_t number;
  read_integers(from, place, 1, dtype, &number);
  return number;
}

}  // namespace loops
NAX_END
