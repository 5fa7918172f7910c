#pragma once

#include "nax/modules/optimize/problem.hpp"

NAX_BEGIN
namespace optimize {

NAX_ENGINE detail::Vector PerParameter::of(const char* function, const char* name, std::size_t n,
                                           double otherwise) const {
  if (values_.empty()) return detail::Vector(n, otherwise);
  if (single_) return detail::Vector(n, values_[0]);
  if (values_.size() != n)
    raise<ValueError>({function, ": ", name, " has ", values_.size(), " elements, x0 ", n});
  return values_;
}

NAX_ENGINE detail::Vector StepScales::of(const char* function, std::size_t n, bool by_jacobian) const {
  if (!name_.empty() && name_ != "jac")
    raise<ValueError>({function, ": x_scale must be 'jac' or numbers, not '", name_, "'"});
  if (!name_.empty() || (values_.empty() && by_jacobian)) return {};
  return values_.of(function, "x_scale", n, 1);
}

NAX_ENGINE void Arguments::keep_number(double number) { parts_.emplace_back(number); }

}  // namespace optimize
NAX_END
