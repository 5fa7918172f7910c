#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nax/modules/optimize/assignment_core.hpp"
#include "nax/modules/optimize/problem.hpp"

// Assignments of rows to columns.
NAX_BEGIN
namespace optimize {

struct LinearSumAssignmentOptions {
  bool maximize = false;
};

// {row_ind, col_ind}: which rows go to which columns so that the sum of cost(row_ind, col_ind), of a matrix,
// is least, or largest. Both have shape (min(m, n),), rows in order. Infinite costs forbid a pair. Takes m^2
// n operations. Throws ShapeError unless `cost` is a matrix, and ValueError for NaN and where no assignment
// is finite.
template <class C>
auto linear_sum_assignment(const C& cost_, const LinearSumAssignmentOptions& o = {}) {
  const auto cost = nax::detail::to_arrays(cost_);
  if (cost.ndim() != 2)
    raise<ShapeError>({"linear_sum_assignment: cost must be a matrix, shape ", cost.shape()});
  const bool tall = cost.shape(0) > cost.shape(1);
  detail::Vector values = detail::values_of(tall ? cost.T() : cost);
  if (o.maximize)
    for (double& v : values) v = -v;
  const std::size_t rows = static_cast<std::size_t>(tall ? cost.shape(1) : cost.shape(0));
  const std::size_t columns = static_cast<std::size_t>(tall ? cost.shape(0) : cost.shape(1));
  std::vector<std::int64_t> row_ind, col_ind;
  detail::assign_pairs(rows, columns, values, tall, row_ind, col_ind);
  return std::pair{asarray(row_ind), asarray(col_ind)};
}

}  // namespace optimize
NAX_END
