#include "cuda/ptx/hook.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <set>

#include "cuda/ptx/arrays.hpp"
#include "cuda/runtime/runtime.hpp"

// Functions of the runtime that nvcc's code and CUB call and ../runtime lacks.
namespace ptx {
namespace {

struct Binary {
  const char* text = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<Module> module;
  Module& read() {
    if (!module) module = std::make_unique<Module>(std::string(text, bytes));
    return *module;
  }
};
struct Kernel {
  Binary* binary;
  std::string name;
};
struct Hook {
  std::mutex mutex;
  std::map<const void*, Kernel> kernels;
  std::map<const void*, std::pair<Binary*, std::string>> variables;
  std::vector<std::string> faults;
  Checks checks;
  std::uint32_t seed = 1;
  Counts counts;
  Arrays arrays;
};
Hook& hook() {
  static Hook* const one = new Hook;
  return *one;
}

void note(const char* problem) {
  const std::lock_guard lock(hook().mutex);
  hook().faults.emplace_back(problem);
}

struct Configuration {
  dim3 blocks, threads;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t start(const Kernel& kernel, dim3 blocks, dim3 threads, void** arguments, std::size_t shared,
                  cudaStream_t stream) {
  auto launch = std::make_shared<Launch>();
  try {
    Module& module = kernel.binary->read();
    launch->module = &module;
    launch->kernel = module.entry(kernel.name);
    if (!launch->kernel) throw Unsupported("the kernel " + kernel.name + " is not in its module");
  } catch (const std::exception& error) {
    note(error.what());
    return cudaErrorInvalidDeviceFunction;
  }
  launch->blocks = {blocks.x, blocks.y, blocks.z};
  launch->threads = {threads.x, threads.y, threads.z};
  launch->dynamic_shared = static_cast<std::uint32_t>(shared);
  launch->params.resize(launch->kernel->param_bytes);
  for (std::size_t k = 0; k < launch->kernel->params.size(); ++k) {
    const Passed& p = launch->kernel->params[k];
    std::memcpy(launch->params.data() + p.offset, arguments[k], p.bytes);
  }
  const std::uint64_t moment = hook().arrays.now();
  const int card = stand_in::card_of_stream(stream);
  launch->allocation = [moment, card, module = launch->module](const char* at, std::size_t bytes) -> Extent {
    if (module->holds(at, bytes)) return {at, at + bytes, ""};
    return hook().arrays.find(at, bytes, moment, card);
  };
  launch->checks = hook().checks;
  return stand_in::launch(stream, [launch] {
    launch->seed = hook().seed++;
    ++hook().counts.launches;
    try {
      hook().counts.steps += run(*launch);
    } catch (const std::exception& error) {
      note(error.what());
    }
  });
}

}  // namespace

Extent Arrays::find(const char* at, std::size_t bytes, std::uint64_t moment, int card) {
  const std::lock_guard lock(mutex_);
  const stand_in::Memory block = stand_in::memory_at(at);
  const auto describe = [&](const char* what, const char* begin, std::size_t size) {
    const std::ptrdiff_t from = at - begin;
    return std::string("the nearest ") + what + " has " + std::to_string(size) + " bytes, and this is " +
           std::to_string(from) + " bytes from its beginning";
  };
  if (!block.begin) return {nullptr, nullptr, "there is no allocation before it"};
  if (at + bytes > block.begin + block.bytes)
    return {nullptr, nullptr, describe("allocation", block.begin, block.bytes)};
  if (block.freed)
    return {nullptr, nullptr, describe("allocation, which was freed,", block.begin, block.bytes)};
  if (block.card >= 0 && block.card != card)
    return {nullptr, nullptr,
            "it is on card " + std::to_string(block.card) + ", and the kernel on " + std::to_string(card)};
  const auto first = lives_.lower_bound(block.begin);
  if (first == lives_.end() || first->first >= block.begin + block.bytes)
    return {block.begin, block.begin + block.bytes, ""};
  auto near = lives_.upper_bound(at);
  if (near == lives_.begin() || std::prev(near)->first < block.begin)
    return {nullptr, nullptr, "it is in a pool's block before its first array"};
  --near;
  // Memory that a pool has given back and got again may have had arrays that began elsewhere.
  for (auto of = near;; --of) {
    for (const Life& life : of->second)
      if (life.begin < moment && moment < life.end && at + bytes <= of->first + life.bytes)
        return {of->first, of->first + life.bytes, ""};
    if (of == first) break;
  }
  const Life& last = near->second.back();
  return {nullptr, nullptr,
          describe(last.end < moment ? "array, which was gone at the launch," : "array", near->first,
                   last.bytes)};
}

std::vector<std::string> take_faults() {
  const std::lock_guard lock(hook().mutex);
  return std::exchange(hook().faults, {});
}
Checks& checks() { return hook().checks; }
void seed(std::uint32_t value) { hook().seed = value; }
Counts counts() { return hook().counts; }
void array_begins(const void* memory, std::size_t bytes) {
  hook().arrays.begin(static_cast<const char*>(memory), bytes);
}
void array_ends(const void* memory) { hook().arrays.end(static_cast<const char*>(memory)); }

}  // namespace ptx

using ptx::hook;

extern "C" {

// A wrapper points to a header and images; an image of PTX is text.
void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    int magic, version;
    const char* data;
    void* rest;
  };
  struct Header {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes;
  };
  struct Image {
    std::uint16_t kind, version;
    std::uint32_t header_bytes;
    std::uint64_t bytes;
  };
  constexpr std::uint16_t kind_ptx = 1;
  auto* const binary = new ptx::Binary;
  const char* const data = static_cast<const Wrapper*>(wrapper)->data;
  const auto* const header = reinterpret_cast<const Header*>(data);
  for (const char* at = data + header->header_bytes; at < data + header->header_bytes + header->bytes;) {
    const auto* const image = reinterpret_cast<const Image*>(at);
    if (image->kind == kind_ptx) {
      binary->text = at + image->header_bytes;
      binary->bytes = image->bytes;
    }
    at += image->header_bytes + image->bytes;
  }
  if (!binary->text || std::string_view(binary->text, binary->bytes).find(".version") > 200) {
    std::fputs(
        "a program's fat binary has no text of PTX: compile for compute_90 with --compress-mode=none\n",
        stderr);
    std::abort();
  }
  binary->bytes = strnlen(binary->text, binary->bytes);
  return reinterpret_cast<void**>(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** binary, const char* function, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  const std::lock_guard lock(hook().mutex);
  hook().kernels[function] = {reinterpret_cast<ptx::Binary*>(binary), name};
}
void __cudaRegisterVar(void** binary, char* variable, char*, const char* name, int, size_t, int, int) {
  const std::lock_guard lock(hook().mutex);
  hook().variables[variable] = {reinterpret_cast<ptx::Binary*>(binary), name};
}
char __cudaInitModule(void**) { return 1; }

unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, CUstream_st* stream) {
  ptx::configurations.push_back({blocks, threads, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, size_t* shared, void* stream) {
  if (ptx::configurations.empty()) return cudaErrorInvalidConfiguration;
  const ptx::Configuration c = ptx::configurations.back();
  ptx::configurations.pop_back();
  *blocks = c.blocks, *threads = c.threads, *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* function) {
  const std::lock_guard lock(hook().mutex);
  const auto found = hook().kernels.find(function);
  if (found == hook().kernels.end()) return cudaErrorInvalidDeviceFunction;
  *handle = reinterpret_cast<cudaKernel_t>(&found->second);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return ptx::start(*reinterpret_cast<const ptx::Kernel*>(kernel), blocks, threads, arguments, shared,
                    stream);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                             cudaStream_t stream) {
  cudaKernel_t kernel;
  const cudaError_t found = __cudaGetKernel(&kernel, function);
  return found == cudaSuccess ? __cudaLaunchKernel(kernel, blocks, threads, arguments, shared, stream)
                              : found;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return cudaLaunchKernel(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                          config->stream);
}

cudaError_t cudaPeekAtLastError() { return stand_in::last_error(); }

// A small card of architecture 9.0.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      return *value = 9, cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      return *value = 0, cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      return *value = 4, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return *value = 48 << 10, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return *value = 227 << 10, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return *value = 228 << 10, cudaSuccess;
    case cudaDevAttrMaxThreadsPerBlock:
      return *value = 1024, cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return *value = 2048, cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      return *value = 0x7FFFFFFF, cudaSuccess;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return *value = 65535, cudaSuccess;
    case cudaDevAttrWarpSize:
      return *value = 32, cudaSuccess;
    case cudaDevAttrL2CacheSize:
      return *value = 1 << 20, cudaSuccess;
    default:
      std::fprintf(stderr, "cudaDeviceGetAttribute: attribute %d is not known\n",
                   static_cast<int>(attribute));
      return cudaErrorInvalidValue;
  }
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  cudaKernel_t kernel;
  if (const cudaError_t found = __cudaGetKernel(&kernel, function); found != cudaSuccess) return found;
  const auto& one = *reinterpret_cast<const ptx::Kernel*>(kernel);
  *attributes = {};
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->numRegs = 32;
  attributes->maxThreadsPerBlock = 1024;
  try {
    if (const ptx::Function* f = one.binary->read().entry(one.name)) {
      attributes->sharedSizeBytes = f->shared_bytes;
      attributes->maxThreadsPerBlock = static_cast<int>(f->most_threads);
    }
  } catch (const std::exception& error) {
    ptx::note(error.what());
    return cudaErrorInvalidDeviceFunction;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads,
                                                                   size_t, unsigned) {
  *blocks = std::max(1, 2048 / std::max(threads, 1) / 4);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  const auto found = hook().variables.find(symbol);
  if (found == hook().variables.end()) return cudaErrorInvalidSymbol;
  *address = found->second.first->read().variable(found->second.second);
  return *address ? cudaSuccess : cudaErrorInvalidSymbol;
}
}
