#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "nax/program/map_formula.hpp"
#include "nax/program/passes.hpp"
#include "nax/program/split_maps.hpp"
#include "nax/program/step_graph.hpp"
#include "nax/program/walks.hpp"

NAX_BEGIN
namespace program::detail {

// A run of a joined array, in bytes, and the operand that was copied there.
struct JoinedPart {
  std::int64_t begin = 0, end = 0;
  Operand from;
};

class MapSplitter {
 public:
  MapSplitter(std::vector<Slot>& slots, std::vector<Step>& steps, std::vector<int>& results,
              std::vector<Output>& outputs)
      : slots_(slots), steps_(steps), results_(results), outputs_(outputs), graph_(slots, steps, results) {}

  // Splits the first array that can be split; whether there was one.
  bool run() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      joined_ = static_cast<int>(slot);
      if (!find_parts()) continue;
      for (const int reader : graph_.uses(joined_).readers) {
        maps_.clear();
        if (splits(reader)) return apply(), true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t most_parts = 16;

  const Slot& slot(int s) const { return slots_[static_cast<std::size_t>(s)]; }
  const Step& step(int i) const { return steps_[static_cast<std::size_t>(i)]; }
  static const Operand& operand(const Step& s, int o) { return s.operands[static_cast<std::size_t>(o)]; }
  static std::int64_t bytes_of(DType dtype) { return static_cast<std::int64_t>(dtype_size(dtype)); }

  // Whether copies write the slot in runs that cover it, before anything reads it.
  bool find_parts() {
    parts_.clear();
    const SlotUses& uses = graph_.uses(joined_);
    if (slot(joined_).kind != Slot::Kind::temporary || uses.readers.empty()) return false;
    if (uses.writers.size() < 2 || uses.writers.size() > most_parts) return false;
    if (uses.readers.front() < uses.writers.back()) return false;
    for (const int writer : uses.writers) {
      const Step& copy = step(writer);
      if (copy.name != "copy" || copy.operands.size() != 2 || copy.checks || copy.unforeseen) return false;
      const Operand &from = copy.operands[0], &to = copy.operands[1];
      if (from.dtype != to.dtype || !is_run(to.strides, to.shape)) return false;
      if (!is_run(from.strides, from.shape) && !is_repeated(from.strides, from.shape)) return false;
      if (from.place.slot >= 0) {
        const std::vector<int>& before = graph_.uses(from.place.slot).writers;
        if (!before.empty() && before.back() >= writer) return false;
      }
      const std::int64_t begin = to.place.offset;
      parts_.push_back({begin, begin + size_of(to.shape) * bytes_of(to.dtype), from});
    }
    std::sort(parts_.begin(), parts_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::int64_t next = 0;
    for (const JoinedPart& part : parts_) {
      if (part.begin != next || part.end == part.begin) return false;
      next = part.end;
    }
    return next == static_cast<std::int64_t>(slot(joined_).bytes);
  }

  // The part in which bytes [first, end) lie.
  std::optional<std::size_t> part_of(std::int64_t first, std::int64_t end) const {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (parts_[p].begin <= first && end <= parts_[p].end) return p;
    return std::nullopt;
  }
  // Of elements that begin at an offset in bytes.
  std::optional<std::size_t> part_of(std::int64_t offset, const Dims& shape, const Dims& strides,
                                     DType dtype) const {
    std::int64_t low = offset, high = offset;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 0) return std::nullopt;
      const std::int64_t reach = (shape[axis] - 1) * strides[axis] * bytes_of(dtype);
      (reach < 0 ? low : high) += reach;
    }
    return part_of(low, high + bytes_of(dtype));
  }

  // Whether step i is a map of the joined array's elements, one by one, whose results can be split.
  bool splits(int i) {
    if (maps_.count(i)) return true;
    const Step& s = step(i);
    if (!s.formula || !s.formula->reduced.empty() || s.unforeseen || s.checks) return false;
    const MapFormula& map = *s.formula;
    const auto is_flat = [&](const Operand& x) {
      return x.dtype == map.formula.type &&
             size_of(x.shape) * bytes_of(x.dtype) == static_cast<std::int64_t>(slot(joined_).bytes) &&
             (is_run(x.strides, x.shape) || is_repeated(x.strides, x.shape));
    };
    for (const JoinedPart& part : parts_)
      if (part.from.dtype != map.formula.type) return false;
    for (const MapFormula::Input& input : map.inputs)
      if (input.operand >= 0 && !is_flat(operand(s, input.operand))) return false;
    for (const int result : map.results)
      if (operand(s, result).dtype != map.formula.type || !is_all(operand(s, result), slot(joined_).bytes))
        return false;
    maps_.insert(i);
    for (const int result : map.results)
      if (!is_split_by_readers(operand(s, result).place.slot)) return false;
    return true;
  }
  bool is_split_by_readers(int result) {
    if (slot(result).kind != Slot::Kind::temporary || graph_.uses(result).writers.size() != 1) return false;
    if (slot(result).bytes != slot(joined_).bytes) return false;
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const Output& out = outputs_[r];
      if (results_[r] != result) continue;
      const std::int64_t size = bytes_of(out.dtype);
      // Whole results of loops' bodies tell no strides.
      if (out.layout.size() * size >= static_cast<std::int64_t>(slot(result).bytes)) return false;
      if (!part_of(out.offset * size, out.layout.shape, out.layout.strides, out.dtype)) return false;
    }
    for (const int reader : graph_.uses(result).readers) {
      bool in_parts = true;
      for (const Operand& x : step(reader).operands)
        if (x.place.slot == result && !part_of(x.place.offset, x.shape, x.strides, x.dtype)) in_parts = false;
      if (!in_parts && !splits(reader)) return false;
    }
    return true;
  }

  void apply() {
    for (const int i : maps_)
      for (const int result : step(i).formula->results)
        for (const JoinedPart& part : parts_) {
          const int whole = operand(step(i), result).place.slot;
          made_[whole].push_back(static_cast<int>(slots_.size()));
          slots_.push_back({static_cast<std::size_t>(part.end - part.begin)});
        }
    std::vector<Step> all;
    for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
      if (maps_.count(i)) {
        for (std::size_t p = 0; p < parts_.size(); ++p) all.push_back(part_of_map(step(i), p));
        continue;
      }
      all.push_back(std::move(steps_[static_cast<std::size_t>(i)]));
      for (Operand& x : all.back().operands) {
        const auto made = made_.find(x.place.slot);
        if (made != made_.end()) x.place = place_in_parts(x, made->second);
      }
    }
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const auto made = made_.find(results_[r]);
      if (made == made_.end()) continue;
      Output& out = outputs_[r];
      const std::int64_t size = bytes_of(out.dtype);
      const std::size_t p = *part_of(out.offset * size, out.layout.shape, out.layout.strides, out.dtype);
      results_[r] = made->second[p];
      out.offset -= parts_[p].begin / size;
    }
    steps_ = std::move(all);
  }
  // Precondition: the operand lies in one part.
  Place place_in_parts(const Operand& x, const std::vector<int>& made) const {
    const std::size_t p = *part_of(x.place.offset, x.shape, x.strides, x.dtype);
    return {made[p], x.place.offset - parts_[p].begin};
  }
  Step part_of_map(const Step& s, std::size_t p) const {
    const JoinedPart& part = parts_[p];
    const MapFormula& map = *s.formula;
    const std::int64_t size = bytes_of(map.formula.type), n = (part.end - part.begin) / size;
    const auto part_of_operand = [&](const Operand& x) {
      Operand own = x;
      const auto made = made_.find(x.place.slot);
      const bool repeated = is_repeated(x.strides, x.shape), joins = x.place.slot == joined_ && !repeated;
      if (joins)
        own.place = part.from.place;
      else if (made != made_.end())
        own.place = repeated ? place_in_parts(x, made->second) : Place{made->second[p], 0};
      else if (!repeated)
        own.place.offset += part.begin;
      own.shape = Dims(1, n);
      const bool one = repeated || (joins && n > 1 && is_repeated(part.from.strides, part.from.shape));
      own.strides = Dims(1, one ? 0 : 1);
      return own;
    };
    Step made;
    auto own = std::make_shared<MapFormula>();
    own->formula = map.formula;
    for (MapFormula::Input input : map.inputs) {
      if (input.operand >= 0) {
        made.operands.push_back(part_of_operand(operand(s, input.operand)));
        input.operand = static_cast<int>(made.operands.size()) - 1;
      }
      own->inputs.push_back(input);
    }
    for (const int result : map.results) {
      own->results.push_back(static_cast<int>(made.operands.size()));
      made.operands.push_back(part_of_operand(operand(s, result)));
    }
    made.name = s.name;
    made.part = s.part;
    made.formula = std::move(own);
    run_by_formula(made);
    return made;
  }

  std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  std::vector<int>& results_;
  std::vector<Output>& outputs_;
  const StepGraph graph_;
  int joined_ = -1;
  std::vector<JoinedPart> parts_;         // of the joined array, in order
  std::set<int> maps_;                    // steps that are split
  std::map<int, std::vector<int>> made_;  // by slot that is split, the slots of its parts
};

NAX_ENGINE void split_maps(std::vector<Slot>& slots, std::vector<Step>& steps, std::vector<int>& results,
                           std::vector<Output>& outputs) {
  while (MapSplitter(slots, steps, results, outputs).run()) drop_dead_steps(slots, steps, results);
}

}  // namespace program::detail
NAX_END
