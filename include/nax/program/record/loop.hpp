#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "nax/ops/forms.hpp"
#include "nax/program/record/device.hpp"

// Loops and branches as steps: each runs programs of its own.
//
// A body is recorded once, within the recording of the function that it belongs to. Slots of the outer
// recording that it uses are captured: arguments of its program that are the same in each turn. Steps that
// depend on captured slots alone move out of a body that runs at least once.
//
// A loop's body stays known until the outer recording ends: a derivative's body, recorded later, may use any
// of its values. The loop then keeps these, turn by turn, and they are rows for the derivative's loop. So the
// programs of bodies are made at the end, when it is known what is kept.
NAX_BEGIN
namespace program {

// A body as a program.
struct Body {
  std::shared_ptr<const Program> program;
  std::vector<int> captured;  // slots of the outer recording: the program's last arguments
};

// A product of matrices that a body computed in each turn, and that is computed of all turns at once instead.
struct TurnProduct {
  ops::Matmul form;
  Place a, b;  // in the body's slots
  int result;
};

// How often a body runs.
enum class Turns : unsigned char { one_or_more, unknown };

class BodyRecording {
 public:
  NAX_ENGINE explicit BodyRecording(std::shared_ptr<const BodyFamily> family = nullptr);
  BodyRecording(const BodyRecording&) = delete;
  BodyRecording& operator=(const BodyRecording&) = delete;

  NAX_ENGINE ArrayBase argument(DType dtype, const Frame& frame);
  // The slot of an argument.
  int slot_of(const ArrayBase& argument) { return recorder().place(nax::detail::device_data(argument)).slot; }
  // A slot of its own for an array over a frame, row-major: the array's, or a copy.
  NAX_ENGINE int result(const ArrayBase& a, const Frame& frame);
  // Ends the recording: the outer one goes on.
  NAX_ENGINE void end(Turns turns);

  // After the end.
  Recorder& recorder() const { return *recorder_; }
  std::size_t bytes(int slot) const { return recorder_->slots[static_cast<std::size_t>(slot)].bytes; }
  // The place that holds the value now: copies of whole slots are read where they come from.
  Place resolved(Place place) const {
    const auto slot = static_cast<std::size_t>(place.slot);
    return {slot < renamed_.size() ? renamed_[slot] : place.slot, place.offset};
  }
  // Products of a row of xs, whose slots these are, and an array from outside. Their steps go; their results
  // are arguments from now on.
  NAX_ENGINE std::vector<TurnProduct> take_products_of_rows(const std::vector<int>& rows, std::int64_t turns);
  // The product that the body adds to `before`, giving `after`, if it does nothing else with them. Its
  // operands are other ones in each turn: those of `rows`, or made by the body. Its steps go.
  NAX_ENGINE std::optional<TurnProduct> take_sum(int before, int after, const std::vector<int>& rows);
  // The slot in the outer recording of one that is the same in each turn, or -1.
  int outer_slot(int slot) const {
    for (const Recorder::Capture& c : recorder_->captures)
      if (c.slot == slot) return c.from;
    return -1;
  }
  // Captured slots that are used or come out.
  NAX_ENGINE std::vector<Recorder::Capture> captured(const std::vector<int>& results) const;
  // The program from these slots to those.
  NAX_ENGINE std::shared_ptr<const Program> program(const std::vector<int>& arguments,
                                                    const std::vector<int>& results) const;
  // The program from these slots, and what is captured behind them, to those.
  NAX_ENGINE Body body(std::vector<int> arguments, const std::vector<int>& results) const;

 private:
  Recorder& outer() const { return *recorder_->parent; }
  void hoist();
  // The one step that writes the slot, or reads it; none if there are more.
  NAX_ENGINE Step* only(int slot, bool written);
  NAX_ENGINE bool is_read(int slot) const;
  NAX_ENGINE bool is_known(int slot) const;  // of arguments and results
  NAX_ENGINE void erase(const Step* first, const Step* second = nullptr);

  std::unique_ptr<Recording> recording_;
  std::shared_ptr<Recorder> recorder_;
  std::vector<int> renamed_;                                   // slots, by those that copies were read from
  std::vector<std::pair<int, std::pair<DType, Dims>>> known_;  // arguments and results: dtypes, shapes
};

// An operand whose address moves along with the turns of a loop: turn i reads or writes at offset + i * step,
// in bytes.
struct Moving {
  int operand;
  std::int64_t offset = 0, step = 0;
};
// A carry. Without a history, turns write into the result and `other` by turns; with one, `other` holds the
// values before each turn, in their order, and the last.
struct Carried {
  int initial, result, other;
  std::int64_t bytes, step = 0;  // of the history
};

// n turns of a program whose arguments are the carries and `in`, and whose results are the carries and `out`.
struct LoopWork final : Work {
  std::shared_ptr<const Program> body;
  std::int64_t turns = 0;
  bool reverse = false;
  std::vector<Carried> carries;
  std::vector<Moving> in, out;
  NAX_ENGINE_VIRTUAL void run(void* const* at) const override;
  NAX_ENGINE_VIRTUAL void verify(WorkCheck& check) const override;
  std::vector<const Program*> programs() const override { return {body.get()}; }
  double total(double (Program::*of)() const) const override {
    return static_cast<double>(turns) * (*body.*of)();
  }
};

// Turns of `body` while `condition` gives a true one among its answers.
struct WhileWork final : Work {
  std::size_t answers = 1;
  std::shared_ptr<const Program> condition, body;
  std::vector<Carried> carries;
  std::vector<int> condition_captured, body_captured;  // operands
  NAX_ENGINE_VIRTUAL void run(void* const* at) const override;
  NAX_ENGINE_VIRTUAL void verify(WorkCheck& check) const override;
  std::vector<const Program*> programs() const override { return {condition.get(), body.get()}; }
  // Of one turn: how many there will be is not known.
  double total(double (Program::*of)() const) const override { return (*condition.*of)() + (*body.*of)(); }
};

// The program of a number, or the nearest.
struct BranchWork final : Work {
  std::vector<std::shared_ptr<const Program>> branches;
  std::vector<std::vector<Moving>> captured;  // of each, its arguments
  std::vector<std::vector<int>> kept;         // of each, operands: what it gives besides the results
  int index = 0;                              // an operand: int64
  std::vector<int> results;
  NAX_ENGINE_VIRTUAL void run(void* const* at) const override;
  NAX_ENGINE_VIRTUAL void verify(WorkCheck& check) const override;
  std::vector<const Program*> programs() const override {
    std::vector<const Program*> all;
    for (const auto& branch : branches) all.push_back(branch.get());
    return all;
  }
  // Cost of the most expensive branch.
  double total(double (Program::*of)() const) const override {
    double most = 0;
    for (const auto& branch : branches) most = std::max(most, (*branch.*of)());
    return most;
  }
};

// The operands of a step that is being put together.
class Operands {
 public:
  NAX_ENGINE int read(const ArrayBase& a);
  NAX_ENGINE int read_slot(int slot);
  NAX_ENGINE int write(const ArrayBase& a);
  // Memory of the step alone, or of others that read it later; it may grow to the bytes that are reserved.
  NAX_ENGINE int write_bytes(std::size_t bytes, std::size_t reserved = 0);
  // The slot that the address lies in, or memory of so many bytes, and the offset there.
  NAX_ENGINE std::pair<int, std::int64_t> read_at(const char* address, std::size_t bytes);
  NAX_ENGINE Step& add_step(const char* name, std::shared_ptr<const Work> work, bool unforeseen);
  int slot(int operand) const { return list_[static_cast<std::size_t>(operand)].place.slot; }

 private:
  std::vector<Operand> list_;
};

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/record/loop-inl.hpp"
#include "nax/program/record/turn_products-inl.hpp"
#include "nax/program/record/verify_loops-inl.hpp"
#endif
