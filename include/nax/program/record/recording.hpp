#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/core/graph_recording.hpp"
#include "nax/loops/operand.hpp"
#include "nax/loops/reduce_kind.hpp"

// A program: the flat list of what a function computes, step after step.
//
// While jit records, the function's arguments lie on a device of their own, `program`. It has no memory: an
// address there is a number, which says in which slot an operand lies, and where. Nothing can be read behind
// the recorder's back, since there is nothing to read. Each slot is one array's memory, and each result gets
// a new one: no recorded array is written over.
NAX_BEGIN
namespace detail {
struct FormulaPart;
}
namespace ops {
struct Matmul;
}
namespace program {

inline constexpr Device device{Platform::program, 0, 0};

// Thrown by a step whose operands are not what the program was made for: the function is to be called itself.
struct Unforeseen {};

struct Place {
  static constexpr int constant = -1;
  int slot = constant;
  std::int64_t offset = 0;  // in bytes; of a constant its address
  bool operator==(const Place&) const = default;
};

struct Operand {
  Place place;
  bool written = false;
  DType dtype{};
  Dims shape, strides;  // strides in elements
  bool across = false;  // is it read after elements of the results are written?
  // The first axes along which indices choose. Those that follow are the step's own loop.
  int indexed = 0;
};

// Bytes for constants, at a multiple of 64, from the allocator of arrays.
NAX_ENGINE std::shared_ptr<char[]> allocate_bytes(std::size_t bytes);

class Program;
class WorkCheck;  // in work_check.hpp

// An expression that a step computes element by element, with its numbers, and how it is reduced then.
struct StepExpression {
  const nax::detail::FormulaPart* parts = nullptr;
  const void* numbers = nullptr;
  std::optional<loops::ReduceKind> reduced = std::nullopt;
};

// The work of a step: `at` has the addresses of its operands, in their order.
struct Work {
  virtual ~Work() = default;
  virtual void run(void* const* at) const = 0;
  // The programs that it runs, of a loop or a branch, and the sum of something over all that it runs.
  virtual std::vector<const Program*> programs() const { return {}; }
  virtual double total(double (Program::*)() const) const { return 0; }
  // The expression that it computes of operands with these names; empty where it computes none.
  virtual std::string text(const std::vector<std::string>&) const { return {}; }
  // That expression, whose arrays are the step's first operands; no parts where it computes none.
  virtual StepExpression expression() const { return {}; }
  // Work that does this and has read all operands before it writes one; null where there is none.
  virtual std::shared_ptr<const Work> reading_first() const { return nullptr; }
  // Tells the check what it touches of its operands. Works that tell nothing are not checked.
  virtual void verify(WorkCheck&) const {}
};

struct MapFormula;  // in map_formula.hpp

struct Step {
  std::string name;
  std::vector<Operand> operands;
  std::shared_ptr<const Work> work;
  std::string attributes;    // steps with equal names, attributes and operands compute the same
  bool comparable = false;   // does that hold?
  bool checks = false;       // is it there for its operands' sake, and writes nothing?
  bool unforeseen = false;   // may it throw Unforeseen?
  bool in_place = false;     // may its result lie where an operand of the same layout lies?
  bool reads_first = false;  // may its results lie where any operands lie?
  double flops = 0;          // of its own, without those of programs that it runs
  bool deferred = false;     // is the work's own program made when the recording ends?
  std::shared_ptr<const MapFormula> formula;   // of a map that can be fused with others
  std::shared_ptr<const ops::Matmul> product;  // of a product of matrices
  bool adds = false;                           // is its last operand the sum of the two others?
};

// The name of steps that copy their first operand into the second, and read the others to be behind them.
inline constexpr const char* barrier = "barrier";

struct Slot {
  enum class Kind : unsigned char { temporary, argument, result, constant };
  std::size_t bytes = 0;
  Kind kind = Kind::temporary;
  int number = 0;              // of an argument or a result
  const void* data = nullptr;  // of a constant
};

struct Argument {
  int slot;
  DType dtype;
  Dims shape;
  bool donated = false;  // may results be written over it?
};

// An operand as operations see it.
struct Given {
  const void* address;
  bool written;
  DType dtype;
  const Dims& shape;
  const Dims& strides;
};

// Bytes that tell steps apart.
class Attributes {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Attributes& operator<<(const T& x) {
    text_.append(reinterpret_cast<const char*>(&x), sizeof x);
    return *this;
  }
  Attributes& operator<<(const Dims& dims) {
    *this << dims.size();
    for (std::int64_t d : dims) *this << d;
    return *this;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

// The content of a recording.
struct Recorded {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<Argument> arguments;
  std::vector<nax::detail::BufferRef> kept;
  std::vector<std::shared_ptr<const char[]>> constants;
};

// A body whose recording has ended, and the bodies over the same turns: one, and those of its derivatives
// (see ended_body.hpp).
class Recorder;
class RecordedBody {
 public:
  virtual ~RecordedBody() = default;
  // The place, for a body over the same turns, of an address in this one: a constant, a place of the outer
  // recording's, or a row. False for other addresses.
  virtual bool place(Recorder& other, const void* address, Place& to) = 0;
  // Makes the body's program: no value of the body can be used any more.
  virtual void complete() = 0;
};
class EndedBody;
using BodyFamily = std::vector<RecordedBody*>;

// Records within another recorder, its parent, know the parent's slots: one that is used becomes an argument.
// So does a slot of a body over the same turns: rows that its loop keeps.
class Recorder : public Recorded {
 public:
  NAX_ENGINE explicit Recorder(Recorder* parent = nullptr);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The recorder of this thread. Throws DeviceError where there is none: an array outlived its recording.
  NAX_ENGINE static Recorder& current();

  NAX_ENGINE void* allocate(std::size_t bytes);
  NAX_ENGINE Place place(const void* address);
  // The address of a slot, for operations that are recorded.
  char* address(int slot) const { return reinterpret_cast<char*>(begins_[static_cast<std::size_t>(slot)]); }
  NAX_ENGINE void add(std::string name, std::initializer_list<Given> operands,
                      std::shared_ptr<const Work> work, std::string attributes = {});
  NAX_ENGINE void add(Step step);
  // The slot's content, the same in every call.
  NAX_ENGINE void fill(void* to, const void* from, std::size_t bytes);
  // Holds a buffer whose address has been asked for, while the program lives.
  NAX_ENGINE void keep(nax::detail::Buffer& buffer);

  bool unrolls = false;  // are loops recorded turn by turn?
  bool composes =
      false;  // are functions that are one operation here recorded as the operations they stand for?
  // Whether the address is one of its own slots'.
  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= base_ && at < next_;
  }

  // Steps that are recorded until the end compute anew: they read each array from before through a barrier,
  // which waits for `after`. So no pass joins them with those that computed it the first time.
  NAX_ENGINE void begin_anew(const std::vector<ArrayBase>& after);
  void end_anew() { anew_.pop_back(); }

  struct Capture {
    int slot, from;  // here and in the parent
  };
  struct Row {
    int slot;
    EndedBody* body;
    int from;  // there
  };
  std::vector<Capture> captures;
  std::vector<Row> rows;
  std::vector<std::shared_ptr<RecordedBody>> bodies;  // of steps here
  std::shared_ptr<const BodyFamily> family;           // of the body that this is
  Recorder* const parent;

 private:
  // A part that computes anew.
  struct Anew {
    int first;  // slot
    std::vector<Operand> after;
    std::vector<std::pair<int, int>> barriers;  // slots before and behind
  };
  Operand whole(int slot, bool written) const;
  int behind_barrier(int slot);
  void read_behind_barriers(Step& step);

  std::uintptr_t base_, next_;
  std::vector<Anew> anew_;
  std::vector<std::uintptr_t> begins_;  // of slots
  std::unordered_set<const void*> known_;
};

namespace detail {
template <class F>
struct Closure final : Work {
  explicit Closure(F f) : f_(std::move(f)) {}
  void run(void* const* at) const override { f_(at); }
  F f_;
};
}  // namespace detail

// Appends a step: run(addresses of the operands).
template <class F>
void record(const char* name, std::initializer_list<Given> operands, F run, Attributes attributes) {
  attributes << char(1);
  Recorder::current().add(name, operands, std::make_shared<const detail::Closure<F>>(std::move(run)),
                          std::move(attributes).text());
}
// The operand with an address of a replay.
inline loops::Operand at(loops::Operand x, void* address) {
  x.data = static_cast<char*>(address);
  return x;
}

// Is this thread recording a program?
inline bool is_recording() {
  return nax::detail::graph_recording && nax::detail::on_program(nax::detail::graph_recording->device);
}

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/record/recording-inl.hpp"
#endif
