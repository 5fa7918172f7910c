#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

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

inline constexpr std::size_t most_lines = 64;
// Sums are those of runs, which are added in double.
inline constexpr std::int64_t summed_run = 2048;
template <class T>
double sum_of_lanes(const unsigned char* bytes, int lanes) {
  double sum = 0;
  for (int i = 0; i < lanes; ++i) {
    T lane;
    std::memcpy(&lane, bytes + static_cast<std::size_t>(i) * sizeof lane, sizeof lane);
    sum += static_cast<double>(lane);
  }
  return sum;
}

}  // namespace detail

NAX_ENGINE Machine machine() {
  static const Machine chosen = detail::chosen_machine();
  return chosen;
}

NAX_ENGINE Kernel::Kernel(const Formula& f) : Kernel(f, formula::machine()) {}
NAX_ENGINE Kernel::Kernel(const Formula& f, Machine machine)
    : lowered_(is_lowered(f) ? f : formula::lowered(f)),
      machine_(code_maker == nullptr ? Machine::none : machine) {}

NAX_ENGINE const Code& Kernel::code_for(const Line* inputs, const Target* results, bool sums) const {
  const std::size_t count = static_cast<std::size_t>(lowered_.inputs), made = lowered_.results.size();
  if (count > detail::most_lines || made > detail::most_lines)
    throw ValueError("formula: more than 64 inputs or results");
  Access accesses[2 * detail::most_lines];
  std::size_t length = 0;
  for (std::size_t i = 0; i < count; ++i) accesses[length++] = detail::access_of(inputs[i].stride);
  for (std::size_t k = 0; k < made && !sums; ++k)
    accesses[length++] = results[k].stride == 1 ? Access::contiguous : Access::strided;
  const std::lock_guard lock(mutex_);
  for (const Variant& variant : variants_)
    if (variant.sums == sums && std::equal(accesses, accesses + length, variant.accesses.begin()))
      return *variant.code;
  CodeRequest request{
      &lowered_, machine_, {accesses, accesses + count}, {accesses + count, accesses + length}, sums};
  variants_.push_back({sums, {accesses, accesses + length}, code_maker->make(request)});
  return *variants_.back().code;
}

NAX_ENGINE void Kernel::run(const Line* inputs, const Target* results, std::int64_t n) const {
  if (machine_ == Machine::none) return interpret(lowered_, inputs, results, n);
  const std::size_t size = dtype_size(lowered_.type), count = static_cast<std::size_t>(lowered_.inputs),
                    made = lowered_.results.size();
  const Code& code = code_for(inputs, results, false);
  const void* from[detail::most_lines];
  void* to[detail::most_lines];
  std::int64_t strides[2 * detail::most_lines];
  for (std::size_t i = 0; i < count; ++i)
    from[i] = inputs[i].data, strides[i] = inputs[i].stride * static_cast<std::int64_t>(size);
  for (std::size_t k = 0; k < made; ++k)
    to[k] = results[k].data,
    strides[detail::most_lines + k] = results[k].stride * static_cast<std::int64_t>(size);
  const CodeArguments arguments{from, strides, to, strides + detail::most_lines, n, nullptr};
  code.entry(&arguments);
}

NAX_ENGINE void Kernel::sums(const Line* inputs, double* sums, std::int64_t n) const {
  constexpr std::size_t most = 4;
  if (machine_ == Machine::none || lowered_.results.size() > most)
    return interpret_sums(lowered_, inputs, sums, n);
  const std::size_t size = dtype_size(lowered_.type), count = static_cast<std::size_t>(lowered_.inputs);
  const Code& code = code_for(inputs, nullptr, true);
  const void* from[detail::most_lines];
  std::int64_t strides[detail::most_lines];
  for (std::size_t k = 0; k < lowered_.results.size(); ++k) sums[k] = 0;
  for (std::int64_t begin = 0; begin < n; begin += detail::summed_run) {
    for (std::size_t i = 0; i < count; ++i) {
      strides[i] = inputs[i].stride * static_cast<std::int64_t>(size);
      from[i] = static_cast<const char*>(inputs[i].data) + begin * strides[i];
    }
    alignas(64) unsigned char lanes[most * 64];
    const CodeArguments arguments{
        from, strides, nullptr, nullptr, n - begin < detail::summed_run ? n - begin : detail::summed_run,
        lanes};
    code.entry(&arguments);
    for (std::size_t k = 0; k < lowered_.results.size(); ++k)
      sums[k] += lowered_.type == DType::float32 ? detail::sum_of_lanes<float>(lanes + 64 * k, code.lanes)
                                                 : detail::sum_of_lanes<double>(lanes + 64 * k, code.lanes);
  }
}

NAX_ENGINE std::shared_ptr<const Kernel> kernel_of(const Formula& f) {
  constexpr std::size_t most = 512;
  struct Hash {
    std::size_t operator()(const Formula& x) const { return static_cast<std::size_t>(x.hash()); }
  };
  struct Cache {
    std::mutex mutex;
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
