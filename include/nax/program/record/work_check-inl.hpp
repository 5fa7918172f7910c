#pragma once

#include <algorithm>
#include <cstdlib>

#include "nax/program/record/work_check.hpp"

NAX_BEGIN
namespace program::detail {

// The bytes that an operand touches: runs of `run` bytes, at `first` and so many strides from there.
class Region {
 public:
  // A reduction over an axis without elements still writes its results.
  Region(std::int64_t offset, const Dims& shape, const Dims& strides, DType dtype, bool written = false)
      : first_(offset), run_(static_cast<std::int64_t>(dtype_size(dtype))) {
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // strides in bytes, and extents
    const std::int64_t size = run_;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 0 && !(written && strides[axis] == 0)) run_ = 0;
      if (shape[axis] <= 1 || strides[axis] == 0) continue;
      const std::int64_t stride = strides[axis] * size;
      if (stride < 0) first_ += stride * (shape[axis] - 1);
      axes.push_back({std::abs(stride), shape[axis]});
    }
    if (run_ == 0) return;
    std::sort(axes.begin(), axes.end());
    for (const auto& [stride, extent] : axes) {
      if (outer_.empty() && stride <= run_)
        run_ += (extent - 1) * stride;
      else
        outer_.push_back({stride, extent});
    }
    end_ = first_ + run_;
    for (const auto& [stride, extent] : outer_) end_ += stride * (extent - 1);
  }
  bool empty() const { return run_ == 0; }
  std::int64_t begin() const { return first_; }
  std::int64_t end() const { return end_; }

  // f(begin, end) for each run, until it gives false; whether it never did.
  template <class F>
  bool for_each_run(const F& f) const {
    if (empty()) return true;
    std::vector<std::int64_t> at(outer_.size(), 0);
    std::int64_t begin = first_;
    for (;;) {
      if (!f(begin, begin + run_)) return false;
      std::size_t axis = 0;
      for (; axis < at.size(); ++axis) {
        begin += outer_[axis].first;
        if (++at[axis] < outer_[axis].second) break;
        begin -= outer_[axis].first * outer_[axis].second;
        at[axis] = 0;
      }
      if (axis == at.size()) return true;
    }
  }

 private:
  std::int64_t first_, run_, end_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> outer_;
};

inline Region region_of(const Operand& x) {
  return Region(x.place.offset, x.shape, x.strides, x.dtype, x.written);
}

}  // namespace program::detail

namespace program {

NAX_ENGINE void WorkCheck::expect(bool holds, const char* problem) {
  if (!holds && problem_.empty()) problem_ = problem;
}

NAX_ENGINE void WorkCheck::touches(int operand, std::int64_t first, std::int64_t bytes, bool written) {
  if (!problem_.empty() || bytes <= 0) return;
  const std::string name = "operand " + std::to_string(operand);
  if (operand < 0 || static_cast<std::size_t>(operand) >= operands_.size()) {
    problem_ = "has a work that uses " + name + " of " + std::to_string(operands_.size());
    return;
  }
  const Operand& x = operands_[static_cast<std::size_t>(operand)];
  if (x.written != written)
    problem_ = std::string("has a work that ") + (written ? "writes " : "reads ") + name;
  const detail::Region r = detail::region_of(x);
  const std::int64_t begin = r.begin() - x.place.offset, end = r.end() - x.place.offset;
  if (r.empty() || first < begin || first + bytes > end)
    problem_ = std::string("has a work that ") + (written ? "writes bytes " : "reads bytes ") +
               std::to_string(first) + " to " + std::to_string(first + bytes) + " of " + name +
               ", which has bytes " + std::to_string(begin) + " to " + std::to_string(end);
}

}  // namespace program
NAX_END
