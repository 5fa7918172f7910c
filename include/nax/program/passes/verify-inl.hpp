#pragma once

#include <algorithm>
#include <cstdlib>

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/verify.hpp"
#include "nax/program/record/work_check.hpp"
#include "nax/program/replay/map_formula.hpp"
#include "nax/program/replay/program.hpp"

NAX_BEGIN
namespace program::detail {

NAX_ENGINE bool verifies_programs() {
  static const bool on = [] {
    const char* const text = std::getenv("NAX_VERIFY_PROGRAMS");
    return text && std::strcmp(text, "1") == 0;
  }();
  return on;
}

class Verifier {
 public:
  Verifier(const std::vector<Slot>& slots, const char* stage) : slots_(slots), stage_(stage) {}

  void run(const std::vector<Step>& steps, const std::vector<Argument>& arguments,
           const std::vector<int>& results, const std::vector<Output>& outputs, const MemoryPlan* plan) {
    lay_out(arguments, plan);
    for (step_ = 0; step_ < steps.size(); ++step_) {
      name_ = steps[step_].name;
      for (const Operand& x : steps[step_].operands)
        if (x.place.slot >= 0) check_bounds(x.written ? "writes" : "reads", x.place.slot, region_of(x));
      for (const Operand& x : steps[step_].operands)
        if (x.place.slot >= 0 && !x.written) check_read("reads", x.place.slot, region_of(x));
      check_overlaps(steps[step_]);
      check_work(steps[step_]);
      for (const Operand& x : steps[step_].operands)
        if (x.written) write(x);
    }
    name_ = "the end";
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == Place::constant) continue;
      const Output& out = outputs[i];
      check_read("returns", results[i],
                 Region(out.offset * static_cast<std::int64_t>(dtype_size(out.dtype)), out.layout.shape,
                        out.layout.strides, out.dtype));
    }
  }

 private:
  // Where the bytes of a slot lie in the simulated memory.
  struct Block {
    std::int64_t at = -1;  // none: it is not simulated
    bool complete = false;
  };
  static constexpr std::size_t most_bytes = std::size_t{1} << 28;

  const Slot& slot(int s) const { return slots_[static_cast<std::size_t>(s)]; }

  void lay_out(const std::vector<Argument>& arguments, const MemoryPlan* plan) {
    blocks_.resize(slots_.size());
    std::size_t bytes = plan ? plan->bytes : 0;
    const auto take = [&](std::size_t s) {
      blocks_[s].at = static_cast<std::int64_t>(bytes);
      bytes += slots_[s].bytes;
    };
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      switch (slots_[s].kind) {
        case Slot::Kind::argument:
          take(s);
          break;
        case Slot::Kind::constant:
          blocks_[s].complete = true;
          break;
        case Slot::Kind::temporary:
          if (!plan)
            take(s);
          else if (plan->offsets[s] >= 0)
            blocks_[s].at = plan->offsets[s];
          break;
        case Slot::Kind::result:
          if (!plan || plan->donations[static_cast<std::size_t>(slots_[s].number)] < 0) take(s);
          break;
      }
    }
    for (std::size_t s = 0; s < slots_.size() && plan; ++s) {
      if (slots_[s].kind != Slot::Kind::result) continue;
      const int donated = plan->donations[static_cast<std::size_t>(slots_[s].number)];
      if (donated >= 0)
        blocks_[s].at =
            blocks_[static_cast<std::size_t>(arguments[static_cast<std::size_t>(donated)].slot)].at;
    }
    simulated_ = bytes <= most_bytes;
    if (!simulated_) return;
    owners_.assign(bytes, -1);
    for (std::size_t s = 0; s < slots_.size(); ++s)
      if (slots_[s].kind == Slot::Kind::argument)
        std::fill_n(owners_.begin() + blocks_[s].at, slots_[s].bytes, static_cast<int>(s));
  }

  void check_bounds(const char* verb, int s, const Region& r) const {
    if (!r.empty() && (r.begin() < 0 || r.end() > static_cast<std::int64_t>(slot(s).bytes)))
      fail(verb, s, r, "outside of its " + std::to_string(slot(s).bytes) + " bytes");
  }
  void check_read(const char* verb, int s, const Region& r) const {
    check_bounds(verb, s, r);
    const Block& block = blocks_[static_cast<std::size_t>(s)];
    if (r.empty() || block.complete || !simulated_) return;
    if (block.at < 0) fail(verb, s, r, "which has no memory");
    r.for_each_run([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        if (const int owner = owners_[static_cast<std::size_t>(block.at + b)]; owner != s)
          fail(verb, s, r,
               "of which byte " + std::to_string(b) +
                   (owner < 0 ? " was not written" : " was overwritten by slot " + std::to_string(owner)));
      return true;
    });
  }
  void write(const Operand& x) {
    const int s = x.place.slot;
    const Region r = region_of(x);
    if (s < 0) fail("writes", s, r, "which is the host's");
    const Block& block = blocks_[static_cast<std::size_t>(s)];
    if (r.empty()) return;
    if (slot(s).kind == Slot::Kind::constant) fail("writes", s, r, "which is a constant");
    if (!simulated_) return;
    // Which elements indices choose is not known. Several such steps may write all of an array: it counts as
    // written by each, but sums have terms.
    if (x.indexed && name_ == "scatter_add") check_read("adds by index to", s, r);
    if (block.at < 0) fail("writes", s, r, "which has no memory");
    r.for_each_run([&](std::int64_t begin, std::int64_t end) {
      std::fill(owners_.begin() + block.at + begin, owners_.begin() + block.at + end, s);
      return true;
    });
  }
  // An operand that is read and one that is written share bytes only where they are one, element by element.
  void check_overlaps(const Step& step) {
    if (!simulated_) return;
    for (const Operand& to : step.operands)
      for (const Operand& from : step.operands) {
        if (!to.written || from.written || from.place.slot < 0 || to.place.slot < 0) continue;
        const Block &a = blocks_[static_cast<std::size_t>(from.place.slot)],
                    &b = blocks_[static_cast<std::size_t>(to.place.slot)];
        if (a.at < 0 || b.at < 0) continue;
        if (from.place.slot == to.place.slot
                ? from.place == to.place && from.strides == to.strides && from.dtype == to.dtype
                : step.reads_first || overlays(step, from, to) || is_copy_of_layout(step, from, to))
          continue;
        const Region r = region_of(from), w = region_of(to);
        if (r.empty() || w.empty() || a.at + r.end() <= b.at + w.begin() ||
            b.at + w.end() <= a.at + r.begin())
          continue;
        w.for_each_run([&](std::int64_t w_begin, std::int64_t w_end) {
          r.for_each_run([&](std::int64_t begin, std::int64_t end) {
            if (a.at + begin < b.at + w_end && b.at + w_begin < a.at + end)
              fail("reads", from.place.slot, r,
                   "which it writes as slot " + std::to_string(to.place.slot) + " by another way");
            return true;
          });
          return true;
        });
      }
  }

  void check_work(const Step& step) const {
    if (step.formula)
      if (const std::string problem = problem_of_formula(step); !problem.empty()) fail(problem);
    if (!step.work) return;
    WorkCheck check(step.operands);
    step.work->verify(check);
    if (!check.problem().empty()) fail(check.problem());
  }

  [[noreturn]] void fail(const char* verb, int s, const Region& r, const std::string& why) const {
    fail(std::string(verb) + " bytes " + std::to_string(r.begin()) + " to " + std::to_string(r.end()) +
         " of slot " + std::to_string(s) + ", " + why);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(std::string("jit: a program is wrong after ") + stage_ + ": step " + std::to_string(step_) +
                " (" + name_ + ") " + what);
  }

  const std::vector<Slot>& slots_;
  const char* stage_;
  std::vector<Block> blocks_;  // by slot
  std::vector<int> owners_;    // by byte, the slot that wrote it last, or -1
  bool simulated_ = true;
  std::size_t step_ = 0;
  std::string name_;
};

NAX_ENGINE void verify(const std::vector<Slot>& slots, const std::vector<Step>& steps,
                       const std::vector<Argument>& arguments, const std::vector<int>& results,
                       const std::vector<Output>& outputs, const char* stage, const MemoryPlan* plan) {
  Verifier(slots, stage).run(steps, arguments, results, outputs, plan);
}

}  // namespace program::detail
NAX_END
