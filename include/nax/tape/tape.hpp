#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/core/per_thread.hpp"
#include "nax/tape/number.hpp"

// The tape: nodes in the order of their making, in an arena that only grows and pops.
//
// A thread has at most one tape that records. The outermost transform opens it, the transforms within append
// to it, and when the outermost ends the tape is cleared, or, where a pullback still needs it, handed over. A
// node's serial is a number that never repeats; `find` turns it into an index. Serials run parallel to
// indices within a segment; a new segment begins where serials went elsewhere: nodes were popped, or another
// tape recorded. An array whose serial the tape does not find is a constant.
//
// One tape serves all transforms of a nest, so it notes for each node which of those at work depend on it
// through their inputs: its watchers, one bit a transform, the outermost's first. A function with a custom
// rule is that rule for its innermost watcher and ordinary operations for the others, as in JAX.
NAX_BEGIN
namespace detail {

class Reverse;
class Forward;
class Tape;

using Watchers = std::uint16_t;
inline constexpr std::size_t most_watchers = 16;  // deeper nests share the last bit
inline Watchers watcher_bit(std::size_t depth) {
  return static_cast<Watchers>(1u << std::min(depth, most_watchers - 1));
}

struct Node {
  virtual ~Node() = default;
  virtual void pull(const ArrayBase& cotangent, Reverse& sweep) = 0;  // gives its share to each input
  // Pulls a cotangent that is a number.
  inline virtual void pull_number(Number cotangent, Reverse& sweep);
  // Whether pull takes an array on the host, one number everywhere, for a result on a GPU.
  virtual bool takes_constants() const { return false; }
  virtual void push(Forward& sweep, std::size_t self) = 0;  // its tangent from those of its inputs
  virtual void add(ArrayBase& sum,
                   const ArrayBase& term) const = 0;      // sum += term, of values of this node's type
  virtual Watchers watchers(const Tape& tape) const = 0;  // those of its inputs
};

class Tape {
 public:
  static constexpr std::size_t npos = ~std::size_t{0};
  static constexpr int range_bits = 42;  // of a serial, that count within a range

  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  std::size_t size() const { return size_; }
  static std::uint64_t range_of(std::uint64_t serial) { return serial >> range_bits; }
  // No array on the tape has a lower serial.
  std::uint64_t first_serial() const {
    if (size_ == 0) return next_serial();
    return earlier_.empty() ? last_.serial : earlier_[0].serial;
  }
  Node& operator[](std::size_t i) { return *nodes_[i].node; }

  std::size_t find(std::uint64_t serial) const {
    if (serial < last_.serial) return find_earlier(serial);
    const std::uint64_t i = serial - last_.serial + last_.index;
    return i < size_ ? i : npos;
  }

  // Builds a node at the end; its serial.
  template <class N, class... A>
  std::uint64_t emplace(A&&... args) {
    return emplace_with<N>(0, std::forward<A>(args)...);
  }
  // Emplaces a node with room for `extra` bytes behind it.
  template <class N, class... A>
  std::uint64_t emplace_with(std::size_t extra, A&&... args) {
    if constexpr (std::is_nothrow_constructible_v<N, A...>) {
      if (size_ == capacity_) [[unlikely]]
        grow();
      return append(new (bump(sizeof(N) + extra)) N(std::forward<A>(args)...));
    } else {
      NewNode building(*this, sizeof(N) + extra);
      building.make<N>(std::forward<A>(args)...);
      return building.commit();
    }
  }

  // Ends the life of a node that no sweep will visit any more; its serial stays known.
  void destroy(std::size_t i) noexcept {
    nodes_[i].alive = false;
    nodes_[i].node->~Node();
  }
  // Destroys the nodes from `mark` on, youngest first.
  void pop(std::size_t mark) noexcept;

  // The transforms at work on this tape, by where each began; a watcher that is hidden does not count for the
  // moment.
  struct Scopes {
    std::vector<std::size_t> marks;
    Watchers hidden = 0;
  };
  Scopes scopes;
  std::atomic<int> references{1};
  std::size_t derivative_bytes = 0;  // that nodes hold which were given their derivatives beforehand

  // Which of the transforms at work depend on the array with this serial. What an earlier transform of the
  // same depth left behind lies before the mark.
  Watchers watchers(std::uint64_t serial) const;
  Watchers innermost() const { return watcher_bit(scopes.marks.size() - 1); }

  // A node in the making at the tape's end, gone again unless it is committed. No other is begun meanwhile.
  class NewNode {
   public:
    NewNode(Tape& tape, std::size_t bytes) : tape_(tape), place_(tape.bump(bytes)) {}
    [[gnu::noinline]] ~NewNode() {
      if (committed_) return;
      if (node_) node_->~Node();
      tape_.free_ = place_;
    }
    NewNode(const NewNode&) = delete;
    NewNode& operator=(const NewNode&) = delete;

    template <class N, class... A>
    N& make(A&&... args) {
      static_assert(alignof(N) <= alignof(std::max_align_t));
      N* const node = new (place_) N(std::forward<A>(args)...);
      node_ = node;
      return *node;
    }
    // Puts the node on the tape; its serial.
    [[gnu::noinline]] std::uint64_t commit() {
      if (tape_.size_ == tape_.capacity_) tape_.grow();
      committed_ = true;
      return tape_.append(node_);
    }

   private:
    Tape& tape_;
    unsigned char* const place_;
    Node* node_ = nullptr;
    bool committed_ = false;
  };

 private:
  struct Entry {
    Node* node;  // where its room in the arena begins
    std::uint32_t chunk;
    bool alive;
    Watchers watchers;
  };
  static_assert(sizeof(Entry) == 16);
  struct Segment {
    std::uint64_t serial;
    std::size_t index;
  };
  static constexpr std::uint32_t chunk_bytes = 1 << 16;

  void grow();
  // Puts a node on the tape, for which there is room. Its serial.
  std::uint64_t append(Node* node) {
    const Watchers watchers = scopes.marks.size() > 1 ? watchers_of(*node) : watcher_bit(0);
    nodes_[size_] = {node, chunk_, true, watchers};
    return claim_serial(size_++);
  }

  [[gnu::noinline]] Watchers watchers_of(const Node& node) const { return node.watchers(*this); }

  // Serials are unique in the process: a range above, a count within it below. A thread draws a range of its
  // own, and a fresh one where its count lies before what the tape holds (the tape began on another thread).
  static std::uint64_t next_serial() {
    if (serial_counter == 0) serial_counter = draw_range();
    return serial_counter;
  }
  static std::uint64_t draw_range() {
    return (range_count.fetch_add(1, std::memory_order_relaxed) << range_bits) + 1;
  }

  std::uint64_t claim_serial(std::size_t index) {
    if (serial_counter != last_.serial + (index - last_.index)) [[unlikely]]
      leave_segment(index);
    return serial_counter++;
  }
  void leave_segment(std::size_t index);
  std::size_t find_earlier(std::uint64_t serial) const;

  unsigned char* bump(std::size_t bytes) {
    bytes = (bytes + 15) & ~std::size_t{15};
    if (static_cast<std::size_t>(chunk_end_ - free_) < bytes) [[unlikely]]
      begin_chunk(bytes);
    return std::exchange(free_, free_ + bytes);
  }

  void begin_chunk(std::size_t bytes);
  void use_chunk(std::uint32_t chunk);

  struct Chunk;

  Entry* nodes_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  std::vector<Chunk*> chunks_;
  std::uint32_t chunk_ = 0;  // the one in use
  unsigned char *free_ = nullptr, *chunk_end_ = nullptr;
  std::vector<Segment> earlier_;
  Segment last_;

  static inline std::atomic<std::uint64_t> range_count{1};
  static inline thread_local constinit std::uint64_t serial_counter = 0;
};

class TapeRef {
 public:
  TapeRef() = default;
  explicit TapeRef(Tape* owned) : tape_(owned) {}
  TapeRef(const TapeRef& other) noexcept : tape_(other.tape_) {
    if (tape_) tape_->references.fetch_add(1, std::memory_order_relaxed);
  }
  TapeRef(TapeRef&& other) noexcept : tape_(std::exchange(other.tape_, nullptr)) {}
  TapeRef& operator=(TapeRef other) noexcept {
    std::swap(tape_, other.tape_);
    return *this;
  }
  ~TapeRef() {
    if (tape_ && tape_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete tape_;
  }
  Tape* get() const { return tape_; }
  Tape* operator->() const { return tape_; }
  Tape& operator*() const { return *tape_; }
  explicit operator bool() const { return tape_ != nullptr; }
  bool unique() const { return tape_ && tape_->references.load(std::memory_order_acquire) == 1; }

 private:
  Tape* tape_ = nullptr;
};

// The tape on which this thread records, if any. A pmap worker also knows the tape of the thread that it
// works for, to tell a captured array of that tape (an error) from a constant. That thread waits meanwhile.
// If it goes on recording (a pipeline's), its tape is not read, and arrays recorded from `since` on count.
struct Recording {
  Tape* tape = nullptr;
  const Tape* caller = nullptr;
  std::uint64_t since = 0;  // 0: look on the caller's tape
};
inline thread_local constinit Recording recording{};

[[gnu::cold]] NAX_COMPILED_ONCE void check_captured(std::uint64_t serial) {
  if (recording.since != 0) {
    if (serial >= recording.since && Tape::range_of(serial) == Tape::range_of(recording.since))
      throw ValueError(
          "the function works in a thread of its own and uses an array that is being differentiated, which "
          "only the loop's thread records; give the stages from here to the loop no threads and no prefetch");
    return;
  }
  if (recording.caller->find(serial) != Tape::npos)
    throw ValueError(
        "pmap: the function uses an array from outside that is being differentiated there; pass it as an "
        "argument with in_axes none");
}

// Cheap test: false means certainly not recorded, so callers need not build a closure.
inline bool may_be_recorded(const ArrayBase& a) {
  return serial_of(a) != 0 && (recording.tape || recording.caller);
}

// True if the tape watches this array.
NAX_ENGINE bool is_recorded(const ArrayBase& a);

// Records on another tape, or on none, while it lives.
class RecordOn {
 public:
  explicit RecordOn(Tape* tape) : before_(recording.tape) { recording.tape = tape; }
  ~RecordOn() { recording.tape = before_; }
  RecordOn(const RecordOn&) = delete;
  RecordOn& operator=(const RecordOn&) = delete;

 private:
  Tape* before_;
};

// Works among other transforms of the tape than those at work now, while it lives.
class ScopesOf {
 public:
  ScopesOf(Tape& tape, Tape::Scopes scopes)
      : tape_(tape), before_(std::exchange(tape.scopes, std::move(scopes))) {}
  ~ScopesOf() { tape_.scopes = std::move(before_); }
  ScopesOf(const ScopesOf&) = delete;
  ScopesOf& operator=(const ScopesOf&) = delete;

 private:
  Tape& tape_;
  Tape::Scopes before_;
};

// A transform's stay on the tape: opens one when none records. Afterwards the nodes go, unless an outer
// transform or a pullback needs them.
class TapeScope {
 public:
  TapeScope();
  ~TapeScope() {
    tape_->scopes.marks.pop_back();
    if (!outermost_) return;
    recording.tape = nullptr;
    if (!tape_.unique()) return;
    tape_->pop(0);
    spare() = std::move(tape_);
  }
  TapeScope(const TapeScope&) = delete;
  TapeScope& operator=(const TapeScope&) = delete;

  bool outermost() const { return outermost_; }
  // True if no pullback holds the tape.
  bool sole_owner() const { return tape_.unique(); }
  std::size_t mark() const { return mark_; }
  const TapeRef& tape() const { return tape_; }

 private:
  static TapeRef& spare() { return per_thread<TapeRef, TapeScope>(); }
  TapeRef tape_;
  std::size_t mark_ = 0;
  bool outermost_;
};

}  // namespace detail
NAX_END

#include "nax/tape/sweep.hpp"  // the body of Node::pull_number

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/tape/tape-inl.hpp"
#endif
