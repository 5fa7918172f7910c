// Fills the slots of a library for any x86-64 with the kernels that the processor is best served by
// (further_kernels.hpp), before main. NAX_ISA, baseline, x86-64-v3 or x86-64-v4, is the most that it takes.
#define NAX_COMPILED_LIBRARY
#include <cpuid.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nax/compiled/kernel_lists.hpp"
#include "nax/core/further_kernels.hpp"

extern "C" nax_shared::FurtherKernels nax_kernels_x86_v3();
extern "C" nax_shared::FurtherKernels nax_kernels_x86_v4();

NAX_BEGIN
namespace cpu {
namespace {

// __builtin_cpu_supports takes literals, and not every compiler the names of levels or of all instructions.
bool has_v3() {
  unsigned a = 0, b = 0, first = 0, extended = 0, d = 0;
  constexpr unsigned movbe = 1u << 22, f16c = 1u << 29, lzcnt = 1u << 5;
  return __get_cpuid(1, &a, &b, &first, &d) && (first & movbe) && (first & f16c) &&
         __get_cpuid(0x8000'0001, &a, &b, &extended, &d) && (extended & lzcnt) &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

[[noreturn]] void end_of_other_version() {
  std::fputs("nax: the library's kernels of further instructions are of another version\n", stderr);
  std::_Exit(2);
}

void take(const nax_shared::FurtherKernels& from) {
  const nax_shared::FurtherKernel* kernel = from.kernels;
  lists::kernels([&]<class Kernel, class T>() {
    if (kernel == from.kernels + from.kernel_count || kernel->dtype != static_cast<int>(dtype_of<T>) ||
        std::strcmp(kernel->name, Kernel::name) != 0)
      end_of_other_version();
    if (kernel->function)
      kernel_slots<Kernel>[static_cast<std::size_t>(dtype_of<T>)].store(
          reinterpret_cast<typename Kernel::Function*>(kernel->function), std::memory_order_release);
    ++kernel;
  });
  for (int i = 0; i < from.reducer_count; ++i) {
    const nax_shared::FurtherReducer& r = from.reducers[i];
    reducer_slot(static_cast<loops::ReduceKind>(r.kind), static_cast<DType>(r.from), static_cast<DType>(r.to))
        .store(static_cast<const Reducer*>(r.reducer), std::memory_order_release);
  }
}

}  // namespace

bool take_further_kernels();
bool take_further_kernels() {
  __builtin_cpu_init();
  nax_shared::further_host = {HostAllocator::allocate, HostAllocator::deallocate, [] { num_threads(); }};
  const char* const text = std::getenv("NAX_ISA");
  const std::string most = text && *text ? text : "x86-64-v4";
  if (most != "baseline" && most != "x86-64-v3" && most != "x86-64-v4") {
    std::fprintf(stderr, "nax: NAX_ISA: baseline, x86-64-v3 or x86-64-v4 expected, not '%s'\n", text);
    std::_Exit(2);  // an exception before main would not be caught
  }
#if defined(NAX_HAVE_KERNELS_V4)
  if (most == "x86-64-v4" && has_v4()) {
    take(nax_kernels_x86_v4());
    nax_shared::further_kernels = "x86-64-v4";
    return true;
  }
#endif
#if defined(NAX_HAVE_KERNELS_V3)
  if (most != "baseline" && has_v3()) {
    take(nax_kernels_x86_v3());
    nax_shared::further_kernels = "x86-64-v3";
    return true;
  }
#endif
  return false;
}

}  // namespace cpu
NAX_END
