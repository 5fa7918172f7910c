#pragma once

#include <utility>

#include "nax/formula/gradient.hpp"
#include "nax/formula/plan.hpp"

NAX_BEGIN
namespace formula {

// In a list that only grows, so that it is read without a lock.
struct Plan::Derived {
  bool pulls;
  std::vector<int> results, inputs;
  Plan plan;
  Derived* next;
};

NAX_ENGINE Plan::Plan(Formula f)
    : formula_(std::move(f)),
      kernel_(kernel_of(formula_)),
      reads_(static_cast<std::size_t>(formula_.inputs)) {
  for (const Step& step : kernel_->lowered().steps)
    if (step.operation == Operation::input) reads_[step.detail] = 1;
}
NAX_ENGINE Plan::~Plan() {
  for (Derived* d = derived_.load(); d != nullptr;) delete std::exchange(d, d->next);
}

NAX_ENGINE const Plan* Plan::find(bool pulls, const std::vector<int>& results,
                                  const std::vector<int>& inputs) const {
  for (const Derived* d = derived_.load(std::memory_order_acquire); d != nullptr; d = d->next)
    if (d->pulls == pulls && d->inputs == inputs && d->results == results) return &d->plan;
  return nullptr;
}
NAX_ENGINE const Plan& Plan::keep(bool pulls, const std::vector<int>& results, const std::vector<int>& inputs,
                                  Formula f) const {
  const std::lock_guard lock(mutex_);
  if (const Plan* const plan = find(pulls, results, inputs)) return *plan;
  Derived* const d = new Derived{pulls, results, inputs, Plan(std::move(f)), derived_.load()};
  derived_.store(d, std::memory_order_release);
  return d->plan;
}

NAX_ENGINE const Plan& Plan::pull(const std::vector<int>& results, const std::vector<int>& inputs) const {
  if (const Plan* const plan = find(true, results, inputs)) return *plan;
  Formula f = formula_;
  f.results.clear();
  for (int result : results) f.results.push_back(formula_.results[static_cast<std::size_t>(result)]);
  return keep(true, results, inputs, pull_of(without_dead_steps(f), inputs));
}
NAX_ENGINE const Plan& Plan::push(const std::vector<int>& inputs) const {
  if (const Plan* const plan = find(false, {}, inputs)) return *plan;
  return keep(false, {}, inputs, push_of(formula_, inputs));
}

}  // namespace formula
NAX_END
