#pragma once

#include <algorithm>
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

NAX_ENGINE bool has_machine_code() {
  static const bool has = [] {
    if (machine() == Machine::none) return false;
    void* const tried = nax::detail::os::make_code("", 1);  // some systems refuse it
    if (tried) nax::detail::os::free_code(tried, 1);
    return tried != nullptr;
  }();
  return has;
}

NAX_ENGINE Kernel::Kernel(const Formula& f) : Kernel(f, formula::machine()) {}
NAX_ENGINE Kernel::Kernel(const Formula& f, Machine machine)
    : lowered_(is_lowered(f) ? f : formula::lowered(f)),
      types_(lowered_.input_types()),
      machine_(code_maker == nullptr || !code_maker->has(lowered_, machine) ? Machine::none : machine) {
  const std::vector<DType> results = lowered_.result_types();
  types_.insert(types_.end(), results.begin(), results.end());
}

NAX_ENGINE Kernel::~Kernel() {
  for (Variant* v = variants_.load(); v != nullptr;) delete std::exchange(v, v->next);
}

inline const Code* Kernel::known_code(const Access* accesses, std::size_t length) const {
  for (const Variant* v = variants_.load(std::memory_order_acquire); v != nullptr; v = v->next)
    if (std::memcmp(v->accesses.data(), accesses, length) == 0) return v->code.get();
  return nullptr;
}
NAX_ENGINE const Code* Kernel::made_code(const Access* accesses, std::size_t length) const {
  const std::lock_guard lock(mutex_);
  if (const Code* const code = known_code(accesses, length)) return code;
  int count = 0;
  for (const Variant* v = variants_.load(); v != nullptr; v = v->next) ++count;
  if (count >= most_variants) return nullptr;
  const Access* const results = accesses + lowered_.inputs;
  const CodeRequest request{&lowered_, machine_, {accesses, results}, {results, accesses + length}};
  variants_.store(new Variant{{accesses, accesses + length}, code_maker->make(request), variants_.load()},
                  std::memory_order_release);
  return variants_.load()->code.get();
}
NAX_ENGINE const Code* Kernel::code_for(const Line* inputs, const Target* results) const {
  static_assert(sizeof(Access) == 1);
  const std::size_t count = static_cast<std::size_t>(lowered_.inputs), made = lowered_.results.size();
  SmallVector<Access, 64> accesses;
  for (std::size_t i = 0; i < count; ++i) accesses.push_back(detail::access_of(inputs[i].stride));
  for (std::size_t k = 0; k < made; ++k)
    accesses.push_back(results[k].stride == 1 ? Access::contiguous : Access::strided);
  const Code* const code = known_code(accesses.data(), accesses.size());
  return code != nullptr ? code : made_code(accesses.data(), accesses.size());
}

NAX_ENGINE const Code* Kernel::code(const Access* accesses) const {
  const std::size_t length = static_cast<std::size_t>(lowered_.inputs) + lowered_.results.size();
  return machine_ == Machine::none ? nullptr : made_code(accesses, length);
}

NAX_ENGINE void Kernel::run(const Line* inputs, const Target* results, std::int64_t n) const {
  const Code* const code = machine_ == Machine::none ? nullptr : code_for(inputs, results);
  if (code == nullptr) return interpret(lowered_, inputs, results, n);
  const auto size = [&](std::size_t i) { return static_cast<std::int64_t>(dtype_size(types_[i])); };
  SmallVector<const void*, 32> from;
  SmallVector<void*, 16> to;
  SmallVector<std::int64_t, 32> from_strides, to_strides;
  const std::size_t read = static_cast<std::size_t>(lowered_.inputs);
  for (std::size_t i = 0; i < read; ++i)
    from.push_back(inputs[i].data), from_strides.push_back(inputs[i].stride * size(i));
  for (std::size_t k = 0; k < lowered_.results.size(); ++k)
    to.push_back(results[k].data), to_strides.push_back(results[k].stride * size(read + k));
  const CodeArguments arguments{from.data(), from_strides.data(), to.data(), to_strides.data(), n};
  code->entry(&arguments);
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
