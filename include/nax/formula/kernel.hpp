#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/formula/interpret.hpp"

// Kernel: a formula that is ready to run, as machine code where the program has nax::jit (nax::compiled has
// it) and the processor is one it knows, else block by block. Code is made at the first run for each way in
// which operands lie.
NAX_BEGIN
namespace formula {

// The instructions that code is made of.
enum class Machine : unsigned char { none, avx2, avx512, neon };
// How an operand lies. A result that is summed is one packet, of 64 bytes at most: lane by lane the sum of
// all packets of its values.
enum class Access : unsigned char { contiguous, repeated, strided, summed };

struct CodeArguments {
  const void* const* inputs;
  const std::int64_t* input_strides;  // in bytes
  void* const* results;
  const std::int64_t* result_strides;
  std::int64_t n;
};

// Machine code takes its arguments as Linux and macOS have it, on Windows as well: there its callers save the
// registers that it uses.
#if defined(_WIN32) && defined(__x86_64__)
#define NAX_CODE_ABI __attribute__((sysv_abi))
#else
#define NAX_CODE_ABI
#endif

// Code in memory that may be executed, and not written to.
class Code {
 public:
  virtual ~Code() = default;
  void(NAX_CODE_ABI* entry)(const CodeArguments*) = nullptr;
};

struct CodeRequest {
  const Formula* formula;
  Machine machine;
  std::vector<Access> inputs, results;
};
struct CodeMaker {
  Machine (*best_machine)();
  // Whether there are instructions for all steps; blocks serve where there are none.
  bool (*has)(const Formula& f, Machine machine);
  std::unique_ptr<const Code> (*make)(const CodeRequest& request);
};
// Set by nax::jit.
inline constinit const CodeMaker* code_maker = nullptr;

// The machine of kernels that are not told one: the best of the processor; none with NAX_JIT=0, and where the
// system allows none.
NAX_ENGINE Machine machine();

class Kernel {
 public:
  NAX_ENGINE explicit Kernel(const Formula& f);
  NAX_ENGINE Kernel(const Formula& f, Machine machine);
  NAX_ENGINE ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  // As `interpret`; of a formula that need not be lowered. Safe on several threads.
  NAX_ENGINE void run(const Line* inputs, const Target* results, std::int64_t n) const;
  // Runs by that code, or block by block: `strides` of inputs, then of results, in bytes.
  void run(const Code* code, const void* const* inputs, void* const* results, const std::int64_t* strides,
           std::int64_t n) const {
    if (code == nullptr) [[unlikely]]
      return run_blocks(inputs, results, strides, n);
    const CodeArguments arguments{inputs, strides, results, strides + lowered_.inputs, n};
    code->entry(&arguments);
  }
  const Formula& lowered() const { return lowered_; }
  // How inputs, then results, are stored.
  const std::vector<DType>& types() const { return types_; }
  // The code for operands that lie so, inputs first. It lives as long as the kernel. Null where blocks serve:
  // there is no machine, or there are too many ways already.
  NAX_ENGINE const Code* code(const Access* accesses) const;
  bool is_machine_code() const { return machine_ != Machine::none; }

 private:
  // In a list that only grows, so that it is read without a lock.
  struct Variant {
    std::vector<Access> accesses;
    std::unique_ptr<const Code> code;
    Variant* next;
  };
  static constexpr int most_variants = 64;

  const Code* known_code(const Access* accesses) const;
  NAX_ENGINE void run_blocks(const void* const* inputs, void* const* results, const std::int64_t* strides,
                             std::int64_t n) const;
  Formula lowered_;
  std::vector<DType> types_;
  Machine machine_;
  nax::detail::ForkMutex& mutex_ = nax::detail::fork_mutex_of<Kernel>();
  mutable std::atomic<Variant*> variants_{nullptr};
};

// The kernel of a formula, made at its first use; the last few hundred are kept.
NAX_ENGINE std::shared_ptr<const Kernel> kernel_of(const Formula& f);

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/kernel-inl.hpp"
#endif
