#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nax/core/compute_on.hpp"
#include "nax/tape/tape.hpp"

// Both sweeps are loops over a range of the tape; neither recurses. Values that travel along (cotangents,
// tangents) sit in a pool of slots, found through one 32-bit number a node, since most nodes of a long tape
// hold none at any time.
namespace nax::detail {

class Slots {
 public:
  explicit Slots(std::size_t begin) : begin_(begin) {}

  ArrayBase* find(std::size_t node) {
    const std::size_t i = node - begin_;
    return i < slot_.size() && slot_[i] ? &pool_[slot_[i] - 1] : nullptr;
  }
  ArrayBase& put(std::size_t node, ArrayBase&& value) {
    const std::size_t i = node - begin_;
    if (i >= slot_.size()) slot_.resize(std::max(i + 1, 2 * slot_.size()), 0);
    if (free_.empty()) {
      pool_.push_back(std::move(value));
      slot_[i] = static_cast<std::uint32_t>(pool_.size());
    } else {
      slot_[i] = free_.back();
      free_.pop_back();
      pool_[slot_[i] - 1] = std::move(value);
    }
    return pool_[slot_[i] - 1];
  }
  ArrayBase take(std::size_t node) {
    const std::size_t i = node - begin_;
    ArrayBase value = std::move(pool_[slot_[i] - 1]);
    pool_[slot_[i] - 1] = ArrayBase();
    free_.push_back(slot_[i]);
    slot_[i] = 0;
    return value;
  }

 private:
  std::size_t begin_;
  std::vector<std::uint32_t> slot_;
  std::vector<ArrayBase> pool_;
  std::vector<std::uint32_t> free_;
};

// Reverse mode. The nodes from `mark` on receive cotangents; what lies before belongs to other transforms.
class Reverse {
 public:
  // `consume`: the sweep is the only one, so that saved values may go as it passes.
  Reverse(Tape& tape, std::size_t mark, bool consume)
      : tape_(tape), mark_(mark), consume_(consume), slots_(mark) {}

  bool wants(std::uint64_t serial) const { return place(serial) != Tape::npos; }
  // The node that takes the cotangents of the array with this serial; npos where nobody wants them.
  std::size_t place(std::uint64_t serial) const {
    const std::size_t i = serial ? tape_.find(serial) : Tape::npos;
    return i >= mark_ ? i : Tape::npos;
  }
  // What has reached that node so far, or null.
  ArrayBase* at(std::size_t i) { return slots_.find(i); }
  // Adds a cotangent to that of the array with this serial; one that nobody wants is ignored.
  void add(std::uint64_t serial, ArrayBase&& cotangent) {
    const std::size_t i = place(serial);
    if (i != Tape::npos) add_at(i, std::move(cotangent));
  }
  void add_at(std::size_t i, ArrayBase&& cotangent) {
    if (i >= top_) top_ = i + 1;
    if (ArrayBase* present = slots_.find(i))
      tape_[i].add(*present, cotangent);
    else
      slots_.put(i, std::move(cotangent));
  }
  // Makes the sweep visit a node that takes no cotangent itself.
  void visit(std::size_t i) {
    if (i >= top_) top_ = i + 1;
    if (!slots_.find(i)) slots_.put(i, ArrayBase());
  }

  // Sweeps from the youngest node with a cotangent down to `stop`, which keeps its own.
  void run(std::size_t stop) {
    while (top_ > stop) {
      const std::size_t i = --top_;
      current_ = i;
      if (slots_.find(i)) {
        const ArrayBase cotangent = slots_.take(i);
        const ComputeOn beside(cotangent);
        tape_[i].pull(cotangent, *this);
      }
      if (consume_) tape_[i].drop();
    }
  }
  // Sweeps nodes that were appended meanwhile, from within a node's pull.
  void run_nested(std::size_t stop) {
    const std::size_t resume = current_;
    run(stop);
    top_ = current_ = resume;
  }
  // The cotangent of an input, or null when nothing reached it.
  const ArrayBase* find(std::uint64_t serial) {
    const std::size_t i = tape_.find(serial);
    return i == Tape::npos || i < mark_ ? nullptr : slots_.find(i);
  }

  Tape& tape() { return tape_; }
  std::size_t mark() const { return mark_; }
  bool consumes() const { return consume_; }

 private:
  Tape& tape_;
  std::size_t mark_;
  std::size_t top_ = 0;  // nodes from here on hold no cotangent
  std::size_t current_ = 0;
  bool consume_;
  Slots slots_;
};

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
  // The node has no forward derivative: an error where somebody asks for it, not before.
  void refuse(std::size_t node) { slots_.put(node, ArrayBase()); }
  void put(std::size_t node, ArrayBase tangent) { slots_.put(node, std::move(tangent)); }
  // Drops the tangents of nodes that are about to be popped.
  void forget(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (slots_.find(i)) slots_.take(i);
  }

  void run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      try {
        tape_[i].push(*this, i);
      } catch (const NoTangent&) {
        refuse(i);  // it depends on one that has none
      }
    }
  }
  Tape& tape() { return tape_; }
  std::size_t mark() const { return mark_; }

 private:
  Tape& tape_;
  std::size_t mark_;
  Slots slots_;
};

}  // namespace nax::detail
