#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "nax/core/at_fork.hpp"
#include "nax/core/os/os.hpp"
#include "nax/core/small_vector.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/formula/symbol.hpp"

NAX_BEGIN
namespace formula {
namespace detail {

inline Machine chosen_machine() {
  const char* const text = std::getenv("NAX_JIT");
  const std::string choice = text == nullptr ? "1" : text;
  if (choice != "0" && choice != "1" && choice != "avx2")
    throw ValueError("NAX_JIT: 0, 1 or avx2 expected: " + choice);
  if (choice == "0" || code_maker == nullptr) return Machine::none;
  // Some systems allow no code to be made at run time.
  errno = 0;
  void* const tried = nax::detail::os::make_code("", 1);
  if (!tried && errno != ENOMEM) return Machine::none;
  if (tried) nax::detail::os::free_code(tried, 1);
  const Machine best = code_maker->best_machine();
  return choice == "avx2" && best == Machine::avx512 ? Machine::avx2 : best;
}
inline Access access_of(std::int64_t stride) {
  return stride == 1 ? Access::contiguous : stride == 0 ? Access::repeated : Access::strided;
}

}  // namespace detail

NAX_ENGINE Machine machine() {
  static const Machine chosen = detail::chosen_machine();
  return chosen;
}

NAX_ENGINE Kernel::Kernel(const Formula& f) : Kernel(f, formula::machine()) {}
NAX_ENGINE Kernel::Kernel(const Formula& f, Machine machine)
    : lowered_(is_lowered(f) ? f : formula::lowered(f)),
      types_(f.input_types()),  // lowering may drop what reads an input
      machine_(code_maker == nullptr || !code_maker->has(lowered_, machine) ? Machine::none : machine) {
  const std::vector<DType> results = lowered_.result_types();
  types_.insert(types_.end(), results.begin(), results.end());
}

NAX_ENGINE Kernel::~Kernel() {
  for (Variant* v = variants_.load(); v != nullptr;) delete std::exchange(v, v->next);
}

inline const Code* Kernel::known_code(const Access* accesses) const {
  static_assert(sizeof(Access) == 1);
  for (const Variant* v = variants_.load(std::memory_order_acquire); v != nullptr; v = v->next)
    if (std::memcmp(v->accesses.data(), accesses, types_.size()) == 0) return v->code.get();
  return nullptr;
}
NAX_ENGINE const Code* Kernel::code(const Access* accesses) const {
  if (machine_ == Machine::none) return nullptr;
  if (const Code* const known = known_code(accesses)) return known;
  const std::lock_guard lock(mutex_);
  if (const Code* const known = known_code(accesses)) return known;
  int count = 0;
  for (const Variant* v = variants_.load(); v != nullptr; v = v->next) ++count;
  if (count >= most_variants) return nullptr;
  const Access *const results = accesses + lowered_.inputs, *const end = accesses + types_.size();
  const CodeRequest request{&lowered_, machine_, {accesses, results}, {results, end}};
  variants_.store(new Variant{{accesses, end}, code_maker->make(request), variants_.load()},
                  std::memory_order_release);
  return variants_.load()->code.get();
}

NAX_ENGINE void Kernel::run_blocks(const void* const* inputs, void* const* results,
                                   const std::int64_t* strides, std::int64_t n) const {
  const std::size_t read = static_cast<std::size_t>(lowered_.inputs);
  const auto stride = [&](std::size_t i) {
    return strides[i] / static_cast<std::int64_t>(dtype_size(types_[i]));
  };
  std::vector<Line> from;
  std::vector<Target> to;
  for (std::size_t i = 0; i < read; ++i) from.push_back({inputs[i], stride(i)});
  for (std::size_t k = read; k < types_.size(); ++k) to.push_back({results[k - read], stride(k)});
  interpret(lowered_, from.data(), to.data(), n);
}
NAX_ENGINE void Kernel::run(const Line* inputs, const Target* results, std::int64_t n) const {
  SmallVector<Access, 64> accesses;
  SmallVector<std::int64_t, 64> strides;
  SmallVector<const void*, 64> from;
  SmallVector<void*, 16> to;
  const auto add = [&](std::int64_t stride) {
    const std::size_t i = strides.size();
    accesses.push_back(detail::access_of(stride));
    strides.push_back(stride * static_cast<std::int64_t>(dtype_size(types_[i])));
  };
  for (int i = 0; i < lowered_.inputs; ++i) from.push_back(inputs[i].data), add(inputs[i].stride);
  for (std::size_t k = 0; k < lowered_.results.size(); ++k)
    to.push_back(results[k].data), add(results[k].stride);
  run(code(accesses.data()), from.data(), to.data(), strides.data(), n);
}

NAX_ENGINE std::shared_ptr<const Kernel> kernel_of(const Formula& f) {
  constexpr std::size_t most = 512;
  struct Hash {
    std::size_t operator()(const Formula& x) const { return static_cast<std::size_t>(x.hash()); }
  };
  struct Cache {
    nax::detail::ForkMutex mutex;
    std::unordered_map<Formula, std::shared_ptr<const Kernel>, Hash> kernels;
  };
  static Cache& cache = *new Cache;  // destructors of static objects may still run formulas
  {
    const std::lock_guard lock(cache.mutex);
    if (const auto at = cache.kernels.find(f); at != cache.kernels.end()) return at->second;
  }
  auto made = std::make_shared<const Kernel>(f);
  const std::lock_guard lock(cache.mutex);
  if (cache.kernels.size() >= most) cache.kernels.erase(cache.kernels.begin());
  return cache.kernels.try_emplace(f, std::move(made)).first->second;
}

}  // namespace formula
NAX_END
