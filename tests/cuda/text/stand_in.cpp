// Code that is loaded at run time, for the stand-in of the CUDA runtime: libraries are PTX as text, and
// kernels are run by the interpreter when their stream gets there. Cards are of an architecture that no NVRTC
// knows, so that it makes PTX.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cuda/ptx/grid.hpp"
#include "cuda/runtime/runtime.hpp"

namespace {

struct Kernel {
  ptx::Module* module;
  const ptx::Function* function;
};
std::atomic<int> loaded{0};

ptx::Extent allocation(const char* at, std::size_t bytes, int card) {
  const stand_in::Memory block = stand_in::memory_at(at);
  if (!block.begin || block.freed || at + bytes > block.begin + block.bytes || block.card != card)
    return {nullptr, nullptr, "no memory of the card holds it"};
  return {block.begin, block.begin + block.bytes, ""};
}

}  // namespace

int texts_compiled();
int texts_compiled() { return loaded; }

extern "C" {

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? 99 : 0;
  return cudaSuccess;
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  ++loaded;
  *library = reinterpret_cast<cudaLibrary_t>(new ptx::Module(static_cast<const char*>(code)));
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  ptx::Module* const module = reinterpret_cast<ptx::Module*>(library);
  const ptx::Function* const function = module->entry(name);
  if (!function) return cudaErrorInvalidValue;
  *kernel = reinterpret_cast<cudaKernel_t>(new Kernel{module, function});
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                             cudaStream_t stream) {
  const Kernel& one = *static_cast<const Kernel*>(kernel);
  auto launch = std::make_shared<ptx::Launch>();
  launch->module = one.module;
  launch->kernel = one.function;
  launch->blocks = {blocks.x, blocks.y, blocks.z};
  launch->threads = {threads.x, threads.y, threads.z};
  launch->dynamic_shared = static_cast<std::uint32_t>(shared);
  launch->params.resize(one.function->param_bytes);
  for (std::size_t k = 0; k < one.function->params.size(); ++k) {
    const ptx::Passed& p = one.function->params[k];
    std::memcpy(launch->params.data() + p.offset, arguments[k], p.bytes);
  }
  const int card = stand_in::card_of_stream(stream);
  launch->allocation = [card](const char* at, std::size_t bytes) { return allocation(at, bytes, card); };
  return stand_in::launch(stream, [launch] {
    try {
      ptx::run(*launch);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "a kernel's fault: %s\n", error.what());
      std::abort();
    }
  });
}
}
