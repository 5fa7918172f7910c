// The source of nax::jit: formulas as machine code of AVX2 or AVX-512, made by Xbyak, or of NEON. Compiled
// with the program's own sources; nax::compiled has it on ARM, and on x86-64 where Xbyak is installed.
#include <cstddef>

#include "nax/formula/machine/executable.hpp"
#include "nax/formula/machine/loop.hpp"
#include "nax/formula/symbol.hpp"

NAX_BEGIN
namespace formula {
namespace jit {
namespace {

#if defined(__aarch64__)
Machine best_machine() { return Machine::neon; }

bool has(const Formula& f, Machine) { return f.type != Formula::mixed; }

std::unique_ptr<const Code> make(const CodeRequest& request) {
  const Loop loop(request, {});
  return std::make_unique<Executable>(loop.code(), loop.size());
}
#else
Machine best_machine() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return Machine::avx512;
  // (Processors that have AVX2 convert 16-bit floats, too.)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return Machine::avx2;
  return Machine::none;
}

bool has(const Formula& f, Machine machine) {
  return std::all_of(f.steps.begin(), f.steps.end(),
                     [&](const Step& step) { return has_code(f, step, machine); });
}

// Code is written where it will lie in its cache line: its numbers are aligned.
struct alignas(64) CacheLine {
  unsigned char bytes[64];
};

std::unique_ptr<const Code> make(const CodeRequest& request) {
  // Two bodies, of some dozen bytes an instruction; what turns out longer is tried anew with more.
  for (std::size_t size = 4096 + 160 * request.formula->steps.size();; size *= 4) {
    const std::unique_ptr<CacheLine[]> memory(new CacheLine[(size + 63) / 64]);
    try {
      const Loop loop(request, {size, memory.get()});
      return std::make_unique<Executable>(memory.get(), loop.getSize());
    } catch (const Xbyak::Error& error) {
      if (static_cast<int>(error) != Xbyak::ERR_CODE_IS_TOO_BIG)
        throw Error(std::string("formula: no machine code: ") + error.what());
    }
  }
}
#endif

}  // namespace

extern const CodeMaker maker;
const CodeMaker maker{best_machine, has, make};
[[maybe_unused]] const bool placed = (code_maker = &maker, true);

}  // namespace jit
}  // namespace formula
NAX_END
