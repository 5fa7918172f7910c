#pragma once

#include <numeric>

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/pieces.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/copy_step.hpp"
#include "nax/program/replay/walks.hpp"

NAX_BEGIN
namespace program::detail {

// An array of pieces: the step that fills it with zeros, those that write pieces, and the bytes of these.
struct Pieces {
  int zeros = -1;
  std::vector<int> writes;
  Intervals bytes;
};

class PieceJoiner {
 public:
  PieceJoiner(const std::vector<Slot>& slots, std::vector<Step>& steps, const std::vector<int>& results)
      : slots_(slots), steps_(steps), graph_(slots, steps, results), gone_(steps.size(), 0) {
    pieces_.resize(slots.size());
    renamed_.resize(slots.size());
    std::iota(renamed_.begin(), renamed_.end(), 0);
  }

  void run() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) find(static_cast<int>(slot));
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].adds) join(static_cast<int>(i));
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) finish(static_cast<int>(slot));
    for (Step& step : steps_)
      for (Operand& x : step.operands)
        if (x.place.slot >= 0) x.place.slot = renamed(x.place.slot);
    erase_marked(steps_, gone_);
  }

 private:
  Step& step(int i) { return steps_[static_cast<std::size_t>(i)]; }
  std::optional<Pieces>& pieces(int slot) { return pieces_[static_cast<std::size_t>(slot)]; }
  // Halves the way on which it goes: sums of many pieces are long chains.
  int renamed(int slot) {
    const auto next = [&](int s) -> int& { return renamed_[static_cast<std::size_t>(s)]; };
    while (next(slot) != slot) slot = next(slot) = next(next(slot));
    return slot;
  }

  // Slots that zeros fill first, and one step then writes a piece of.
  void find(int slot) {
    const std::vector<int>& writers = graph_.uses(slot).writers;
    if (slots_[static_cast<std::size_t>(slot)].kind != Slot::Kind::temporary || writers.size() != 2) return;
    const Step &zeros = step(writers[0]), &write = step(writers[1]);
    if (zeros.name != "zeros" || zeros.operands[0].place.offset != 0 || !writes_piece(write, slot)) return;
    for (const int reader : graph_.uses(slot).readers)
      if (reader < writers[1]) return;
    if (auto bytes = intervals_of(write.operands.back()))
      pieces(slot) = Pieces{writers[0], {writers[1]}, std::move(*bytes)};
  }
  // A copy to the slot, or a sum with a part of it that lies where that part lies.
  static bool writes_piece(const Step& s, int slot) {
    const Operand& to = s.operands.back();
    if (!to.written || to.place.slot != slot) return false;
    if (s.name == "copy") return s.operands.size() == 2 && s.operands[0].place.slot != slot;
    return s.adds && s.operands[0].place == to.place && s.operands[0].strides == to.strides &&
           s.operands[1].place.slot != slot && to.dtype == s.operands[1].dtype;
  }

  bool is_whole(const Operand& x) const {
    return x.place.slot >= 0 && is_all(x, slots_[static_cast<std::size_t>(x.place.slot)].bytes);
  }
  bool is_term(const Operand& x) {
    return is_whole(x) && pieces(x.place.slot) && !graph_.comes_out(x.place.slot);
  }
  // Is the slot read by this step alone, but for its own pieces?
  bool is_read_by(int slot, int i) {
    for (const int reader : graph_.uses(slot).readers)
      if (reader != i && std::count(pieces(slot)->writes.begin(), pieces(slot)->writes.end(), reader) == 0)
        return false;
    return true;
  }

  // The sum of two arrays of pieces is one.
  void join(int i) {
    const Step& s = step(i);
    const Operand &a = s.operands[0], &b = s.operands[1], &to = s.operands[2];
    if (!is_term(a) || !is_term(b) || !is_whole(to) || a.place.slot == b.place.slot) return;
    if (graph_.uses(to.place.slot).writers.size() != 1 || pieces(to.place.slot)) return;
    if (slots_[static_cast<std::size_t>(to.place.slot)].kind != Slot::Kind::temporary) return;
    if (!is_read_by(a.place.slot, i) || !is_read_by(b.place.slot, i)) return;
    std::optional<Pieces>&x = pieces(a.place.slot), &y = pieces(b.place.slot);
    auto bytes = joined(x->bytes, y->bytes);
    if (!bytes) return;
    if (x->writes.size() < y->writes.size()) x.swap(y);
    Pieces sum{std::min(x->zeros, y->zeros), std::move(x->writes), std::move(*bytes)};
    sum.writes.insert(sum.writes.end(), y->writes.begin(), y->writes.end());
    gone_[static_cast<std::size_t>(std::max(x->zeros, y->zeros))] = 1;
    gone_[static_cast<std::size_t>(i)] = 1;
    renamed_[static_cast<std::size_t>(a.place.slot)] = renamed_[static_cast<std::size_t>(b.place.slot)] =
        to.place.slot;
    x.reset(), y.reset();
    pieces(to.place.slot) = std::move(sum);
  }

  // Pieces are copied to zeros, and no zeros are written where they cover the array.
  void finish(int slot) {
    if (!pieces(slot)) return;
    const Pieces& own = *pieces(slot);
    for (const int i : own.writes) {
      if (!step(i).adds) continue;
      step(i) = copy_step(step(i).operands[1], step(i).operands[2]);
    }
    const std::int64_t bytes = static_cast<std::int64_t>(slots_[static_cast<std::size_t>(slot)].bytes);
    if (own.bytes.size() == 1 && own.bytes[0].first == 0 && own.bytes[0].second == bytes)
      gone_[static_cast<std::size_t>(own.zeros)] = 1;
  }

  const std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  StepGraph graph_;
  std::vector<std::optional<Pieces>> pieces_;  // by slot
  std::vector<int> renamed_;
  std::vector<char> gone_;
};

NAX_ENGINE void join_pieces(const std::vector<Slot>& slots, std::vector<Step>& steps,
                            const std::vector<int>& results) {
  PieceJoiner(slots, steps, results).run();
}

}  // namespace program::detail
NAX_END
