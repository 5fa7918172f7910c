#pragma once

#include <fstream>
#include <string>
#include <thread>

#include "nax/backend/cpu/factor/eigen_core.hpp"
#include "nax/backend/cpu/factor/lapack.hpp"
#include "nax/core/allocator.hpp"
#include "nax/core/further_kernels.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/modules/profiler/config.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(':') != std::string::npos)
      return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown";
}

NAX_ENGINE std::string instructions_found() {
  std::string found;
#if defined(__x86_64__) && !defined(NAX_MSVC)
#define NAX_FOUND(name) \
  if (__builtin_cpu_supports(name)) found += std::string(found.empty() ? "" : " ") + name
  NAX_FOUND("sse4.2");
  NAX_FOUND("avx");
  NAX_FOUND("avx2");
  NAX_FOUND("fma");
  NAX_FOUND("avx512f");
  NAX_FOUND("avx512bw");
  NAX_FOUND("avx512vnni");
  NAX_FOUND("avx512bf16");
#undef NAX_FOUND
#endif
  return found.empty() ? "those of its architecture" : found;
}

NAX_ENGINE void show_config(const BuildFacts& facts, std::ostream& out) {
  const auto megabytes = [](std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  out << "nax           " << NAX_VERSION_MAJOR << '.' << NAX_VERSION_MINOR << '.' << NAX_VERSION_PATCH << ", "
      << facts.linked << '\n'
      << "compiler      " << facts.compiler << (facts.optimised ? "" : ", not optimised") << '\n'
      << "instructions  compiled for " << facts.instructions
      << (nax_shared::further_kernels ? std::string(", kernels for ") + nax_shared::further_kernels : "")
      << "; found: " << instructions_found() << '\n'
      << "processor     " << processor_name() << '\n'
      << "Eigen         "
#if EIGEN_MAJOR_VERSION >= 5
      << EIGEN_MAJOR_VERSION << '.' << EIGEN_MINOR_VERSION << '.' << EIGEN_PATCH_VERSION << '\n'
#else
      << EIGEN_WORLD_VERSION << '.' << EIGEN_MAJOR_VERSION << '.' << EIGEN_MINOR_VERSION << '\n'
#endif
      << "products      nax's own; factorisations by "
      << (cpu::lapack<double> ? "a LAPACK (nax::lapack)" : "nax and Eigen") << '\n'
      << "formulas      "
      << (formula::machine() != formula::Machine::none ? "machine code (NAX_JIT=0 turns it off)"
                                                       : "without machine code")
      << '\n'
      << "threads       " << num_threads() << " of " << std::thread::hardware_concurrency() << " processors\n"
      << "devices       cpu: " << device_count(Platform::cpu) << ", cuda: ";
  Accelerator* const cards = accelerators[static_cast<int>(Platform::cuda)];
  if (!cards)
    out << "not linked (nax::cuda)";
  else if (cards->count() == 0)
    out << "none: " << cards->why_none();
  else
    out << cards->count();
  const MemoryStats memory = memory_stats();
  out << "\nmemory        " << megabytes(memory.in_use) << " in use, " << megabytes(memory.peak)
      << " at most, " << (memory.limit ? "limit " + megabytes(memory.limit) : "no limit") << '\n';
}

}  // namespace detail
NAX_END
