#pragma once

// Shared by the matrix products: a strided matrix, and scratch memory for one call.

#include <cstddef>
#include <cstdint>

#include "nax/core/allocator.hpp"

NAX_BEGIN
namespace cpu {

// Element (i, j) is data[i * row + j * column]; strides of any sign, zero too.
template <class T>
struct Strided {
  T* data;
  std::int64_t row, column;
  Strided at(std::int64_t i, std::int64_t j) const { return {data + i * row + j * column, row, column}; }
  Strided transposed() const { return {data, column, row}; }
};

// Uninitialised; T needs no construction.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        data_(static_cast<T*>(HostAllocator::allocate(bytes_))) {}
  ~Scratch() { HostAllocator::deallocate(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace cpu
NAX_END
