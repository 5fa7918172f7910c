// Fills the slots of a library for any x86-64 with the kernels that the processor is best served by
// (further_kernels.hpp), before main. NAX_ISA, baseline, x86-64-v3 or x86-64-v4, is the most that it takes.
#define NAX_COMPILED_LIBRARY
#include <cstring>

#include "nax/compiled/kernel_lists.hpp"
#include "nax/core/further_kernels.hpp"

extern "C" nax_shared::FurtherKernels nax_kernels_x86_v3();
extern "C" nax_shared::FurtherKernels nax_kernels_x86_v4();

NAX_BEGIN
namespace cpu {
namespace {

// Every processor with these has the rest of its level. They are asked for one by one: __builtin_cpu_supports
// takes literals, and not every compiler the names of levels.
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

[[noreturn]] void throw_other_version() {
  raise<Error>({"nax: kernels of further instructions are of another version"});
}

void take(const nax_shared::FurtherKernels& from) {
  const nax_shared::FurtherKernel* kernel = from.kernels;
  lists::kernels([&]<class Kernel, class T>() {
    if (kernel == from.kernels + from.kernel_count || kernel->dtype != static_cast<int>(dtype_of<T>) ||
        std::strcmp(kernel->name, Kernel::name) != 0)
      throw_other_version();
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
  const char* const text = std::getenv("NAX_ISA");
  const std::string most = text && *text ? text : "x86-64-v4";
  if (most != "baseline" && most != "x86-64-v3" && most != "x86-64-v4")
    raise<ValueError>({"NAX_ISA: baseline, x86-64-v3 or x86-64-v4 expected, not '", most, "'"});
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
