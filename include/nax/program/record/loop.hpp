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
NAX_BEGIN
namespace program {

// A body's recording, or a part of it, as a program.
struct Part {
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
  NAX_ENGINE BodyRecording();
  BodyRecording(const BodyRecording&) = delete;
  BodyRecording& operator=(const BodyRecording&) = delete;

  NAX_ENGINE ArrayBase argument(DType dtype, const Frame& frame);
  // The slot of an argument.
  int slot_of(const ArrayBase& argument) { return recorder().place(nax::detail::device_data(argument)).slot; }
  // A slot of its own for an array over a frame, row-major: the array's, or a copy.
  NAX_ENGINE int result(const ArrayBase& a, const Frame& frame);
  // Steps from now on belong to part 1.
  void begin_derivative() {
    recorder().part = 1;
    first_slot_ = recorder().slots.size();
  }
  // Ends the recording: the outer one goes on.
  NAX_ENGINE void end(Turns turns);

  // After the end. Slots that part 0 writes and part 1 uses.
  NAX_ENGINE std::vector<int> shared() const;
  // Does this part use the slot?
  NAX_ENGINE bool uses(int part, int slot) const;
  std::size_t bytes(int slot) const { return content_.slots[static_cast<std::size_t>(slot)].bytes; }
  // Products of the first part of a row of xs, whose slots these are, and an array from outside. Their steps
  // go; their results are arguments from now on.
  NAX_ENGINE std::vector<TurnProduct> take_products_of_rows(const std::vector<int>& rows, std::int64_t turns);
  // The product that the derivative adds to `before`, giving `after`, if it does nothing else with them. Its
  // operands are other ones in each turn: those of `rows`, or made by the derivative. Its steps go.
  NAX_ENGINE std::optional<TurnProduct> take_sum(int before, int after, const std::vector<int>& rows);
  // The slot in the outer recording of one that is the same in each turn, or -1.
  int outer_slot(int slot) const {
    for (const Recorder::Capture& c : captures_)
      if (c.slot == slot) return c.from;
    return -1;
  }
  // The steps of a part as a program from these slots to those.
  NAX_ENGINE Part part(int number, const std::vector<int>& arguments, const std::vector<int>& results) const;

 private:
  Recorder& recorder() { return recording_->recorder(); }
  void hoist();
  // The one step of this part that writes the slot, or reads it; none if there are more.
  NAX_ENGINE Step* only(int part, int slot, bool written);
  NAX_ENGINE bool is_read(int slot) const;
  NAX_ENGINE bool is_known(int slot) const;  // of arguments and results
  NAX_ENGINE void erase(const Step* first, const Step* second = nullptr);

  Recorder& outer_;
  std::unique_ptr<Recording> recording_;
  Recorded content_;
  std::vector<Recorder::Capture> captures_;
  std::vector<std::pair<int, std::pair<DType, Dims>>> known_;  // arguments and results: dtypes, shapes
  std::size_t first_slot_ = 0;                                 // of the part that is recorded
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
  std::vector<const Program*> programs() const override { return {condition.get(), body.get()}; }
  // Of one turn: how many there will be is not known.
  double total(double (Program::*of)() const) const override { return (*condition.*of)() + (*body.*of)(); }
};

// The program of a number, or the nearest.
struct BranchWork final : Work {
  std::vector<std::shared_ptr<const Program>> branches;
  std::vector<std::vector<int>> captured;  // operands of each
  int index = 0;                           // an operand: int64
  std::vector<int> results;
  NAX_ENGINE_VIRTUAL void run(void* const* at) const override;
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
  NAX_ENGINE int write_bytes(std::size_t bytes);  // memory of the step alone, or of others that read it later
  NAX_ENGINE void add_step(const char* name, std::shared_ptr<const Work> work, bool unforeseen);
  int slot(int operand) const { return list_[static_cast<std::size_t>(operand)].place.slot; }

 private:
  std::vector<Operand> list_;
};

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/record/loop-inl.hpp"
#include "nax/program/record/turn_products-inl.hpp"
#endif
