#pragma once

#include <algorithm>
#include <optional>

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/scaled_pieces.hpp"
#include "nax/program/record/copy_step.hpp"

NAX_BEGIN
namespace program::detail {

class PiecePadder {
 public:
  PiecePadder(std::vector<Slot>& slots, std::vector<Step>& steps, const std::vector<int>& results)
      : slots_(slots), steps_(steps), results_(results), graph_(slots, steps, results) {}

  void run() {
    PieceFinder finder(slots_, steps_, graph_);
    std::vector<Group> groups;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      std::optional<ScaledPiece> piece = finder.find(static_cast<int>(slot));
      if (!piece) continue;
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
        return g[0].source == piece->source && g[0].shape == piece->shape && g[0].extents == piece->extents;
      });
      (group == groups.end() ? groups.emplace_back() : *group).push_back(std::move(*piece));
    }
    before_.resize(steps_.size());
    gone_.assign(steps_.size(), 0);
    for (const Group& group : groups)
      if (group.size() > 1 && is_little_larger(group)) pad(group);
    std::vector<Step> all;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (Step& step : before_[i]) all.push_back(std::move(step));
      if (!gone_[i]) all.push_back(std::move(steps_[i]));
    }
    steps_ = std::move(all);
    if (!padded_) return;
    drop_dead_steps(slots_, steps_, results_);
    drop_dead_results();
  }

 private:
  using Group = std::vector<ScaledPiece>;  // of one source, shape and extents

  Step& step(int i) { return steps_[static_cast<std::size_t>(i)]; }
  static const Operand& operand(const Step& s, int o) { return s.operands[static_cast<std::size_t>(o)]; }

  // Before and behind the source, in each axis, as far as a view reaches.
  static std::pair<Dims, Dims> margins(const Group& group) {
    const std::size_t rank = group[0].shape.size();
    Dims before(rank, 0), behind(rank, 0);
    for (const ScaledPiece& piece : group)
      for (std::size_t axis = 0; axis < rank; ++axis) {
        before[axis] = std::max(before[axis], piece.begins[axis]);
        behind[axis] = std::max(behind[axis], piece.shape[axis] - piece.extents[axis] - piece.begins[axis]);
      }
    return {before, behind};
  }
  static bool is_little_larger(const Group& group) {
    const auto [before, behind] = margins(group);
    double ratio = 1;
    for (std::size_t axis = 0; axis < before.size(); ++axis)
      ratio *= static_cast<double>(before[axis] + group[0].extents[axis] + behind[axis]) /
               static_cast<double>(group[0].shape[axis]);
    return ratio < 1.25;
  }

  void pad(const Group& group) {
    padded_ = true;
    const auto [before, behind] = margins(group);
    const Dims& extents = group[0].extents;
    const std::size_t rank = before.size();
    Dims whole = extents;
    for (std::size_t axis = 0; axis < rank; ++axis) whole[axis] += before[axis] + behind[axis];
    const DType dtype = step(group[0].copy).operands[0].dtype;
    const std::int64_t size = static_cast<std::int64_t>(dtype_size(dtype));
    const Dims strides = Layout::row_major(whole);
    const int padded = static_cast<int>(slots_.size());
    slots_.push_back({static_cast<std::size_t>(size_of(whole) * size)});

    const auto part = [&](const Dims& begins, const Dims& shape) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < rank; ++axis) offset += begins[axis] * strides[axis];
      return Operand{{padded, offset * size}, true, dtype, shape, strides};
    };
    int first = group[0].copy;
    for (const ScaledPiece& piece : group) first = std::min(first, piece.copy);
    std::vector<Step>& made = before_[static_cast<std::size_t>(first)];
    static const double zero = 0;
    const Place zeros{Place::constant, reinterpret_cast<std::intptr_t>(&zero)};
    Dims begins(rank, 0), box = whole;  // without the margins of the axes so far
    for (std::size_t axis = 0; axis < rank; ++axis) {
      for (const bool ahead : {true, false}) {
        begins[axis] = ahead ? 0 : before[axis] + extents[axis];
        box[axis] = ahead ? before[axis] : behind[axis];
        if (box[axis] > 0)
          made.push_back(copy_step({zeros, false, dtype, box, Dims(rank, 0)}, part(begins, box)));
      }
      begins[axis] = before[axis], box[axis] = extents[axis];
    }
    const Operand source{{group[0].source, 0}, false, dtype, extents, Layout::row_major(extents)};
    made.push_back(copy_step(source, part(before, extents)));

    for (const ScaledPiece& piece : group) {
      gone_[static_cast<std::size_t>(piece.zeros)] = gone_[static_cast<std::size_t>(piece.copy)] = 1;
      Dims from = before;
      for (std::size_t axis = 0; axis < rank; ++axis) from[axis] -= piece.begins[axis];
      Operand view = part(from, piece.shape);
      view.written = false;
      if (piece.factors.empty())
        read_view(piece.slot, view);
      else
        before_[static_cast<std::size_t>(piece.copy)].push_back(scaled(piece, view));
    }
  }
  void read_view(int slot, const Operand& view) {
    for (const int reader : graph_.uses(slot).readers) {
      Step& s = step(reader);
      for (Operand& x : s.operands)
        if (x.place.slot == slot) x = view;
      s.adds = false;
      run_by_formula(s);
    }
  }
  Step scaled(const ScaledPiece& piece, const Operand& view) {
    auto map = std::make_shared<MapFormula>();
    map->formula = product_with(piece.factors, view.dtype);
    map->inputs = {{0}};
    map->results = {1};
    Step s;
    s.name = "multiply";
    s.operands = {view, {{piece.slot, 0}, true, view.dtype, view.shape, Layout::row_major(view.shape)}};
    s.formula = std::move(map);
    run_by_formula(s);
    return s;
  }

  // Maps whose results are read as another's no more compute those that are left.
  void drop_dead_results() {
    const StepGraph now(slots_, steps_, results_);
    const auto is_needed = [&](int slot) { return now.comes_out(slot) || !now.uses(slot).readers.empty(); };
    for (Step& s : steps_) {
      if (!is_map(s) || s.formula->results.size() < 2) continue;
      const auto count = std::count_if(s.formula->results.begin(), s.formula->results.end(),
                                       [&](int r) { return is_needed(operand(s, r).place.slot); });
      if (count == 0 || count == static_cast<std::ptrdiff_t>(s.formula->results.size())) continue;
      Step fewer = written_anew(slots_, s, is_needed);
      fewer.name = s.name;
      run_by_formula(fewer);
      s = std::move(fewer);
    }
  }

  std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  const std::vector<int>& results_;
  const StepGraph graph_;
  bool padded_ = false;
  std::vector<std::vector<Step>> before_;  // by step, those that come before it
  std::vector<char> gone_;
};

NAX_ENGINE void pad_pieces(std::vector<Slot>& slots, std::vector<Step>& steps,
                           const std::vector<int>& results) {
  PiecePadder(slots, steps, results).run();
}

}  // namespace program::detail
NAX_END
