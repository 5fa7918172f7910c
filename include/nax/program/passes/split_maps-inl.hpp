#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "nax/program/passes/joined_parts.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/copy_step.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/program.hpp"
#include "nax/program/replay/walks.hpp"

NAX_BEGIN
namespace program::detail {

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
        if (splits(reader) && reads_fit()) return apply(), true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t most_parts = 16, most_maps = 64;  // of one joined array

  const Slot& slot(int s) const { return slots_[static_cast<std::size_t>(s)]; }
  const Step& step(int i) const { return steps_[static_cast<std::size_t>(i)]; }
  static const Operand& operand(const Step& s, int o) { return s.operands[static_cast<std::size_t>(o)]; }
  static std::int64_t bytes_of(DType dtype) { return static_cast<std::int64_t>(dtype_size(dtype)); }

  // Whether copies write parts of the slot before anything reads it.
  bool find_parts() {
    parts_.clear();
    const SlotUses& uses = graph_.uses(joined_);
    if (slot(joined_).kind != Slot::Kind::temporary || uses.readers.empty()) return false;
    if (uses.writers.size() < 2 || uses.writers.size() > most_parts) return false;
    if (uses.readers.front() < uses.writers.back()) return false;
    for (const int writer : uses.writers) {
      const Step& copy = step(writer);
      if (copy.name == "zeros" && writer == uses.writers.front()) continue;
      if (copy.name != "copy" || copy.operands.size() != 2 || copy.checks || copy.unforeseen) return false;
      const Operand &from = copy.operands[0], &to = copy.operands[1];
      if (from.dtype != to.dtype) return false;
      if (from.place.slot >= 0) {
        const std::vector<int>& before = graph_.uses(from.place.slot).writers;
        if (!before.empty() && before.back() >= writer) return false;
      }
      const JoinedPart part(from, to);
      std::erase_if(parts_, [&](const JoinedPart& other) { return part.overlaps(other); });
      if (part.has_lines()) parts_.push_back(part);
    }
    return !parts_.empty();
  }

  // The part in which these elements of the joined array lie, and where.
  std::optional<std::pair<std::size_t, InPart>> part_of(std::int64_t offset, const Dims& shape,
                                                        const Dims& strides, DType dtype) const {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (auto found = parts_[p].find(offset, shape, strides, dtype)) return std::pair{p, std::move(*found)};
    return std::nullopt;
  }
  auto part_of(const Operand& x) const { return part_of(x.place.offset, x.shape, x.strides, x.dtype); }
  auto part_of(const Output& out) const {
    return part_of(out.offset * bytes_of(out.dtype), out.layout.shape, out.layout.strides, out.dtype);
  }

  // Whether step i is a map of the joined array's elements, one by one, whose results can be split.
  bool splits(int i) {
    if (maps_.count(i)) return true;
    if (maps_.size() == most_maps) return false;
    const Step& s = step(i);
    if (!is_map(s)) return false;
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
  // Whether each map that is split reads single elements of split arrays where a part has them, and no more
  // the joined array as a whole: so each split leaves fewer maps of joined arrays.
  bool reads_fit() const {
    std::set<int> split;
    for (const int i : maps_)
      for (const int result : step(i).formula->results) split.insert(operand(step(i), result).place.slot);
    const bool is_whole = std::any_of(parts_.begin(), parts_.end(), [&](const JoinedPart& part) {
      return part.bytes() == static_cast<std::int64_t>(slot(joined_).bytes);
    });
    for (const int i : maps_)
      for (const MapFormula::Input& input : step(i).formula->inputs) {
        if (input.operand < 0) continue;
        const Operand& x = operand(step(i), input.operand);
        if (is_run(x.strides, x.shape)) continue;
        if (x.place.slot == joined_ ? is_whole : split.count(x.place.slot) && !part_of(x)) return false;
      }
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
      if (!part_of(out)) return false;
    }
    for (const int reader : graph_.uses(result).readers) {
      bool in_parts = true;
      for (const Operand& x : step(reader).operands)
        if (x.place.slot == result) in_parts = in_parts && can_move(step(reader), x);
      if (!in_parts && !splits(reader)) return false;
    }
    return true;
  }
  static bool is_copy(const Step& s) {
    return s.name == "copy" && s.operands.size() == 2 && s.operands[0].dtype == s.operands[1].dtype;
  }
  // Whether the operand lies in one part, and the step can read it there: works other than maps and copies
  // know no other strides.
  bool can_move(const Step& s, const Operand& x) const {
    const auto found = part_of(x);
    if (!found) return false;
    return is_map(s) || is_copy(s) ||
           without_ones(x.shape, found->second.strides) == without_ones(x.shape, x.strides);
  }

  void apply() {
    for (const int i : maps_)
      for (const int result : step(i).formula->results)
        for (const JoinedPart& part : parts_) {
          const int whole = operand(step(i), result).place.slot;
          made_[whole].push_back(static_cast<int>(slots_.size()));
          slots_.push_back({static_cast<std::size_t>(part.bytes())});
        }
    std::vector<Step> all;
    for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
      if (maps_.count(i)) {
        for (std::size_t p = 0; p < parts_.size(); ++p) all.push_back(part_of_map(step(i), p));
        continue;
      }
      all.push_back(std::move(steps_[static_cast<std::size_t>(i)]));
      read_parts(all.back());
    }
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const auto made = made_.find(results_[r]);
      if (made == made_.end()) continue;
      Output& out = outputs_[r];
      const auto [p, in_part] = *part_of(out);
      results_[r] = made->second[p];
      out.offset = in_part.offset / bytes_of(out.dtype);
      out.layout.strides = in_part.strides;
    }
    steps_ = std::move(all);
  }
  void read_parts(Step& s) const {
    bool moved = false;
    for (Operand& x : s.operands) {
      const auto made = made_.find(x.place.slot);
      if (made == made_.end()) continue;
      move_to_part(x, made->second);
      moved = true;
    }
    if (moved && is_map(s)) {
      run_by_formula(s);
    } else if (moved && is_copy(s)) {
      s = copy_step(s.operands[0], s.operands[1]);
    }
  }
  // Precondition: the operand lies in one part.
  void move_to_part(Operand& x, const std::vector<int>& made) const {
    const auto [p, in_part] = *part_of(x);
    x.place = {made[p], in_part.offset};
    x.strides = in_part.strides;
  }
  Step part_of_map(const Step& s, std::size_t p) const {
    const JoinedPart& part = parts_[p];
    const MapFormula& map = *s.formula;
    const auto part_of_operand = [&](const Operand& x) {
      Operand own = x;
      const auto made = made_.find(x.place.slot);
      own.shape = part.to.shape;
      if (is_repeated(x.strides, x.shape) && !is_run(x.strides, x.shape)) {
        if (made != made_.end()) move_to_part(own = x, made->second), own.shape = part.to.shape;
        own.strides = Dims(own.shape.size(), 0);
      } else if (x.place.slot == joined_) {
        own.place = part.from.place;
        own.strides = part.from.strides;
      } else if (made != made_.end()) {
        own.place = Place{made->second[p], 0};
        own.strides = Layout::row_major(own.shape);
      } else {
        own.place.offset += part.to.place.offset;
        own.strides = part.to.strides;
      }
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
