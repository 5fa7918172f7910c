#pragma once

#include <cstdint>
#include <utility>

#include "nax/core/compute_on.hpp"
#include "nax/tape/slots.hpp"
#include "nax/tape/tape.hpp"

// Both sweeps are loops over a range of the tape; neither recurses. Values that travel along (cotangents,
// tangents) sit in slots.
NAX_BEGIN
namespace detail {

// Set in threads whose gradients other devices will want while the sweep goes on.
inline thread_local constinit bool gradients_meet = false;

// Reverse mode. The nodes from `mark` on receive cotangents; what lies before belongs to other transforms.
class Reverse {
 public:
  // `consume`: the sweep is the only one, so that nodes may go as it passes.
  Reverse(Tape& tape, std::size_t mark, bool consume)
      : tape_(tape), mark_(mark), consume_(consume), slots_(mark) {}

  bool wants(std::uint64_t serial) const { return place(serial) != Tape::npos; }
  // The node that takes the cotangents of the array with this serial; npos if no node takes them.
  std::size_t place(std::uint64_t serial) const {
    const std::size_t i = serial ? tape_.find(serial) : Tape::npos;
    return i >= mark_ ? i : Tape::npos;
  }
  // The sum of cotangents that has reached that node so far, or null.
  ArrayBase* at(std::size_t i) { return slots_.find(i); }
  // That sum, to add to it in place; null, too, where a moment is noted of it.
  ArrayBase* sum_at(std::size_t i) { return i < noted_below_ ? nullptr : slots_.find(i); }
  // Adds a cotangent to that of the array with this serial; ignored if no node takes it.
  void add(std::uint64_t serial, ArrayBase&& cotangent) {
    const std::size_t i = place(serial);
    if (i != Tape::npos) add_at(i, std::move(cotangent));
  }
  void add_at(std::size_t i, ArrayBase&& cotangent) {
    put_into_program(cotangent);
    if (i >= top_) top_ = i + 1;
    if (ArrayBase* present = slots_.find(i))
      tape_[i].add(*present, cotangent);
    else
      slots_.put(i, std::move(cotangent));
    if (i < noted_below_) [[unlikely]]
      note_moment(*slots_.find(i));
  }
  // The first cotangent of a sweep, if it is a number, of a result on this device; ignored if no node takes
  // it.
  void begin_with(std::uint64_t serial, Number cotangent, Device device) {
    slots_.device = device;
    const std::size_t i = place(serial);
    if (i == Tape::npos) return;
    top_ = i + 1;
    slots_.put_number(i, cotangent);
  }
  // The number that has reached that node, `present` if one has; null where an array has that is more
  // than a number. Only a node that is being swept asks, for its inputs.
  void* number_for(std::size_t i, DType dtype, bool& present) { return slots_.number_for(i, dtype, present); }
  void add_number_at(std::size_t i, Number cotangent) {
    bool present = false;
    if (void* const sum = number_for(i, cotangent.dtype, present))
      cotangent.give(sum, present);
    else
      add_at(i, cotangent.array(device()));
  }
  // The gradients of nodes below `end`, the inputs of a transform, are noted with the moment of the stream at
  // which they were complete, where other devices will want them (gradients_meet).
  void note_gradients(std::size_t end) {
    if (gradients_meet) [[unlikely]]
      noted_below_ = end;
  }
  // Makes the sweep visit a node that takes no cotangent itself.
  void visit(std::size_t i) {
    if (i >= top_) top_ = i + 1;
    if (!slots_.holds(i)) slots_.put(i, ArrayBase());
  }

  // Sweeps from the youngest node with a cotangent down to `stop`, which keeps its own.
  void run(std::size_t stop);
  // Sweeps nodes that were appended meanwhile, from within a node's pull.
  void run_nested(std::size_t stop) {
    const std::size_t resume = current_;
    run(stop);
    top_ = current_ = resume;
  }
  // The cotangent of an input, or null when nothing reached it.
  ArrayBase* find(std::uint64_t serial) {
    const std::size_t i = tape_.find(serial);
    return i == Tape::npos || i < mark_ ? nullptr : slots_.find(i);
  }

  // Where numbers become arrays.
  Device device() const { return slots_.device; }
  // Where the node's cotangent is to be put that is one number everywhere.
  Device device_of_constant(std::size_t i) {
    return tape_[i].takes_constants() && !slots_.holds(i) ? Device{} : device();
  }

  Tape& tape() { return tape_; }
  std::size_t mark() const { return mark_; }
  bool consumes() const { return consume_; }

 private:
  Tape& tape_;
  std::size_t mark_;
  std::size_t top_ = 0;  // nodes from here on hold no cotangent
  std::size_t current_ = 0, noted_below_ = 0;
  bool consume_;
  Slots slots_;
};

inline void Node::pull_number(Number cotangent, Reverse& sweep) {
  pull(cotangent.array(sweep.device()), sweep);
}

struct NoTangent : TypeError {
  NoTangent()
      : TypeError("custom_vjp: the function has no forward-mode derivative; define custom_jvp instead") {}
};

// Forward mode: tangents flow from the inputs, which were seeded, to the tape's end.
class Forward {
 public:
  Forward(Tape& tape, std::size_t mark) : tape_(tape), mark_(mark), slots_(mark) {}

  // The tangent of the array with this serial, or null where it is zero.
  const ArrayBase* find(std::uint64_t serial) {
    if (serial == 0) return nullptr;
    const std::size_t i = tape_.find(serial);
    if (i == Tape::npos || i < mark_) return nullptr;
    const ArrayBase* tangent = slots_.find(i);
    if (tangent && !ArrayAccess::buffer(*tangent)) throw NoTangent();
    return tangent;
  }
  // Marks a node without forward derivative; reading its tangent throws.
  void refuse(std::size_t node) { slots_.put(node, ArrayBase()); }
  void put(std::size_t node, ArrayBase tangent) {
    put_into_program(tangent);
    slots_.put(node, std::move(tangent));
  }
  // Drops the tangents of nodes that are about to be popped.
  void forget(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (slots_.holds(i)) slots_.take(i);
  }

  void run(std::size_t begin, std::size_t end);
  // The node that is pushed lets the sweep go on at another.
  void skip_to(std::size_t node) { next_ = node; }
  Tape& tape() { return tape_; }
  std::size_t mark() const { return mark_; }

 private:
  Tape& tape_;
  std::size_t mark_, next_ = 0;
  Slots slots_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void Reverse::run(std::size_t stop) {
  while (top_ > stop) {
    const std::size_t i = --top_;
    current_ = i;
    if (slots_.holds_number(i)) {
      tape_[i].pull_number(slots_.take_number(i), *this);
    } else if (slots_.holds(i)) {
      const ArrayBase cotangent = slots_.take(i);
      const ComputeOn beside(cotangent);
      tape_[i].pull(cotangent, *this);
    }
    if (consume_) tape_.destroy(i);
  }
}

NAX_ENGINE void Forward::run(std::size_t begin, std::size_t end) {
  const std::size_t before = next_;  // of the sweep that this one is part of
  for (std::size_t i = begin; i < end; i = next_) {
    next_ = i + 1;
    try {
      tape_[i].push(*this, i);
    } catch (const NoTangent&) {
      refuse(i);  // it depends on one that has none
    }
  }
  next_ = before;
}

}  // namespace detail
NAX_END
#endif
