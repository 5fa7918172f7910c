#pragma once

// Shared by the matrix products: a strided matrix, and scratch memory for one call.

#include <cstddef>
#include <cstdint>

#include "nax/core/allocator.hpp"
#include "nax/core/further_kernels.hpp"

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
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)), data_(static_cast<T*>(allocate(bytes_))) {}
  ~Scratch() { deallocate(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }

 private:
#if defined(NAX_GIVES_KERNELS)  // by the library that took them
  static void* allocate(std::size_t bytes) { return nax_shared::further_host.allocate(bytes); }
  static void deallocate(void* data, std::size_t bytes) noexcept {
    nax_shared::further_host.deallocate(data, bytes);
  }
#else
  static void* allocate(std::size_t bytes) { return HostAllocator::allocate(bytes); }
  static void deallocate(void* data, std::size_t bytes) noexcept { HostAllocator::deallocate(data, bytes); }
#endif
  std::size_t bytes_;
  T* data_;
};

}  // namespace cpu
NAX_END
