#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/core/at_fork.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/transform/jit/report.hpp"
#include "nax/transform/jit/signature.hpp"

// The programs that jit has recorded of a function for the host.
NAX_BEGIN
namespace program {
class Program;
}
namespace detail {

// One kind of call. A call that has found it owns a share of it, so that others may drop it meanwhile.
struct ProgramEntry {
  virtual ~ProgramEntry() = default;
  Signature signature;
  std::shared_ptr<const program::Program> program;  // null where the function is called as it is
  PlainCalls* plain = nullptr;                      // why, and how often
};

class ProgramCache {
 public:
  // The entry for which same(entry) holds, or null.
  NAX_ENGINE std::shared_ptr<ProgramEntry> find(const Signature& signature,
                                                FunctionRef<bool(const ProgramEntry&)> same);
  NAX_ENGINE void add(std::shared_ptr<ProgramEntry> entry);
  NAX_ENGINE std::size_t size() const;
  // Is it in vain to record this function: is nearly each call of another kind?
  bool is_vain() const {
    const int added = added_.load(std::memory_order_relaxed);
    return added > 64 && found_.load(std::memory_order_relaxed) < added;
  }

 private:
  static constexpr std::size_t most_entries = 64;
  ForkMutex& mutex_ = fork_mutex_of<ProgramCache>();
  std::vector<std::shared_ptr<ProgramEntry>> entries_;  // the last in use comes last
  std::atomic<int> added_{0}, found_{0};
};

// Records f, called with arguments like these. `donated`: whose memory is given away; empty for none's.
NAX_ENGINE std::shared_ptr<const program::Program> record_program(
    const ArrayBase* const* arguments, std::size_t count, const std::vector<bool>& donated,
    FunctionRef<std::vector<ArrayBase>(std::vector<ArrayBase>& arguments)> f);

// Runs a program on arguments of any layout, and fills `results`. False where their elements are unforeseen:
// the function is to be called itself.
NAX_ENGINE bool run_program(const program::Program& program, const ArrayBase* const* arguments,
                            std::size_t count, std::vector<ArrayBase>& results);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/jit/program_cache-inl.hpp"
#endif
