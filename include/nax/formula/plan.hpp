#pragma once

#include <atomic>

#include "nax/core/at_fork.hpp"
#include "nax/formula/kernel.hpp"

// Plan: a formula with its kernel and the plans of its derivatives, each made when it is first asked for and
// kept as long as the plan is.
NAX_BEGIN
namespace formula {

class Plan {
 public:
  NAX_ENGINE explicit Plan(Formula f);
  NAX_ENGINE ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Formula& formula() const { return formula_; }
  const Kernel& kernel() const { return *kernel_; }
  // Whether the results depend on an input.
  bool reads(int input) const { return reads_[static_cast<std::size_t>(input)] != 0; }

  // The shares of `inputs` in the cotangents of `results`, which follow the inputs (see pull_of).
  NAX_ENGINE const Plan& pull(const std::vector<int>& results, const std::vector<int>& inputs) const;
  // The tangents of all results for those of `inputs`, which follow the inputs (see push_of).
  NAX_ENGINE const Plan& push(const std::vector<int>& inputs) const;

 private:
  struct Derived;
  const Plan* find(bool pulls, const std::vector<int>& results, const std::vector<int>& inputs) const;
  const Plan& keep(bool pulls, const std::vector<int>& results, const std::vector<int>& inputs,
                   Formula f) const;

  Formula formula_;
  std::shared_ptr<const Kernel> kernel_;
  std::vector<char> reads_;
  nax::detail::ForkMutex& mutex_ = nax::detail::fork_mutex_of<Plan>();
  mutable std::atomic<Derived*> derived_{nullptr};
};

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/plan-inl.hpp"
#endif
