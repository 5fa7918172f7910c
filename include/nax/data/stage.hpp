#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/data/failure.hpp"

// The parts of datasets. A Stage describes a part of a pipeline and never changes; iterating opens a
// Cursor on it, which walks once and belongs to one thread at a time. A stage whose elements have numbers
// also gives an Access for an epoch: its elements by index, for any thread. Stages are known by their element
// type alone, so that a pipeline of ten of them is no type of ten levels.
//
// Element i of an epoch is the same whoever asks for it, so all order is order of indices: threads, caches
// and positions to resume at can do what they like.
NAX_BEGIN
namespace data::detail {

using namespace nax::detail;

struct Context {
  std::int64_t epoch = 0;
  std::shared_ptr<std::atomic<bool>> stopped;  // its iterator is gone: whoever works for it may stop

  bool is_stopped() const { return stopped && stopped->load(std::memory_order_relaxed); }
};

// Identifies a pipeline by a number: its stages, their options and keys, the files that it reads and the
// types of its elements. Caches are found by it, and a position belongs to the pipeline that it was taken
// from.
class Fingerprint {
 public:
  enum class Purpose : std::uint8_t { position, cache };
  explicit Fingerprint(Purpose purpose = Purpose::position) : purpose_(purpose) {}
  Purpose purpose() const { return purpose_; }
  void add(const void* data, std::size_t size);
  void add(std::int64_t number) { add(&number, sizeof number); }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    add(text.data(), text.size());
  }
  std::uint64_t value() const { return value_; }

 private:
  Purpose purpose_;
  std::uint64_t value_ = 0xcbf29ce484222325u;  // FNV-1a
};

// Elements by index.
template <class Element>
struct Access : Describes {
  virtual std::int64_t size() const = 0;
  virtual Element at(std::int64_t i) const = 0;
  // How many threads of their own its stages ask for: 0 for none, below 0 for as many as it takes.
  virtual int threads() const { return 0; }
  // The name of these threads in profiles.
  virtual std::string name() const { return "data"; }
  // Can rows of arrays be brought together without making elements of them? Then gather does, leaf by leaf.
  virtual bool gathers() const { return false; }
  virtual std::vector<ArrayBase> gather(std::span<const std::int64_t>) const { return {}; }
};

template <class Element>
struct Cursor {
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;

  virtual std::optional<Element> next() = 0;
  // Passes over up to n elements as cheaply as can be; how many there were.
  virtual std::int64_t skip(std::int64_t n) {
    std::int64_t done = 0;
    while (done < n && next()) ++done;
    return done;
  }
  // Of the element that came last.
  virtual Origin origin() const { return {}; }
};

template <class Element>
struct Stage {
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  virtual void describe(Fingerprint& print) const = 0;
  // Elements of an epoch, below 0 where nobody knows before the end, or there is none.
  virtual std::int64_t size() const = 0;
  virtual bool indexable() const { return false; }
  virtual std::shared_ptr<const Access<Element>> access(const Context&) const { return nullptr; }
  virtual std::unique_ptr<Cursor<Element>> open(const Context& context) const = 0;
};

template <class Element>
using StageRef = std::shared_ptr<const Stage<Element>>;

// As many threads as two stages in one chain need.
inline int most_threads(int a, int b) { return a < 0 || b < 0 ? -1 : a < b ? b : a; }

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/data/stage-inl.hpp"
#endif
