#pragma once

#include <algorithm>
#include <map>
#include <unordered_map>

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/call_work.hpp"

NAX_BEGIN
namespace program::detail {

NAX_ENGINE std::vector<int> writers(const std::vector<Slot>& slots, const std::vector<Step>& steps) {
  std::vector<int> count(slots.size(), 0);
  for (const Step& step : steps)
    for (const Operand& x : step.operands)
      if (x.written && x.place.slot >= 0) ++count[static_cast<std::size_t>(x.place.slot)];
  return count;
}

NAX_ENGINE double bytes_of(const Operand& x) {
  if (x.place == Place()) return 0;
  double size = static_cast<double>(dtype_size(x.dtype));
  for (std::size_t axis = static_cast<std::size_t>(x.indexed); axis < x.shape.size(); ++axis)
    if (x.strides[axis] != 0 || x.indexed > 0) size *= static_cast<double>(x.shape[axis]);
  return size;
}

// Finds steps of constants alone: first all steps and slots that they write are taken for constant, then
// those go that are not, and what reads them.
class ConstantFinder {
 public:
  ConstantFinder(std::vector<Slot>& slots, std::vector<Step>& steps, const std::vector<int>& results)
      : slots_(slots),
        steps_(steps),
        graph_(slots, steps, results),
        made_of_(slots.size(), 0),
        constant_(slots.size()),
        runs_(steps.size(), 1) {}

  void run(std::vector<std::shared_ptr<const char[]>>& held) {
    find();
    std::vector<std::pair<int, std::shared_ptr<char[]>>> made;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (runs_[i]) run(steps_[i], made);
    for (auto& [slot, memory] : made) {
      slots_[at(slot)].kind = Slot::Kind::constant;
      const std::vector<int>& readers = graph_.uses(slot).readers;
      if (graph_.comes_out(slot) ||
          std::any_of(readers.begin(), readers.end(), [&](int i) { return !runs_[at(i)]; }))
        held.push_back(std::move(memory));
      else
        slots_[at(slot)].data = nullptr;
    }
    erase_marked(steps_, runs_);
  }

 private:
  static constexpr double most_bytes = 1 << 16;  // of arrays that may be larger than what they are made of
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void find() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const Slot& s = slots_[slot];
      const bool computed =
          s.kind == Slot::Kind::temporary && !graph_.uses(static_cast<int>(slot)).writers.empty();
      constant_[slot] = computed || s.kind == Slot::Kind::constant;
      if (s.kind == Slot::Kind::constant) made_of_[slot] = static_cast<double>(s.bytes);
    }
    for (const Step& s : steps_) {
      double all = 0;
      for (const Operand& x : s.operands)
        if (!x.written) all += x.place.slot < 0 ? bytes_of(x) : made_of_[at(x.place.slot)];
      for (const Operand& x : s.operands)
        if (x.written && x.place.slot >= 0)
          made_of_[at(x.place.slot)] +=
              s.name == "zeros" ? static_cast<double>(slots_[at(x.place.slot)].bytes) : all;
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      if (graph_.comes_out(static_cast<int>(slot)) && is_too_large(static_cast<int>(slot)))
        drop(static_cast<int>(slot));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      bool writes = false, constant = !s.unforeseen && !s.checks && !s.deferred;
      for (const Operand& x : s.operands) {
        writes = writes || x.written;
        constant =
            constant && (x.place.slot < 0 ? !x.written || x.place == Place() : constant_[at(x.place.slot)]);
      }
      if (!constant || !writes) keep(static_cast<int>(i));
    }
    while (!changed_.empty()) {
      const SlotUses& uses = graph_.uses(changed_.back());
      changed_.pop_back();
      for (const int i : uses.writers) keep(i);
      for (const int i : uses.readers) keep(i);
    }
  }
  // The step stays; so what it writes is no constant, nor what is written further after it has read it.
  void keep(int i) {
    if (!runs_[at(i)]) return;
    runs_[at(i)] = 0;
    for (const Operand& x : steps_[at(i)].operands) {
      if (x.place.slot < 0 || !constant_[at(x.place.slot)]) continue;
      const std::vector<int>& writers = graph_.uses(x.place.slot).writers;
      if (!x.written && (writers.empty() || writers.back() < i) && !is_too_large(x.place.slot)) continue;
      drop(x.place.slot);
    }
  }
  void drop(int slot) {
    if (!constant_[at(slot)]) return;
    constant_[at(slot)] = 0;
    changed_.push_back(slot);
  }
  // To be held.
  bool is_too_large(int slot) const {
    return slots_[at(slot)].kind != Slot::Kind::constant &&
           static_cast<double>(slots_[at(slot)].bytes) > std::max(most_bytes, made_of_[at(slot)]);
  }
  char* address(const Operand& x) const {
    if (x.place.slot < 0) return reinterpret_cast<char*>(static_cast<std::intptr_t>(x.place.offset));
    return const_cast<char*>(static_cast<const char*>(slots_[at(x.place.slot)].data)) + x.place.offset;
  }
  void run(const Step& s, std::vector<std::pair<int, std::shared_ptr<char[]>>>& made) {
    if (s.name == "constant") {
      Slot& to = slots_[at(s.operands[1].place.slot)];
      if (graph_.uses(s.operands[1].place.slot).writers.size() == 1 && s.operands[1].place.offset == 0 &&
          to.bytes == static_cast<std::size_t>(s.operands[0].shape[0])) {
        to.data = address(s.operands[0]);
        to.kind = Slot::Kind::constant;
        return;
      }
    }
    std::vector<void*> addresses;
    for (const Operand& x : s.operands) {
      if (x.written && x.place.slot >= 0 && !slots_[at(x.place.slot)].data) {
        Slot& to = slots_[at(x.place.slot)];
        made.push_back({x.place.slot, allocate_bytes(to.bytes)});
        std::memset(made.back().second.get(), 0, to.bytes);
        to.data = made.back().second.get();
      }
      addresses.push_back(address(x));
    }
    s.work->run(addresses.data());
  }

  std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  const StepGraph graph_;
  std::vector<double> made_of_;        // by slot, bytes of the constants that it is computed of
  std::vector<char> constant_, runs_;  // slots; steps
  std::vector<int> changed_;           // slots that have turned out to be none
};

NAX_ENGINE void find_constants(std::vector<Slot>& slots, std::vector<Step>& steps,
                               const std::vector<int>& results,
                               std::vector<std::shared_ptr<const char[]>>& held) {
  ConstantFinder(slots, steps, results).run(held);
}

inline std::string identity_of(const Step& step, const std::vector<int>& renamed) {
  Attributes key;
  for (const Operand& x : step.operands) {
    const int slot = x.place.slot < 0 ? x.place.slot : renamed[static_cast<std::size_t>(x.place.slot)];
    key << x.written << x.dtype << x.shape << x.strides << x.place.offset << (x.written ? 0 : slot);
  }
  return step.name + '\0' + step.attributes + '\0' + std::move(key).text();
}

NAX_ENGINE void join_equal_steps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                 std::vector<int>& results) {
  const std::vector<int> written = writers(slots, steps);
  std::vector<int> renamed(slots.size());
  for (std::size_t i = 0; i < renamed.size(); ++i) renamed[i] = static_cast<int>(i);
  std::unordered_map<std::string, int> known;  // the slot that a step writes
  std::erase_if(steps, [&](Step& step) {
    bool fixed = step.comparable;
    int to = -1, targets = 0;
    for (Operand& x : step.operands) {
      if (x.place.slot < 0) continue;
      const int count = written[static_cast<std::size_t>(x.place.slot)];
      fixed = fixed && count <= 1;
      if (x.written) to = x.place.slot, ++targets;
    }
    if (fixed && targets == 1) {
      const auto [place, added] = known.try_emplace(identity_of(step, renamed), to);
      if (!added &&
          slots[static_cast<std::size_t>(to)].bytes == slots[static_cast<std::size_t>(place->second)].bytes) {
        renamed[static_cast<std::size_t>(to)] = place->second;
        return true;
      }
    }
    for (Operand& x : step.operands)
      if (x.place.slot >= 0) x.place.slot = renamed[static_cast<std::size_t>(x.place.slot)];
    return false;
  });
  for (int& r : results)
    if (r >= 0) r = renamed[static_cast<std::size_t>(r)];
}

NAX_ENGINE void drop_dead_steps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                const std::vector<int>& results) {
  std::vector<bool> needed(slots.size(), false);
  for (int r : results)
    if (r >= 0) needed[static_cast<std::size_t>(r)] = true;
  std::vector<Step> kept;
  for (std::size_t i = steps.size(); i-- > 0;) {
    bool live = steps[i].checks;
    for (const Operand& x : steps[i].operands)
      if (x.written && x.place.slot >= 0) live = live || needed[static_cast<std::size_t>(x.place.slot)];
    if (!live) continue;
    for (const Operand& x : steps[i].operands)
      if (x.place.slot >= 0) needed[static_cast<std::size_t>(x.place.slot)] = true;
    kept.push_back(std::move(steps[i]));
  }
  std::reverse(kept.begin(), kept.end());
  steps = std::move(kept);
}

// Free room in a block that grows.
class Room {
 public:
  std::int64_t take(std::int64_t bytes) {
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
      if (at->second >= bytes && (best == free_.end() || at->second < best->second)) best = at;
    if (best == free_.end()) {
      // The last piece, if it reaches to the end, grows.
      if (!free_.empty()) {
        const auto last = std::prev(free_.end());
        if (last->first + last->second == end_) {
          const std::int64_t from = last->first;
          free_.erase(last);
          end_ = from + bytes;
          return from;
        }
      }
      const std::int64_t from = end_;
      end_ += bytes;
      return from;
    }
    const std::int64_t from = best->first, left = best->second - bytes;
    free_.erase(best);
    if (left > 0) free_[from + bytes] = left;
    return from;
  }
  void give(std::int64_t from, std::int64_t bytes) {
    auto next = free_.lower_bound(from);
    if (next != free_.end() && from + bytes == next->first) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == from) {
        before->second += bytes;
        return;
      }
    }
    free_[from] = bytes;
  }
  std::int64_t end() const { return end_; }

 private:
  std::map<std::int64_t, std::int64_t> free_;
  std::int64_t end_ = 0;
};

NAX_ENGINE bool is_copy_of_layout(const Step& step, const Operand& x, const Operand& y) {
  const auto* const call = dynamic_cast<const CallWork*>(step.work.get());
  return call && call->form<ops::Copy>() && !x.written && y.written && x.dtype == y.dtype &&
         x.shape == y.shape && x.strides == y.strides && x.place.offset == y.place.offset;
}

NAX_ENGINE std::vector<int> find_donations(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                           const std::vector<Argument>& arguments,
                                           const std::vector<int>& results, std::size_t result_count) {
  std::vector<int> donated(result_count, -1);
  constexpr std::size_t never = std::size_t(-1);
  std::size_t sure = 0;  // from this step on nothing is unforeseen
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].unforeseen) sure = i + 1;
  std::vector<std::size_t> first(slots.size(), never), last(slots.size(), 0);
  std::vector<bool> used(slots.size(), false);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const Operand& x : steps[i].operands)
      if (x.place.slot >= 0) {
        const std::size_t slot = static_cast<std::size_t>(x.place.slot);
        first[slot] = std::min(first[slot], i);
        last[slot] = i;
        used[slot] = true;
      }
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::size_t from = static_cast<std::size_t>(arguments[a].slot);
    if (!arguments[a].donated || std::count(results.begin(), results.end(), arguments[a].slot) > 0) continue;
    for (std::size_t to = 0; to < slots.size(); ++to) {
      if (slots[to].kind != Slot::Kind::result || slots[to].bytes != slots[from].bytes ||
          donated[static_cast<std::size_t>(slots[to].number)] >= 0 || first[to] == never || first[to] < sure)
        continue;
      bool fits = !used[from] || last[from] < first[to];
      if (!fits && last[from] == first[to]) {
        Step& step = steps[first[to]];
        fits = true;
        for (const Operand& x : step.operands) {
          if (x.place.slot != arguments[a].slot) continue;
          bool overlaid = false;
          for (const Operand& y : step.operands)
            overlaid = overlaid || (y.place.slot == static_cast<int>(to) &&
                                    (overlays(step, x, y) || is_copy_of_layout(step, x, y)));
          fits = fits && overlaid;
        }
        if (!fits && !step.reads_first)
          if (auto work = step.work->reading_first()) step.work = std::move(work), step.reads_first = true;
        fits = fits || step.reads_first;
      }
      if (!fits) continue;
      donated[static_cast<std::size_t>(slots[to].number)] = static_cast<int>(a);
      break;
    }
  }
  return donated;
}

NAX_ENGINE std::size_t plan_memory(const std::vector<Slot>& slots, const std::vector<Step>& steps,
                                   std::vector<std::int64_t>& offsets) {
  constexpr std::int64_t unit = 64;
  std::vector<std::size_t> last(slots.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const Operand& x : steps[i].operands)
      if (x.place.slot >= 0) last[static_cast<std::size_t>(x.place.slot)] = i;
  offsets.assign(slots.size(), -1);
  Room room;
  const auto bytes = [&](std::size_t slot) {
    return (static_cast<std::int64_t>(slots[slot].bytes) + 2 * unit - 1) / unit * unit;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto temporary = [&](const Operand& x) {
      return x.place.slot >= 0 && slots[static_cast<std::size_t>(x.place.slot)].kind == Slot::Kind::temporary;
    };
    std::vector<int> taken;
    for (const Operand& to : steps[i].operands)
      for (const Operand& from : steps[i].operands) {
        const std::size_t a = static_cast<std::size_t>(from.place.slot),
                          b = static_cast<std::size_t>(to.place.slot);
        if (!temporary(to) || !temporary(from) || offsets[b] >= 0 || offsets[a] < 0 || last[a] != i ||
            slots[a].bytes != slots[b].bytes || !overlays(steps[i], from, to) ||
            std::count(taken.begin(), taken.end(), from.place.slot) > 0)
          continue;
        bool all = true;  // of what it is read as
        for (const Operand& x : steps[i].operands)
          all = all && (x.place.slot != from.place.slot || overlays(steps[i], x, to));
        if (!all) continue;
        offsets[b] = offsets[a];
        taken.push_back(from.place.slot);
      }
    for (const Operand& x : steps[i].operands)
      if (temporary(x) && offsets[static_cast<std::size_t>(x.place.slot)] < 0)
        offsets[static_cast<std::size_t>(x.place.slot)] =
            room.take(bytes(static_cast<std::size_t>(x.place.slot)));
    std::vector<int> gone;
    for (const Operand& x : steps[i].operands)
      if (temporary(x) && last[static_cast<std::size_t>(x.place.slot)] == i) gone.push_back(x.place.slot);
    std::sort(gone.begin(), gone.end());
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    for (int slot : gone)
      if (std::count(taken.begin(), taken.end(), slot) == 0)
        room.give(offsets[static_cast<std::size_t>(slot)], bytes(static_cast<std::size_t>(slot)));
  }
  return static_cast<std::size_t>(room.end());
}

}  // namespace program::detail
NAX_END
