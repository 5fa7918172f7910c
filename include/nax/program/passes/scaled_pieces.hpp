#pragma once

#include <map>
#include <optional>

#include "nax/program/passes/formula_writer.hpp"
#include "nax/program/passes/multiples.hpp"
#include "nax/program/passes/step_graph.hpp"

NAX_BEGIN
namespace program::detail {

// An array that is zero but for a box, into which a multiple of the source is copied, and that maps read
// whole.
struct ScaledPiece {
  int slot = -1, zeros = -1, copy = -1;  // the array, and the steps that write it
  int source = -1;                       // a slot
  Factors factors;                       // of the source, the last first
  Dims shape, begins, extents;           // of the array, and its box
};

class PieceFinder {
 public:
  PieceFinder(const std::vector<Slot>& slots, const std::vector<Step>& steps, const StepGraph& graph)
      : slots_(slots), steps_(steps), graph_(graph) {}

  std::optional<ScaledPiece> find(int slot) {
    const std::vector<int>& writers = graph_.uses(slot).writers;
    if (slots_[static_cast<std::size_t>(slot)].kind != Slot::Kind::temporary || graph_.comes_out(slot))
      return std::nullopt;
    if (writers.size() != 2) return std::nullopt;
    const Step &zeros = step(writers[0]), &copy = step(writers[1]);
    if (zeros.name != "zeros" || zeros.operands[0].place.offset != 0 || copy.name != "copy")
      return std::nullopt;
    const Operand &from = copy.operands[0], &to = copy.operands[1];
    if (copy.operands.size() != 2 || from.dtype != to.dtype || from.place.slot < 0 || from.place.slot == slot)
      return std::nullopt;
    if (!is_all(from, slots_[static_cast<std::size_t>(from.place.slot)].bytes)) return std::nullopt;
    if (!is_complete(from.place.slot, writers[1]) || size_of(to.shape) == 0) return std::nullopt;
    ScaledPiece piece;
    piece.slot = slot, piece.zeros = writers[0], piece.copy = writers[1], piece.source = from.place.slot;
    if (!is_read_whole_by_maps(slot, writers[1], to.dtype, piece.shape) || !find_box(to, piece))
      return std::nullopt;
    find_base(piece);
    return piece;
  }

 private:
  const Step& step(int i) const { return steps_[static_cast<std::size_t>(i)]; }
  static const Operand& operand(const Step& s, int o) { return s.operands[static_cast<std::size_t>(o)]; }

  bool is_read_whole_by_maps(int slot, int copy, DType dtype, Dims& shape) const {
    const std::vector<int>& readers = graph_.uses(slot).readers;
    if (readers.empty() || readers.front() < copy) return false;
    for (const int reader : readers) {
      const Step& s = step(reader);
      if (!is_map(s) || s.formula->formula.type != dtype) return false;
      for (const Operand& x : s.operands) {
        if (x.place.slot != slot) continue;
        if (!is_all(x, slots_[static_cast<std::size_t>(slot)].bytes)) return false;
        if (shape.empty()) shape = x.shape;
        if (x.shape != shape) return false;
      }
    }
    return !shape.empty();
  }
  // Where the copy writes, in elements of each axis.
  static bool find_box(const Operand& to, ScaledPiece& piece) {
    const Dims strides = Layout::row_major(piece.shape);
    const std::int64_t size = static_cast<std::int64_t>(dtype_size(to.dtype));
    std::int64_t rest = to.place.offset / size;
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      piece.begins.push_back(rest / strides[axis]);
      rest %= strides[axis];
      while (next < to.shape.size() && to.shape[next] == 1) ++next;
      const bool own = piece.shape[axis] != 1 && next < to.shape.size() && to.strides[next] == strides[axis];
      piece.extents.push_back(own ? to.shape[next++] : 1);
      if (piece.begins[axis] + piece.extents[axis] > piece.shape[axis]) return false;
    }
    while (next < to.shape.size() && to.shape[next] == 1) ++next;
    return next == to.shape.size();
  }
  // Takes in place of the source what it is a multiple of.
  void find_base(ScaledPiece& piece) {
    while (const std::optional<int> base = base_of(piece.source, piece.factors)) piece.source = *base;
  }
  // The array of which a map makes this one by factors alone: one that the map reads, or its other result.
  std::optional<int> base_of(int slot, Factors& factors) {
    const std::vector<int>& writers = graph_.uses(slot).writers;
    if (writers.size() != 1) return std::nullopt;
    const Step& map = written_out(writers[0]);
    if (!map.formula) return std::nullopt;
    const formula::Formula& f = map.formula->formula;
    std::map<int, int> arrays;  // by step of the formula; of equal results the first
    for (std::size_t i = 0; i < f.steps.size(); ++i) {
      if (f.steps[i].operation != formula::Operation::input) continue;
      const Operand& x = operand(map, map.formula->inputs[f.steps[i].detail].operand);
      if (is_all(x, slots_[static_cast<std::size_t>(slot)].bytes) && is_complete(x.place.slot, writers[0]))
        arrays[static_cast<int>(i)] = x.place.slot;
    }
    int at = -1;
    for (std::size_t k = 0; k < f.results.size(); ++k) {
      const int result = operand(map, map.formula->results[k]).place.slot;
      arrays.try_emplace(f.results[k], result);
      if (result == slot) at = f.results[k];
    }
    const auto multiple = multiple_of(f, at, [&](int i) {
      const auto array = arrays.find(i);
      return array != arrays.end() && array->second != slot;
    });
    if (!multiple) return std::nullopt;
    factors.insert(factors.end(), multiple->factors.begin(), multiple->factors.end());
    return arrays.at(multiple->of);
  }
  bool is_complete(int slot, int before) const {
    const std::vector<int>& writers = graph_.uses(slot).writers;
    return writers.empty() || writers.back() < before;
  }
  // The map with numbers as constants of its formula; a step without formula where it is none.
  const Step& written_out(int i) {
    const auto [place, is_new] = written_out_.try_emplace(i);
    if (is_new && is_map(step(i))) place->second = written_anew(slots_, step(i), [](int) { return true; });
    return place->second;
  }

  const std::vector<Slot>& slots_;
  const std::vector<Step>& steps_;
  const StepGraph& graph_;
  std::map<int, Step> written_out_;  // maps, with numbers as constants of their formulas
};

}  // namespace program::detail
NAX_END
