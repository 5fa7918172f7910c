#pragma once

#include <algorithm>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/program/reduce/reduced_values.hpp"

NAX_BEGIN
namespace program::detail {

// Every operand is an unbroken run or one number, and what is reduced comes to numbers: block by block, what
// the formula gives is stored or joined, and stays in the first cache between.
class FlatReduction final : public Work {
 public:
  explicit FlatReduction(const Step& step)
      : line_(step.formula->formula, strides_of(step)),
        size_(static_cast<std::int64_t>(dtype_size(step.formula->formula.type))),
        n_(size_of(step.operands[0].shape)),
        stored_(step.formula->results.size()),
        reducers_(reducers_of(*step.formula)) {
    for (const MapFormula::Input& input : step.formula->inputs) inputs_.push_back(at(input.operand));
    for (const int result : written_operands(*step.formula)) results_.push_back(at(result));
  }

  void run(void* const* at) const override {
    constexpr std::int64_t most_parts = 16;
    if (n_ * size_ <= tile_bytes) {
      for (std::size_t k = 0; k < reducers_.size(); ++k) reducers_[k]->fill(at[results_[stored_ + k]], 1);
      return run_block(at, 0, n_, [&](std::size_t k, const void* values) {
        reducers_[k]->combine(values, at[results_[stored_ + k]], 0, n_);
      });
    }
    // How many parts there are depends on the size alone, and so does the result.
    const std::int64_t parts = n_ <= cpu::detail::parallel_grain ? 1 : most_parts,
                       part = (n_ + parts - 1) / parts;
    Accumulator sums[most_parts][MapFormula::most_reduced];
    const auto run_parts = [&](std::int64_t p, std::int64_t end) {
      for (; p < end; ++p) run_part(at, std::min(n_, p * part), std::min(n_, (p + 1) * part), sums[p]);
    };
    parts == 1 ? run_parts(0, 1) : parallel_for(parts, 1, run_parts);
    for (std::size_t k = 0; k < reducers_.size(); ++k) {
      const cpu::Reducer& reducer = *reducers_[k];
      for (std::int64_t p = 1; p < parts; ++p) wide_or_own(reducer).merge(&sums[p][k], &sums[0][k], 1);
      finish_reduction(reducer, &sums[0][k], at[results_[stored_ + k]], 1);
    }
  }

 private:
  static constexpr std::int64_t tile_bytes = reduced_tile_bytes;
  static std::size_t at(int operand) { return static_cast<std::size_t>(operand); }
  static std::vector<std::int64_t> strides_of(const Step& step) {
    std::vector<std::int64_t> strides;
    for (const MapFormula::Input& input : step.formula->inputs) {
      const Operand& x = operand_of(step, input.operand);
      strides.push_back(is_repeated(x.strides, x.shape) ? 0 : 1);
    }
    strides.resize(strides.size() + step.formula->formula.results.size(), 1);
    return strides;
  }

  void run_part(void* const* at, std::int64_t begin, std::int64_t end, Accumulator* sums) const {
    for (std::size_t k = 0; k < reducers_.size(); ++k) wide_or_own(*reducers_[k]).fill(&sums[k], 1);
    const std::int64_t block = tile_bytes / size_;
    for (std::int64_t n; begin < end; begin += n) {
      n = std::min(block, end - begin);
      run_block(at, begin, n, [&](std::size_t k, const void* values) {
        wide_or_own(*reducers_[k]).combine(values, &sums[k], 0, n);
      });
    }
  }
  // join(k, values) for what reduction k is given.
  template <class Join>
  void run_block(void* const* at, std::int64_t begin, std::int64_t n, const Join& join) const {
    alignas(64) char tiles[MapFormula::most_reduced][tile_bytes];
    const void* from[cpu::max_operands];
    void* to[cpu::max_operands];
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      from[i] = static_cast<const char*>(at[inputs_[i]]) + begin * line_.strides()[i];
    for (std::size_t k = 0; k < stored_; ++k) to[k] = static_cast<char*>(at[results_[k]]) + begin * size_;
    for (std::size_t k = 0; k < reducers_.size(); ++k) to[stored_ + k] = tiles[k];
    line_.run(from, to, n);
    for (std::size_t k = 0; k < reducers_.size(); ++k) join(k, tiles[k]);
  }

  FormulaLine line_;
  std::int64_t size_, n_;
  std::size_t stored_;
  std::vector<std::size_t> inputs_, results_;
  std::vector<const cpu::Reducer*> reducers_;
};

}  // namespace program::detail
NAX_END
