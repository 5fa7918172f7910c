#pragma once

#include <algorithm>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/reduce/chunk_sums.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/program/reduce/reduced_values.hpp"

NAX_BEGIN
namespace program::detail {

// The loop of a step that reduces, its axes merged.
struct ReductionLoop {
  Dims shape;
  std::vector<loops::Operand> operands;  // inputs, then what is written
  std::size_t inputs = 0, stored = 0;

  explicit ReductionLoop(const Step& step) : shape(step.operands[0].shape) {
    const MapFormula& map = *step.formula;
    const DType type = map.formula.type;
    inputs = map.inputs.size(), stored = map.results.size();
    for (const MapFormula::Input& input : map.inputs)
      operands.push_back({nullptr, operand_of(step, input.operand).strides, type, type});
    for (const int result : written_operands(map))
      operands.push_back({nullptr, operand_of(step, result).strides, type, type});
    loops::collapse(shape, operands.data(), static_cast<int>(operands.size()));
  }
  std::int64_t line() const { return shape[shape.size() - 1]; }
  std::int64_t stride(std::size_t operand) const { return operands[operand].strides[shape.size() - 1]; }
  // Whether each line along the last axis comes to a result of its own, one after the other.
  bool reduces_lines() const {
    if (shape.size() < 2) return false;
    Dims outer = shape, wanted(shape.size(), 0);
    for (std::int64_t axis = static_cast<std::int64_t>(shape.size()) - 2, next = 1; axis >= 0; --axis)
      wanted[static_cast<std::size_t>(axis)] =
          std::exchange(next, next * shape[static_cast<std::size_t>(axis)]);
    for (std::size_t o = inputs + stored; o < operands.size(); ++o)
      if (operands[o].strides != wanted) return false;
    return true;
  }
  // Whether lines are added to one another.
  bool joins_lines() const {
    if (shape.size() != 2) return false;
    for (std::size_t o = inputs + stored; o < operands.size(); ++o)
      if (operands[o].strides[0] != 0 || operands[o].strides[1] != 1) return false;
    return true;
  }
};

// Computes some lines at a time: values that are reduced go to tiles, row after row.
class ReductionLines {
 protected:
  ReductionLines(const Step& step, const ReductionLoop& loop)
      : kernel_(step.formula->formula, strides_of(loop)),
        size_(static_cast<std::int64_t>(dtype_size(step.formula->formula.type))),
        line_(loop.line()),
        reducers_(reducers_of(*step.formula)),
        inputs_(loop.inputs),
        stored_(loop.stored) {
    for (const MapFormula::Input& input : step.formula->inputs) addresses_.push_back(at(input.operand));
    for (const int result : written_operands(*step.formula)) addresses_.push_back(at(result));
    for (std::size_t axis = 0; axis + 1 < loop.shape.size(); ++axis) {
      outer_.push_back(loop.shape[axis]);
      lines_ *= loop.shape[axis];
    }
    for (std::size_t o = 0; o < inputs_ + stored_; ++o) {
      bool follows = loop.stride(o) == 1;  // do lines lie one after the other?
      std::int64_t next = line_;
      for (std::size_t axis = outer_.size(); axis-- > 0; next *= outer_[axis])
        follows = follows && loop.operands[o].strides[axis] == next;
      bool repeated = true;
      for (const std::int64_t stride : loop.operands[o].strides) repeated = repeated && stride == 0;
      together_ = together_ && (follows || repeated);
      for (std::size_t axis = 0; axis < outer_.size(); ++axis)
        steps_.push_back(loop.operands[o].strides[axis] * size_);  // operand by operand
    }
  }

  struct Tiles {
    alignas(64) char bytes[MapFormula::most_reduced][reduced_tile_bytes];
  };
  // The elements [begin, begin + n) of lines [first, first + count), which have room in the tiles.
  void compute(void* const* at, std::int64_t first, std::int64_t count, std::int64_t begin, std::int64_t n,
               Tiles& tiles) const {
    if (together_ && n == line_) return compute_run(at, first, 0, count * n, 0, tiles);
    for (std::int64_t l = 0; l < count; ++l) compute_run(at, first + l, begin, n, l * n * size_, tiles);
  }
  std::int64_t lines_at_once(std::int64_t n) const {
    return std::max<std::int64_t>(1, reduced_tile_bytes / size_ / n);
  }
  void* result(void* const* at, std::size_t k) const { return at[addresses_[inputs_ + stored_ + k]]; }

  FormulaLine kernel_;
  std::int64_t size_, line_, lines_ = 1;
  std::vector<const cpu::Reducer*> reducers_;

 private:
  static std::size_t at(int operand) { return static_cast<std::size_t>(operand); }
  static std::vector<std::int64_t> strides_of(const ReductionLoop& loop) {
    std::vector<std::int64_t> strides;
    for (std::size_t o = 0; o < loop.operands.size(); ++o)
      strides.push_back(o < loop.inputs + loop.stored ? loop.stride(o) : 1);
    return strides;
  }
  void compute_run(void* const* at, std::int64_t line, std::int64_t begin, std::int64_t n,
                   std::int64_t in_tile, Tiles& tiles) const {
    const std::size_t walked = inputs_ + stored_, rank = outer_.size();
    char* places[2 * cpu::max_operands];
    for (std::size_t o = 0; o < walked; ++o)
      places[o] = static_cast<char*>(at[addresses_[o]]) + begin * kernel_.strides()[o];
    for (std::size_t axis = rank; axis-- > 0 && line > 0;) {
      const std::int64_t index = axis > 0 ? line % outer_[axis] : line;
      for (std::size_t o = 0; o < walked; ++o) places[o] += index * steps_[o * rank + axis];
      if (axis > 0) line /= outer_[axis];
    }
    for (std::size_t k = 0; k < reducers_.size(); ++k) places[walked + k] = tiles.bytes[k] + in_tile;
    void* const* const all = reinterpret_cast<void* const*>(places);
    kernel_.run(const_cast<const void* const*>(all), all + inputs_, n);
  }

  std::size_t inputs_, stored_;
  std::vector<std::size_t> addresses_;
  std::vector<std::int64_t> outer_, steps_;
  bool together_ = true;
};

// Each line comes to a result of its own.
class LineReduction final : public Work, ReductionLines {
 public:
  LineReduction(const Step& step, const ReductionLoop& loop) : ReductionLines(step, loop) {}

  void run(void* const* at) const override {
    const std::int64_t grain = cpu::detail::parallel_grain / line_ + 1;
    if (lines_ <= grain) return run_lines(at, 0, lines_);
    parallel_for(lines_, grain, [&](std::int64_t begin, std::int64_t end) { run_lines(at, begin, end); });
  }

 private:
  void run_lines(void* const* at, std::int64_t begin, std::int64_t end) const {
    for (std::size_t k = 0; k < reducers_.size(); ++k)
      reducers_[k]->fill(static_cast<char*>(result(at, k)) + begin * size_, end - begin);
    const std::int64_t block = reduced_tile_bytes / size_, together = lines_at_once(line_);
    Tiles tiles;
    for (std::int64_t n; begin < end; begin += n) {
      n = std::min(together, end - begin);
      if (line_ > block) {
        run_long(at, begin, block, tiles);
        continue;
      }
      compute(at, begin, n, 0, line_, tiles);
      for (std::size_t k = 0; k < reducers_.size(); ++k) {
        const cpu::Reducer& reducer = *reducers_[k];
        char* const to = static_cast<char*>(result(at, k)) + begin * size_;
        if (cpu::detail::takes_short_runs(reducer, line_, 1))
          reducer.short_runs(tiles.bytes[k], line_, n, line_, to, 1);
        else
          for (std::int64_t l = 0; l < n; ++l)
            reducer.combine(tiles.bytes[k] + l * line_ * size_, to + l * size_, 0, line_);
      }
    }
  }
  void run_long(void* const* at, std::int64_t line, std::int64_t block, Tiles& tiles) const {
    Accumulator sums[MapFormula::most_reduced];
    for (std::size_t k = 0; k < reducers_.size(); ++k) wide_or_own(*reducers_[k]).fill(&sums[k], 1);
    for (std::int64_t begin = 0, n; begin < line_; begin += n) {
      n = std::min(block, line_ - begin);
      compute(at, line, 1, begin, n, tiles);
      for (std::size_t k = 0; k < reducers_.size(); ++k)
        wide_or_own(*reducers_[k]).combine(tiles.bytes[k], &sums[k], 0, n);
    }
    for (std::size_t k = 0; k < reducers_.size(); ++k)
      finish_reduction(*reducers_[k], &sums[k], static_cast<char*>(result(at, k)) + line * size_, 1);
  }
};

// Lines are joined with one another.
class RowReduction final : public Work, ReductionLines {
 public:
  RowReduction(const Step& step, const ReductionLoop& loop) : ReductionLines(step, loop) {}

  void run(void* const* at) const override {
    // How many parts there are depends on sizes alone, and so do the results.
    constexpr std::int64_t most_parts = 16;
    const bool shares = lines_ * line_ > cpu::detail::parallel_grain && lines_ >= 8 * most_parts;
    const std::int64_t parts = shares ? most_parts : 1, part = (lines_ + parts - 1) / parts,
                       count = static_cast<std::int64_t>(reducers_.size());
    constexpr std::int64_t width = sizeof(double);
    const std::int64_t bytes = line_ * width;
    const std::unique_ptr<char[]> sums(new char[static_cast<std::size_t>(parts * count * bytes)]);
    const auto place = [&](std::int64_t p, std::size_t k) {
      return sums.get() + (p * count + static_cast<std::int64_t>(k)) * bytes;
    };
    const auto run_parts = [&](std::int64_t p, std::int64_t end) {
      for (; p < end; ++p) {
        for (std::size_t k = 0; k < reducers_.size(); ++k)
          wide_or_own(*reducers_[k]).fill(place(p, k), line_);
        run_part(at, std::min(lines_, p * part), std::min(lines_, (p + 1) * part), place(p, 0), bytes);
      }
    };
    parts == 1 ? run_parts(0, 1) : parallel_for(parts, 1, run_parts);
    for (std::size_t k = 0; k < reducers_.size(); ++k) {
      for (std::int64_t p = 1; p < parts; ++p)
        wide_or_own(*reducers_[k]).merge(place(p, k), place(0, k), line_);
      finish_reduction(*reducers_[k], place(0, k), result(at, k), line_);
    }
  }

 private:
  // Blocks of columns, so that some rows of them have room in a tile. Long sums add up in two stages: rows in
  // their own type as far as `most_near`, and these in the wide type.
  void run_part(void* const* at, std::int64_t first, std::int64_t end, char* sums, std::int64_t bytes) const {
    constexpr std::int64_t most_near = 512;
    const std::int64_t most = reduced_tile_bytes / 8 / size_;
    Tiles tiles, nearby;
    for (std::int64_t begin = 0, n; begin < line_; begin += n) {
      n = line_ <= 2 * most ? line_ : std::min(most, line_ - begin);
      for (std::int64_t l = first, rows, l_near; l < end;) {
        for (std::size_t k = 0; k < reducers_.size(); ++k) reducers_[k]->fill(nearby.bytes[k], n);
        for (l_near = std::min(end, l + most_near); l < l_near; l += rows) {
          rows = std::min(lines_at_once(n), l_near - l);
          compute(at, l, rows, begin, n, tiles);
          for (std::size_t k = 0; k < reducers_.size(); ++k)
            reducers_[k]->rows(tiles.bytes[k], n, rows, nearby.bytes[k], n);
        }
        for (std::size_t k = 0; k < reducers_.size(); ++k) {
          const cpu::Reducer& reducer = *reducers_[k];
          char* const to = sums + static_cast<std::int64_t>(k) * bytes;
          if (reducer.wide)
            reducer.widen(nearby.bytes[k],
                          to + begin * static_cast<std::int64_t>(dtype_size(reducer.wide->to)), 1, n);
          else
            reducer.merge(nearby.bytes[k], to + begin * size_, n);
        }
      }
    }
  }
};

}  // namespace program::detail
NAX_END
