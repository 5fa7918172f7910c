#pragma once

#include <memory>
#include <vector>

#include "nax/formula/kernel.hpp"

NAX_BEGIN
namespace program::detail {

// A formula's kernel for lines of elements that lie with fixed strides: machine code where there is some,
// else block by block. `strides`: of the inputs, then of the results, in elements.
class FormulaLine {
 public:
  FormulaLine(const formula::Formula& f, const std::vector<std::int64_t>& strides)
      : kernel_(formula::kernel_of(f)), inputs_(static_cast<std::size_t>(f.inputs)) {
    std::vector<formula::Access> accesses;
    for (const std::int64_t stride : strides) {
      strides_.push_back(stride * size(strides_.size()));
      accesses.push_back(stride == 1   ? formula::Access::contiguous
                         : stride == 0 ? formula::Access::repeated
                                       : formula::Access::strided);
    }
    code_ = kernel_->code(accesses.data());
  }
  // Of inputs and results, in bytes.
  const std::vector<std::int64_t>& strides() const { return strides_; }
  // Of an element of an input or, behind those, a result, in bytes.
  std::int64_t size(std::size_t i) const {
    return static_cast<std::int64_t>(dtype_size(kernel_->types()[i]));
  }

  void run(const void* const* from, void* const* to, std::int64_t n) const {
    if (code_ != nullptr) {
      const formula::CodeArguments arguments{from, strides_.data(), to, strides_.data() + inputs_, n};
      return code_->entry(&arguments);
    }
    std::vector<formula::Line> lines;
    std::vector<formula::Target> targets;
    for (std::size_t i = 0; i < inputs_; ++i) lines.push_back({from[i], strides_[i] / size(i)});
    for (std::size_t k = inputs_; k < strides_.size(); ++k)
      targets.push_back({to[k - inputs_], strides_[k] / size(k)});
    kernel_->run(lines.data(), targets.data(), n);
  }

 private:
  std::shared_ptr<const formula::Kernel> kernel_;
  std::size_t inputs_;
  std::vector<std::int64_t> strides_;
  const formula::Code* code_ = nullptr;
};

}  // namespace program::detail
NAX_END
