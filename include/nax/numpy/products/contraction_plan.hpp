#pragma once

#include "nax/numpy/products/contract.hpp"

// Products that contractions (contract.hpp) and layers of the engine run.
NAX_BEGIN
namespace detail {

// A contraction as one product and the batch that no axis of it swallows.
struct ContractionPlan {
  Product product;
  SmallVector<BatchAxis, 4> batch;
  Layout result;  // strides of 0 on axes that are the same for all
  std::int64_t size = 1;
  double repeats = 1;  // how often the same product is added up
  bool empty = false;
};

NAX_ENGINE ContractionPlan contraction_plan(const Layout& a, const Layout& b, const Frame& target);

// Is all of the result stored, row by row?
inline bool is_dense(const ContractionPlan& plan, const Frame& target) {
  return !plan.empty && plan.repeats == 1 && plan.size == target.size() && plan.result.is_contiguous();
}

}  // namespace detail
NAX_END
