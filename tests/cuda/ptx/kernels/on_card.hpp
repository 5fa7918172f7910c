#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/ptx/hook.hpp"

// Kernels that run on the interpreter.
namespace on_card {

// An array on the card, of exactly that many elements.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, n * sizeof(T)), cudaSuccess);
    data_ = static_cast<T*>(memory);
  }
  Array(const std::vector<T>& values, cudaStream_t stream) : Array(values.size()) {
    EXPECT_EQ(cudaMemcpyAsync(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice, stream),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }
  T* data() const { return data_; }
  std::size_t size() const { return n_; }
  std::vector<T> values(cudaStream_t stream) const {
    std::vector<T> host(n_);
    EXPECT_EQ(cudaMemcpyAsync(host.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return host;
  }

 private:
  std::size_t n_;
  T* data_;
};

class Kernels : public testing::Test {
 protected:
  Kernels() {
    ptx::take_faults();
    ptx::checks() = {};
    ptx::seed(1);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  ~Kernels() override {
    cudaStreamSynchronize(stream);
    for (const std::string& fault : ptx::take_faults()) ADD_FAILURE() << fault;
    cudaStreamDestroy(stream);
    ptx::checks() = {};
  }
  // The first fault since the beginning, after all kernels have run; there is no other.
  std::string fault() {
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const std::vector<std::string> all = ptx::take_faults();
    EXPECT_LE(all.size(), 1u);
    return all.empty() ? "no fault" : all[0];
  }
  template <class T>
  std::vector<T> values(const Array<T>& x) const {
    return x.values(stream);
  }

  cudaStream_t stream = nullptr;
};

// Bits without a pattern.
inline std::uint64_t scrambled(std::uint64_t i) {
  i = (i ^ (i >> 31)) * 0x7FB5D329728EA185u + 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 27)) * 0x81DADEF4BC2DD44Du;
  return i ^ (i >> 33);
}

}  // namespace on_card
