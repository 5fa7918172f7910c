#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>

#include "nax/formula/recorder.hpp"
#include "nax/program/fuse_maps.hpp"

// A group is a set of steps that will be one. Groups start as single steps, and those of maps are joined
// where one reads what another writes, or both read the same, as long as
//   - they walk the same elements: their shapes are equal, or one of them walks an unbroken run of that size;
//   - no third group must run between them;
//   - the joined formula stays within the limits below.
// Each slot that a map touches has one writer at most, so only reads order the steps.
NAX_BEGIN
namespace program::detail {

class MapFuser {
 public:
  MapFuser(const std::vector<Slot>& slots, std::vector<Step>& steps, const std::vector<int>& results)
      : slots_(slots), steps_(steps), comes_out_(slots.size(), false), slot_uses_(slots.size()) {
    for (const int slot : results)
      if (slot >= 0) comes_out_[static_cast<std::size_t>(slot)] = true;
    group_of_.resize(steps.size());
    std::iota(group_of_.begin(), group_of_.end(), 0);
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const Operand& x : steps[i].operands)
        if (x.place.slot >= 0) {
          SlotUses& uses = slot_uses_[static_cast<std::size_t>(x.place.slot)];
          (x.written ? uses.writers : uses.readers).push_back(static_cast<int>(i));
        }
    for (std::size_t i = 0; i < steps.size(); ++i) groups_.push_back(group_of_one(static_cast<int>(i)));
  }

  void run() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!groups_[i].is_map) continue;
      for (const bool producers : {true, false})
        for (const int other : neighbours(static_cast<int>(i), producers))
          try_join(root(other), root(static_cast<int>(i)));
    }
    emit_all();
  }

 private:
  // Weights of formulas. Measured: a loop of several functions is a longer chain of operations that wait for
  // one another, and slower than loops of one each where arrays are in the caches. Short loops have only
  // the chain.
  static constexpr std::size_t most_weight = 63, most_weight_of_short = 1024, function_weight = 32;
  static constexpr std::int64_t short_loop = 64;
  static constexpr std::size_t most_operands = 20;

  struct SlotUses {
    std::vector<int> writers, readers;
  };
  struct Group {
    bool is_map = false, is_flat = false;
    DType type{};
    Dims shape;                // without axes of extent 1
    std::vector<int> members;  // in order
    std::size_t weight = 0;
    int last = 0;
  };
  // An operand as the group walks it.
  struct Walked {
    Place place;
    Dims strides;
    bool operator==(const Walked&) const = default;
  };

  const SlotUses& uses(int slot) const { return slot_uses_[static_cast<std::size_t>(slot)]; }
  int root(int step) const { return group_of_[static_cast<std::size_t>(step)]; }
  Group& group(int g) { return groups_[static_cast<std::size_t>(g)]; }
  const Step& step(int i) const { return steps_[static_cast<std::size_t>(i)]; }
  static const Operand& operand(const Step& step, int o) {
    return step.operands[static_cast<std::size_t>(o)];
  }

  // ---- single steps

  static std::size_t weight_of(const formula::Formula& f) {
    std::size_t weight = 0;
    for (const formula::Step& s : f.steps) weight += formula::is_written(s.operation) ? function_weight : 1;
    return weight;
  }
  static Dims without_ones(const Dims& shape, const Dims& dims) {
    Dims kept;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] != 1) kept.push_back(dims[axis]);
    return kept;
  }
  static bool is_run(const Dims& strides, const Dims& shape) {
    std::int64_t next = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; next *= shape[axis])
      if (shape[axis] != 1 && strides[axis] != next) return false;
    return true;
  }
  static bool is_repeated(const Dims& strides, const Dims& shape) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] != 1 && strides[axis] != 0) return false;
    return true;
  }
  static Dims run_strides(const Dims& shape) {
    Dims strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
    return strides;
  }
  static std::int64_t size_of(const Dims& shape) {
    std::int64_t n = 1;
    for (const std::int64_t d : shape) n *= d;
    return n;
  }

  Group group_of_one(int i) const {
    Group g;
    g.members = {i};
    g.last = i;
    const Step& s = step(i);
    if (!s.formula || s.unforeseen || s.checks) return g;
    const MapFormula& map = *s.formula;
    const Dims& shape = operand(s, map.results[0]).shape;
    g.type = map.formula.type;
    g.weight = weight_of(map.formula);
    g.is_flat = true;
    for (const MapFormula::Input& input : map.inputs) {
      if (input.operand < 0) continue;
      const Operand& x = operand(s, input.operand);
      if (x.place.slot >= 0 && uses(x.place.slot).writers.size() > 1) return g;
      const bool flat = is_run(x.strides, shape) || is_repeated(x.strides, shape);
      const Dims strides = without_ones(shape, x.strides);
      // Lines of elements that lie apart are for kernels that turn tiles.
      if (!flat && !strides.empty() && strides[strides.size() - 1] > 1) return g;
      if (!flat && !strides.empty() && strides[strides.size() - 1] < 0) return g;
      g.is_flat = g.is_flat && flat;
    }
    for (const int result : map.results) {
      const Operand& x = operand(s, result);
      if (x.place.slot < 0 || x.place.offset != 0 || uses(x.place.slot).writers.size() != 1) return g;
      if (!is_run(x.strides, shape) || slots_[static_cast<std::size_t>(x.place.slot)].bytes <
                                           static_cast<std::size_t>(size_of(shape)) * dtype_size(x.dtype))
        return g;
    }
    g.shape = without_ones(shape, shape);
    g.is_map = size_of(shape) > 0;
    return g;
  }

  // ---- joining

  // Groups that write what step i reads, or read what it reads, the latest first.
  std::vector<int> neighbours(int i, bool producers) const {
    std::vector<int> found;
    const Step& s = step(i);
    const Dims& shape = operand(s, s.formula->results[0]).shape;
    for (const MapFormula::Input& input : s.formula->inputs) {
      if (input.operand < 0) continue;
      const Operand& x = operand(s, input.operand);
      if (x.place.slot < 0 || !is_run(x.strides, shape)) continue;
      for (const int other : producers ? uses(x.place.slot).writers : uses(x.place.slot).readers)
        if (other < i && step(other).formula && reads_or_writes_run(other, x)) found.push_back(other);
    }
    std::sort(found.rbegin(), found.rend());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() > 8) found.resize(8);
    return found;
  }
  bool reads_or_writes_run(int i, const Operand& x) const {
    for (const Operand& y : step(i).operands)
      if (y.place == x.place && y.dtype == x.dtype && is_run(y.strides, y.shape)) return true;
    return false;
  }

  void try_join(int a, int b) {
    if (a == b || !group(a).is_map || !group(b).is_map) return;
    Group &x = group(a), &y = group(b);
    if (x.type != y.type || size_of(x.shape) != size_of(y.shape)) return;
    if (x.shape != y.shape && !x.is_flat && !y.is_flat) return;
    if (x.weight + y.weight > (size_of(x.shape) <= short_loop ? most_weight_of_short : most_weight)) return;
    if (is_between(a, b) || is_between(b, a)) return;
    Group joined = x;
    joined.members.insert(joined.members.end(), y.members.begin(), y.members.end());
    std::sort(joined.members.begin(), joined.members.end());
    joined.weight += y.weight;
    joined.last = std::max(x.last, y.last);
    joined.is_flat = x.is_flat && y.is_flat;
    if (x.is_flat && !y.is_flat) joined.shape = y.shape;
    if (!fits(joined, a, b) || !reads_whole(joined, a, b)) return;
    for (const int member : y.members) group_of_[static_cast<std::size_t>(member)] = a;
    x = std::move(joined);
    y = Group();
  }
  // Whether members read the results of others element by element, and not by another way.
  bool reads_whole(const Group& joined, int a, int b) const {
    for (const int member : joined.members)
      for (const MapFormula::Input& input : step(member).formula->inputs) {
        if (input.operand < 0) continue;
        const Operand& x = operand(step(member), input.operand);
        if (x.place.slot < 0) continue;
        const std::vector<int>& writers = uses(x.place.slot).writers;
        if (writers.empty() || (root(writers[0]) != a && root(writers[0]) != b)) continue;
        if (x.place.offset != 0 || !is_run(x.strides, x.shape) || size_of(x.shape) != size_of(joined.shape))
          return false;
      }
    return true;
  }
  // Must some other group run after one of these and before the other?
  bool is_between(int first, int second) {
    std::vector<int> todo;
    std::vector<char>& seen = seen_;
    seen.assign(steps_.size(), 0);
    const int begin = group(first).members.front();
    bool found = false;
    const auto visit = [&](int g) {
      for (const int member : group(g).members)
        for (const Operand& x : step(member).operands) {
          if (x.place.slot < 0) continue;
          const auto see = [&](int other) {
            if (other >= member) return;
            const int h = root(other);
            if (h == second || h == g) return;
            if (h == first) {
              found = found || g != second;
              return;
            }
            if (seen[static_cast<std::size_t>(h)] || group(h).last < begin) return;
            seen[static_cast<std::size_t>(h)] = 1;
            todo.push_back(h);
          };
          for (const int other : uses(x.place.slot).writers) see(other);
          if (x.written)
            for (const int other : uses(x.place.slot).readers) see(other);
        }
    };
    visit(second);
    while (!found && !todo.empty()) {
      const int g = todo.back();
      todo.pop_back();
      visit(g);
    }
    return found;
  }
  bool is_needed_outside(int slot, int a, int b) const {
    if (comes_out_[static_cast<std::size_t>(slot)]) return true;
    for (const int reader : uses(slot).readers)
      if (root(reader) != a && root(reader) != b) return true;
    return false;
  }
  bool fits(const Group& joined, int a, int b) const {
    std::size_t written = 0;
    std::vector<Walked> read;
    for (const int member : joined.members) {
      const Step& s = step(member);
      for (const int result : s.formula->results)
        written += is_needed_outside(operand(s, result).place.slot, a, b);
      for (const MapFormula::Input& input : s.formula->inputs) {
        if (input.operand < 0) continue;
        const Operand& x = operand(s, input.operand);
        if (x.place.slot >= 0) {
          const std::vector<int>& writers = uses(x.place.slot).writers;
          if (!writers.empty() && (root(writers[0]) == a || root(writers[0]) == b)) continue;
        }
        Walked walked = walk(joined, x);
        if (std::find(read.begin(), read.end(), walked) == read.end()) read.push_back(std::move(walked));
      }
    }
    return written <= MapFormula::most_results && written + read.size() <= most_operands;
  }
  Walked walk(const Group& g, const Operand& x) const {
    Walked walked{x.place, {}};
    if (is_repeated(x.strides, x.shape) && size_of(x.shape) > 1)
      walked.strides = Dims(g.shape.size(), 0);
    else if (is_run(x.strides, x.shape))
      walked.strides = run_strides(g.shape);
    else
      walked.strides = without_ones(x.shape, x.strides);
    return walked;
  }

  // ---- the joined steps

  void emit_all() {
    std::vector<char> done(steps_.size(), 0);
    std::vector<Step> made;
    for (std::size_t i = 0; i < steps_.size(); ++i) emit(root(static_cast<int>(i)), done, made);
    steps_ = std::move(made);
  }
  // With the groups before it, without recursion: chains are long.
  void emit(int wanted, std::vector<char>& done, std::vector<Step>& made) {
    std::vector<int> todo = {wanted};
    while (!todo.empty()) {
      const int g = todo.back();
      if (done[static_cast<std::size_t>(g)]) {
        todo.pop_back();
        continue;
      }
      const std::size_t before = todo.size();
      for (const int member : group(g).members)
        for (const Operand& x : step(member).operands) {
          if (x.place.slot < 0) continue;
          const auto first = [&](int other) {
            if (other < member && root(other) != g && !done[static_cast<std::size_t>(root(other))])
              todo.push_back(root(other));
          };
          for (const int other : uses(x.place.slot).writers) first(other);
          if (x.written)
            for (const int other : uses(x.place.slot).readers) first(other);
        }
      if (todo.size() > before) continue;
      todo.pop_back();
      done[static_cast<std::size_t>(g)] = 1;
      if (group(g).members.size() > 1)
        made.push_back(joined_step(g));
      else
        made.push_back(step(group(g).members[0]));
    }
  }

  // The number in an operand that is one number, the same in every call.
  bool known_number(const Operand& x, DType type, double& number) const {
    if (!is_repeated(x.strides, x.shape)) return false;
    if (x.place.slot < 0) return false;  // the host's memory, which may change between calls
    const Slot& slot = slots_[static_cast<std::size_t>(x.place.slot)];
    if (slot.kind != Slot::Kind::constant) return false;
    const char* const data = static_cast<const char*>(slot.data) + x.place.offset;
    number = type == DType::float32 ? static_cast<double>(*reinterpret_cast<const float*>(data))
                                    : *reinterpret_cast<const double*>(data);
    return true;
  }

  // Writes the formulas of the members down as one.
  class Writer {
   public:
    Writer(const MapFuser& fuser, const Group& g) : fuser_(fuser), group_(g), recorder_(g.type) {}

    void add(const Step& s) {
      const MapFormula& map = *s.formula;
      std::vector<int> made(map.formula.steps.size());
      for (std::size_t i = 0; i < made.size(); ++i) {
        formula::Step one = map.formula.steps[i];
        if (one.operation == formula::Operation::input) {
          made[i] = input_of(s, map.inputs[one.detail]);
          continue;
        }
        for (int j = 0; j < one.arity; ++j) {
          int& at = one.operand[static_cast<std::size_t>(j)];
          at = made[static_cast<std::size_t>(at)];
        }
        made[i] = recorder_.record_step(one);
      }
      for (std::size_t k = 0; k < map.results.size(); ++k)
        written_.push_back(
            {operand(s, map.results[k]).place.slot, made[static_cast<std::size_t>(map.formula.results[k])]});
    }
    // The step, of those results that are needed.
    template <class Needed>
    Step finish(const Needed& needed) {
      Step s;
      auto map = std::make_shared<MapFormula>();
      std::vector<int> results;
      std::vector<Operand> targets;
      for (const auto& [slot, at] : written_) {
        if (!needed(slot)) continue;
        results.push_back(at);
        targets.push_back({{slot, 0}, true, group_.type, group_.shape, run_strides(group_.shape)});
      }
      map->formula = recorder_.finish(results);
      keep_what_is_read(*map, s);
      for (Operand& x : targets) {
        map->results.push_back(static_cast<int>(s.operands.size()));
        s.operands.push_back(std::move(x));
      }
      s.formula = std::move(map);
      return s;
    }

   private:
    int input_of(const Step& s, const MapFormula::Input& input) {
      if (input.operand < 0) {
        double number = 0;
        if (group_.type == DType::float32) {
          float narrow;
          std::memcpy(&narrow, &input.number, sizeof narrow);
          number = static_cast<double>(narrow);
        } else {
          std::memcpy(&number, &input.number, sizeof number);
        }
        return recorder_.constant(number);
      }
      const Operand& x = operand(s, input.operand);
      for (const auto& [slot, at] : written_)
        if (slot == x.place.slot) return at;
      if (double number; fuser_.known_number(x, group_.type, number)) return recorder_.constant(number);
      const Walked walked = fuser_.walk(group_, x);
      const auto found = std::find(read_.begin(), read_.end(), walked);
      const int number = static_cast<int>(found - read_.begin());
      if (found == read_.end()) read_.push_back(walked);
      return recorder_.input(number);
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
          s.operands.push_back({x.place, false, group_.type, group_.shape, x.strides});
        }
        one.detail = static_cast<std::uint64_t>(number);
      }
      map.formula.inputs = static_cast<int>(map.inputs.size());
    }

    const MapFuser& fuser_;
    const Group& group_;
    formula::Recorder recorder_;
    std::vector<Walked> read_;
    std::vector<std::pair<int, int>> written_;  // slots, and the recorder's steps
  };

  Step joined_step(int g) {
    Writer writer(*this, group(g));
    std::string names;
    for (const int member : group(g).members) {
      writer.add(step(member));
      names += (names.empty() ? "" : " ") + step(member).name;
    }
    Step s = writer.finish([&](int slot) { return is_needed_outside(slot, g, g); });
    s.name = "fused{" + names + "}";
    run_by_formula(s);
    return s;
  }

  const std::vector<Slot>& slots_;
  std::vector<Step>& steps_;
  std::vector<char> comes_out_;
  std::vector<SlotUses> slot_uses_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;
  std::vector<char> seen_;
};

NAX_ENGINE void fuse_maps(const std::vector<Slot>& slots, std::vector<Step>& steps,
                          const std::vector<int>& results) {
  MapFuser(slots, steps, results).run();
}

}  // namespace program::detail
NAX_END
