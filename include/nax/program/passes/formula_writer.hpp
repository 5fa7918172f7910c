#pragma once

#include <algorithm>
#include <cstring>

#include "nax/formula/recorder.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/walks.hpp"

NAX_BEGIN
namespace program::detail {

// Writes the formulas of steps down as one, over one shape. What a later step reads of an earlier
// one is not read from memory.
class FormulaWriter {
 public:
  FormulaWriter(const std::vector<Slot>& slots, const Dims& shape)
      : slots_(slots), shape_(shape), recorder_(DType::float32) {}

  void add(const Step& s) {
    const MapFormula& map = *s.formula;
    std::vector<int> made(map.formula.steps.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      formula::Step one = map.formula.steps[i];
      if (one.operation == formula::Operation::input) {
        made[i] = input_of(s, map.inputs[one.detail], one.type);
        continue;
      }
      for (int j = 0; j < one.arity; ++j) {
        int& at = one.operand[static_cast<std::size_t>(j)];
        at = made[static_cast<std::size_t>(at)];
      }
      made[i] = recorder_.record_step(one);
    }
    const auto result = [&](std::size_t k) { return made[static_cast<std::size_t>(map.formula.results[k])]; };
    for (std::size_t k = 0; k < map.results.size(); ++k)
      written_.push_back({operand(s, map.results[k]).place.slot,
                          recorder_.convert(result(k), operand(s, map.results[k]).dtype),
                          operand(s, map.results[k]).dtype});
    for (std::size_t k = 0; k < map.reduced.size(); ++k) {
      const Operand& to = operand(s, map.reduced[k].operand);
      // A reduction over all axes stays one over all axes of another shape.
      const Dims strides =
          is_repeated(to.strides, to.shape) ? Dims(shape_.size(), 0) : without_ones(to.shape, to.strides);
      reduced_.push_back(
          {{to.place, true, to.dtype, shape_, strides}, map.reduced[k].kind, result(map.results.size() + k)});
    }
  }
  // The step, of reductions and those other results that are needed.
  template <class Needed>
  Step finish(const Needed& needed) {
    Step s;
    auto map = std::make_shared<MapFormula>();
    std::vector<int> results;
    std::vector<Operand> targets;
    for (const auto& [slot, at, dtype] : written_) {
      if (!needed(slot)) continue;
      results.push_back(at);
      targets.push_back({{slot, 0}, true, dtype, shape_, Layout::row_major(shape_)});
    }
    for (const Reduced& r : reduced_) results.push_back(r.at);
    map->formula = recorder_.finish(results);
    keep_what_is_read(*map, s);
    for (Operand& x : targets) {
      map->results.push_back(static_cast<int>(s.operands.size()));
      s.operands.push_back(std::move(x));
    }
    for (Reduced& r : reduced_) {
      map->reduced.push_back({static_cast<int>(s.operands.size()), r.kind});
      s.operands.push_back(std::move(r.to));
    }
    s.formula = std::move(map);
    return s;
  }

 private:
  struct Reduced {
    Operand to;
    loops::ReduceKind kind;
    int at;  // the recorder's step
  };
  static const Operand& operand(const Step& step, int o) {
    return step.operands[static_cast<std::size_t>(o)];
  }
  // The number in an operand that is one number, the same in every call; null where it is none.
  const void* known_number(const Operand& x) const {
    if (!is_repeated(x.strides, x.shape)) return nullptr;
    if (x.place.slot < 0) return nullptr;  // the host's memory, which may change between calls
    const Slot& slot = slots_[static_cast<std::size_t>(x.place.slot)];
    if (slot.kind != Slot::Kind::constant) return nullptr;
    return static_cast<const char*>(slot.data) + x.place.offset;
  }
  int input_of(const Step& s, const MapFormula::Input& input, DType type) {
    if (input.operand < 0) return recorder_.constant_at(&input.number, type);
    const Operand& x = operand(s, input.operand);
    for (const auto& [slot, at, dtype] : written_)
      if (slot == x.place.slot) return at;
    if (const void* const known = known_number(x)) return recorder_.constant_at(known, type);
    Walked walked = walk(shape_, x);
    const auto found = std::find(read_.begin(), read_.end(), walked);
    const int number = static_cast<int>(found - read_.begin());
    if (found == read_.end()) read_.push_back(std::move(walked));
    return recorder_.input(number, type);
  }
  // Inputs of which no result depends go.
  void keep_what_is_read(MapFormula& map, Step& s) const {
    std::vector<int> numbers(read_.size(), -1);
    for (formula::Step& one : map.formula.steps) {
      if (one.operation != formula::Operation::input) continue;
      int& number = numbers[one.detail];
      if (number < 0) {
        number = static_cast<int>(s.operands.size());
        map.inputs.push_back({number});
        const Walked& x = read_[one.detail];
        s.operands.push_back({x.place, false, x.dtype, shape_, x.strides});
      }
      one.detail = static_cast<std::uint64_t>(number);
    }
    map.formula.inputs = static_cast<int>(map.inputs.size());
  }

  const std::vector<Slot>& slots_;
  Dims shape_;
  formula::Recorder recorder_;
  std::vector<Walked> read_;
  struct Written {
    int slot, at;  // the recorder's step
    DType dtype;
  };
  std::vector<Written> written_;
  std::vector<Reduced> reduced_;
};

// The map with numbers as constants of its formula, and those of its results that are needed.
template <class Needed>
Step written_anew(const std::vector<Slot>& slots, const Step& map, const Needed& needed) {
  const Dims& shape = map.operands[static_cast<std::size_t>(map.formula->results[0])].shape;
  FormulaWriter writer(slots, without_ones(shape, shape));
  writer.add(map);
  return writer.finish(needed);
}

}  // namespace program::detail
NAX_END
